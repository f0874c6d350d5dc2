package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/swarm/task"
)

// TestDiskFilledByOne has one of three agents fill the disk. Swarm stops it,
// and the others complete.
func TestDiskFilledByOne(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	y.mountState("size=400m")
	y.write("flood.sh", `case $SWARM_ITEM in
pkg/p1) while head -c 4000000 /dev/urandom >> "flood.$((i = i + 1))"; do :; done; sleep 1000;;
*) until test -e `+y.path("over")+`; do sleep 0.1; done; echo done > $SWARM_ITEM/new.txt;;
esac
`)
	done := make(chan said)
	go func() {
		done <- y.swarm(nil, "run", "-j", "3", "--max-file", "1MB", "--each", "pkg/p[0-2]/", "--", "sh", filepath.Join(y.dir, "flood.sh"))
	}()
	y.await("the stop of a2", func() bool {
		for _, run := range y.runs() {
			if v, err := run.View(); err == nil && v.Agent("a2") != nil && v.Agent("a2").Result() != nil {
				return true
			}
		}
		return false
	})
	y.must(os.WriteFile(y.path("over"), nil, 0o600))
	s := <-done
	if s.code != 3 {
		t.Errorf("it ended with %d: %s", s.code, s.stderr)
	}
	v := y.view()
	stopped, ok := v.Agent("a2").Status.(*task.Cancelled)
	if !ok || stopped.Cause != task.CauseStopped || !strings.HasPrefix(stopped.Reason, "wrote ") || !strings.Contains(stopped.Reason, " left on the disk") {
		t.Errorf("a2 is %+v", v.Agent("a2").Status)
	}
	for _, id := range []task.ID{"a1", "a3"} {
		if r, ok := v.Agent(id).Status.(*task.Completed); !ok || r.Patch == nil {
			t.Errorf("%s is %+v, want it completed with a patch", id, v.Agent(id).Status)
		}
	}
	y.noProcesses()
}
