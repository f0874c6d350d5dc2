package proc

import (
	"bufio"
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestMemory measures a shell below this process that holds many megabytes in a
// variable.
func TestMemory(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "sh", "-c",
		`sh -c 'x=$(head -c 33554432 /dev/zero | tr "\0" x); echo there; read line; echo ${#x}'; :`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "there\n" {
		t.Fatalf("the shell said %q, %v", line, err)
	}
	held := Memory(cmd.Process.Pid)
	if held < 32<<20 {
		t.Errorf("below the shell %d bytes are held, want at least 32 MiB", held)
	}
	// The kernel may leave a child out of a long list while others come and go.
	for limit := time.Now().Add(patient); ; {
		all := Memory(os.Getpid())
		if all >= held {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("below this process %d bytes are held, and %d of them below the shell", all, held)
		}
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it may be ended by the test's own end
	if left := Memory(cmd.Process.Pid); left != 0 {
		t.Errorf("below a process that is gone %d bytes are held", left)
	}
}
