package builtin

import (
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// awaitFile waits for a file that holds something. It polls, since its writer
// sends no signal. Ten minutes mean that it never comes, not that it comes
// late.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return
		}
	}
	t.Fatalf("%s did not come", path)
}

// awaitGone waits until no process has a number. It polls, since the kernel
// sends no signal.
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
