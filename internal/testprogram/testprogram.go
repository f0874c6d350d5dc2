// Package testprogram writes the programs that tests run.
package testprogram

import (
	"os"
	"syscall"
	"testing"
)

// Write makes file a program with this text, which can be run at once: no
// process is forked while the file is open, as that would hold it open for
// writing until its exec, and the kernel runs no such file (ETXTBSY).
func Write(t testing.TB, file, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil { // it is to run
		t.Fatal(err)
	}
}
