package pager

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestCommand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ git, core, pager, want string }{
		{"", "", "", "less"},
		{"", "", "more", "more"},
		{"", "delta --dark", "more", "delta --dark"},
		{"most", "delta", "more", "most"},
		{"cat", "delta", "more", ""},
		{"", "cat", "", ""},
		{"  ", " ", "more", "more"},
	} {
		c := Choice{Core: tt.core, Getenv: func(name string) string {
			return map[string]string{"GIT_PAGER": tt.git, "PAGER": tt.pager}[name]
		}}
		if got := c.Command(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt, got, tt.want)
		}
	}
}

func request(t *testing.T, command string) (Request, *bytes.Buffer) {
	t.Helper()
	out := &bytes.Buffer{}
	return Request{Command: command, Environ: os.Environ(), Dir: t.TempDir(), Stdout: out, Stderr: out}, out
}

func TestPagerShowsAll(t *testing.T) {
	t.Parallel()
	r, out := request(t, "tr a-z A-Z")
	p, err := Start(r)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("some text\n", 20_000)
	if n, err := p.Write([]byte(text)); n != len(text) || err != nil {
		t.Errorf("Write = %d, %v", n, err)
	}
	if err := errors.Join(p.Close(), p.Close()); err != nil {
		t.Error(err)
	}
	if out.String() != strings.ToUpper(text) {
		t.Errorf("it shows %d bytes, want %d", out.Len(), len(text))
	}
}

// TestPagerQuits holds that a user may leave before the end.
func TestPagerQuits(t *testing.T) {
	t.Parallel()
	r, _ := request(t, "true")
	p, err := Start(r)
	if err != nil {
		t.Fatal(err)
	}
	<-p.done
	// A program that another test is starting may hold the pipe for a moment.
	for err == nil {
		_, err = p.Write([]byte("more"))
	}
	if !errors.Is(err, ErrQuit) {
		t.Errorf("Write = %v, want ErrQuit", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestPagerMissing(t *testing.T) {
	t.Parallel()
	r, _ := request(t, "no-such-pager-anywhere")
	p, err := Start(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "no-such-pager-anywhere") {
		t.Errorf("Close = %v, want an error that names it", err)
	}
}

func TestEnviron(t *testing.T) {
	t.Parallel()
	got := environ([]string{"LESS=R", "X=1"})
	if want := []string{"LESS=R", "X=1", "LV=-c"}; !slices.Equal(got, want) {
		t.Errorf("environ = %q, want %q", got, want)
	}
}
