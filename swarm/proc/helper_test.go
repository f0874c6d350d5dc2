package proc

import (
	"io"
	"runtime"
	"testing"
)

func startSh(t *testing.T, script string, memory int64) *Helper {
	t.Helper()
	h, err := StartHelper(HelperRequest{Binary: "/bin/sh", Args: []string{"-c", script}, Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHelperAnswers(t *testing.T) {
	t.Parallel()
	h := startSh(t, `read line; echo "got $line"; env | sort | head -3; cat`, 0)
	if _, err := io.WriteString(h, "this\n"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len("got this\n"))
	if _, err := io.ReadFull(h, got); err != nil || string(got) != "got this\n" {
		t.Errorf("it says %q, %v", got, err)
	}
	pid := h.cmd.Process.Pid
	row, _ := look(pid)
	for range 2 { // Close may be called twice
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
	dead(t, pid, row.start)
	if h.OutOfMemory() {
		t.Error("it is said to have held too much")
	}
}

// TestHelperDeaf: a helper that does not end with its stdin is killed.
func TestHelperDeaf(t *testing.T) {
	t.Parallel()
	h := startSh(t, `trap "" TERM; echo here; exec sleep 1000`, 0)
	if _, err := io.ReadFull(h, make([]byte, len("here\n"))); err != nil {
		t.Fatal(err)
	}
	pid := h.cmd.Process.Pid
	row, _ := look(pid)
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	dead(t, pid, row.start)
}

// TestHelperThatHoldsTooMuch: a helper above its memory limit is killed, on
// systems that report the memory of a process.
func TestHelperThatHoldsTooMuch(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the memory of others is not known here")
	}
	// The helper holds the memory until it is killed: a program that it
	// executes would hold less.
	h := startSh(t, `x=$(head -c 200000000 /dev/zero | tr "\0" a); read line; echo "$x"`, 50<<20)
	<-h.Gone()
	if !h.OutOfMemory() {
		t.Error("it is not said to have held too much")
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}
