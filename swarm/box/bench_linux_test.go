package box

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkEnter is the time from a supervisor's start to its end.
func BenchmarkEnter(b *testing.B) {
	if err := try(Full, new(facts)); err != nil {
		b.Skip(err)
	}
	dir := b.TempDir()
	for _, name := range []string{"home/.ssh", "home/.aws", "home/.gnupg", "state/private"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			b.Fatal(err)
		}
	}
	p := Place{
		State: dir + "/state", Home: dir + "/home", Private: dir + "/state/private", Getenv: func(string) string { return "" },
		Programs: []string{"/usr/bin", "/bin"},
	}
	b.Run("compose", func(b *testing.B) {
		for b.Loop() {
			if _, err := Compose(Full, false, p); err != nil {
				b.Fatal(err)
			}
		}
	})
	w, err := Compose(Full, false, p)
	if err != nil {
		b.Fatal(err)
	}
	for name, sandbox := range map[string]Sandbox{"nothing": {}, "walls": w} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := inside(job{Walls: sandbox, Argv: []string{"/bin/true"}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
