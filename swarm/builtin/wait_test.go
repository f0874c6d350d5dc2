package builtin

import (
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// awaitFile waits for a file that holds something. It is a poll: who writes it
// tells nobody. Ten minutes say that it never comes, not that it comes late.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return
		}
	}
	t.Fatalf("%s did not come", path)
}

// awaitGone waits until no process has a number: the kernel tells nobody.
func awaitGone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if syscall.Kill(n, 0) == syscall.ESRCH {
			return
		}
	}
	t.Fatalf("%d is still there", n)
}
