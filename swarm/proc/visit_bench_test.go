package proc

import (
	"os"
	"os/exec"
	"testing"
)

// BenchmarkVisit runs a command beside an agent, and just so.
func BenchmarkVisit(b *testing.B) {
	for _, m := range allModes() {
		b.Run(m.name, func(b *testing.B) {
			dir := b.TempDir()
			if err := os.Chmod(dir, 0o700); err != nil {
				b.Fatal(err)
			}
			p, err := m.launcher().Start(b.Context(), Spec{
				Argv: []string{"/bin/cat"}, Dir: dir, Pipe: true, Sandbox: []byte(`{"Proc":true}`),
				Stdout: dir + "/out", Stderr: dir + "/err", Door: dir + "/door",
			})
			if err != nil {
				b.Skip(err)
			}
			defer func() { p.Kill(); p.Wait() }()
			for b.Loop() {
				exit, err := Visit(b.Context(), VisitRequest{Door: dir + "/door", Dir: "/", Argv: []string{"/bin/true"}})
				if err != nil || exit.Code != 0 {
					b.Fatal(exit, err)
				}
			}
		})
	}
	b.Run("fork", func(b *testing.B) { // the same command without a visit
		for b.Loop() {
			if err := exec.Command("/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
