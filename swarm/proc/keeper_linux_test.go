package proc

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestKeeperStaysDeaf: a signal that is meant for swarm does not end it.
func TestKeeperStaysDeaf(t *testing.T) {
	t.Parallel()
	k := testKeeper()
	defer k.Close()
	pid, err := k.Group()
	if err != nil {
		t.Fatal(err)
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		// It may not have come to its first line yet.
		for limit := time.Now().Add(patient); !ignores(t, pid, sig); {
			if time.Now().After(limit) {
				t.Fatalf("it does not ignore %v", sig)
			}
			time.Sleep(time.Millisecond) // There is nothing to wait on.
		}
	}
}

// ignores tells whether a process ignores a signal.
func ignores(t *testing.T, pid int, sig syscall.Signal) bool {
	t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "\nSigIgn:\t")
	word, _, _ := strings.Cut(rest, "\n")
	mask, err := strconv.ParseUint(word, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return mask>>(sig-1)&1 == 1
}
