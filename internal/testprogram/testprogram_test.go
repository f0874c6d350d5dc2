package testprogram

import (
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// TestWrite checks that a written program runs, whatever processes others start
// meanwhile.
func TestWrite(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	var others sync.WaitGroup
	for range 4 {
		others.Go(func() {
			for range 200 {
				_ = exec.Command("true").Run()
			}
		})
	}
	go func() {
		others.Wait()
		close(done)
	}()
	for more := true; more; {
		select {
		case <-done:
			more = false
		default:
			file := filepath.Join(t.TempDir(), "program")
			Write(t, file, "#!/bin/sh\nexit 0\n")
			if err := exec.Command(file).Run(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
