package terminal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// environOf makes a Getenv from NAME=value words.
func environOf(vars ...string) func(string) string {
	return func(name string) string {
		for _, v := range vars {
			if n, value, _ := strings.Cut(v, "="); n == name {
				return value
			}
		}
		return ""
	}
}

func TestDetectFile(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	tests := []struct {
		vars  []string
		color bool
		width int
	}{
		{[]string{"TERM=xterm"}, false, 0},
		{[]string{"CLICOLOR_FORCE=1"}, true, 0},
		{[]string{"CLICOLOR_FORCE=0"}, false, 0},
		{[]string{"CLICOLOR_FORCE=1", "NO_COLOR=1"}, false, 0},
		{[]string{"COLUMNS=33"}, false, 33},
		{[]string{"COLUMNS=-1"}, false, 0},
		{[]string{"COLUMNS=wide"}, false, 0},
	}
	for _, tt := range tests {
		got := Detect(struct{ *os.File }{file}, environOf(tt.vars...))
		if width, _ := got.Size(); got.TTY || got.Motion || got.Color != tt.color || width != tt.width {
			t.Errorf("detect(%q) = %+v, width %d, want no terminal, color %v, width %d",
				tt.vars, got, width, tt.color, tt.width)
		}
	}
	if got := Detect(&strings.Builder{}, environOf("TERM=xterm")); got.TTY || got.Color || got.Motion {
		t.Errorf("detect(no file) = %+v, want nothing", got)
	}
	if w, h := (Output{}).Size(); w != 0 || h != 0 {
		t.Errorf("zero Terminal: %dx%d, want no limit", w, h)
	}
}

func TestAbilities(t *testing.T) {
	t.Parallel()
	tests := []struct {
		vars          []string
		color, motion bool
	}{
		{[]string{"TERM=xterm"}, true, true},
		{[]string{"TERM=dumb"}, false, false},
		{nil, false, false},
		{[]string{"TERM=xterm", "NO_COLOR=1"}, false, true},
		{[]string{"TERM=xterm", "CI=true"}, true, false},
		{[]string{"TERM=xterm", "CI=false"}, true, true},
		{[]string{"TERM=dumb", "CLICOLOR_FORCE=1"}, true, false},
	}
	for _, tt := range tests {
		got := Output{TTY: true}.WithEnv(environOf(tt.vars...))
		if got.Color != tt.color || got.Motion != tt.motion {
			t.Errorf("able(%q) = %+v, want color %v, motion %v", tt.vars, got, tt.color, tt.motion)
		}
	}
}

func TestPaint(t *testing.T) {
	t.Parallel()
	color := Output{Color: true}
	if got := color.Paint(StyleError, "no"); got != "\x1b[1;31mno\x1b[0m" {
		t.Errorf("paint = %q", got)
	}
	for _, got := range []string{
		color.Paint(StylePlain, "no"), Output{}.Paint(StyleError, "no"),
	} {
		if got != "no" {
			t.Errorf("paint = %q, want it plain", got)
		}
	}
	for s := StylePlain; s <= StyleQuiet; s++ {
		if got := color.Paint(s, ""); got != "" {
			t.Errorf("paint(%d, nothing) = %q", s, got)
		}
	}
}
