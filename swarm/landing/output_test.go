package landing

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBoundOutput: head and tail of a long output are kept as whole lines, and the
// line between them counts all bytes that are gone.
func TestBoundOutput(t *testing.T) {
	t.Parallel()
	const most = outputHead + outputTail
	lines := strings.Repeat("a line of an output\n", 1+most/10)
	for _, tt := range []struct {
		name, text string
		cut        bool
	}{
		{"empty", "", false},
		{"short", "ok\n", false},
		{"as long as it may be", strings.Repeat("x", most), false},
		{"lines", "first\n" + lines + "last\n", true},
		{"no line at all", strings.Repeat("x", 2*most), true},
		{"only the end is a line", strings.Repeat("x", 2*most) + "\n", true},
		{"a line at the start", "first\n" + strings.Repeat("x", 2*most), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "verify.out")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := BoundOutput(file); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !tt.cut {
				if string(got) != tt.text {
					t.Errorf("%d bytes are left of %d", len(got), len(tt.text))
				}
				return
			}
			head, rest, ok := bytes.Cut(got, []byte("[swarm left out "))
			var left int
			if _, err := fmt.Sscanf(string(rest), "%d bytes]", &left); !ok || err != nil {
				t.Fatalf("no line says how much is left out: %v", err)
			}
			_, tail, _ := bytes.Cut(rest, []byte("\n"))
			if !strings.HasPrefix(tt.text, string(bytes.TrimSuffix(head, []byte("\n")))) || !strings.HasSuffix(tt.text, string(tail)) {
				t.Error("head and tail are not those of the output")
			}
			kept := len(head) + len(tail)
			if !strings.HasPrefix(tt.text, string(head)) {
				kept-- // the line break before the line of swarm
			}
			if kept+left != len(tt.text) || len(got) > most+100 {
				t.Errorf("%d bytes kept, %d left out, of %d", kept, left, len(tt.text))
			}
			if err := BoundOutput(file); err != nil {
				t.Fatal(err)
			}
			if again, err := os.ReadFile(file); err != nil || !bytes.Equal(again, got) {
				t.Errorf("bounded again it differs: %v", err)
			}
		})
	}
	dir := t.TempDir()
	if err := BoundOutput(filepath.Join(dir, "none")); err != nil {
		t.Errorf("a check without output: %v", err)
	}
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := BoundOutput(link); err != nil {
		t.Errorf("a link: %v", err)
	}
	if at, err := os.Lstat(target); err != nil || at.Size() != int64(len(lines)) {
		t.Errorf("the target of a link was cut: %v", err)
	}
}
