package runcmd

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/lander"
)

// TestMergeLate: a check that hangs on a patch ends by the time on the branch itself, which
// is found out once the check is overdue. With a slot alone the check begins again then.
func TestMergeLate(t *testing.T) {
	t.Parallel()
	for _, slots := range []int{0, 1} {
		s := newStage(t, "a", "1\n")
		s.patch("a1", string(s.base), "hang", "1\n")
		report, err := s.session.Lander().Merge(t.Context(), lander.MergeRequest{
			Verify: "if test -e hang; then sleep 1000; fi",
			Queue:  lander.QueueOptions{On: true, Slots: slots, Order: lander.OrderFewest, Least: time.Nanosecond},
		})
		s.ok(err)
		if got := report.Queue.Refused; len(got) != 1 || len(got[0].Outputs) != 3 || got[0].Kind != "failed" {
			t.Errorf("%d slots: refused %+v", slots, got)
		}
		said := s.place.Env.Stderr.(*bytes.Buffer).String()
		for _, want := range []string{"check of 1 patch on main: a1: running since ", "check of main itself: passed", "a1: failed: it reached its time limit"} {
			if !strings.Contains(said, want) {
				t.Errorf("%d slots: it said %q, want %q", slots, said, want)
			}
		}
	}
}

// TestMergeSetup: a setup that hangs or fails gives no verdict, and its output is bounded.
func TestMergeSetup(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		setup string
		bound time.Duration
		want  string
	}{
		{"sleep 1000", time.Nanosecond, "setup had not ended after 1ns"},
		{"yes | head -c 2000000; exit 3", 0, "setup: exit status 3: "},
	} {
		s := newGroundStage(t)
		s.write("a", "1\n")
		s.git("add", "-A")
		s.git("commit", "-q", "-m", "first")
		s.open(s.git("rev-parse", "HEAD"), engine.Config{Setup: tt.setup})
		s.patch("a1", string(s.base), "b", "1\n")
		_, err := s.session.Lander().Merge(t.Context(), lander.MergeRequest{
			Verify: "true", Queue: lander.QueueOptions{On: true, Slots: 1, Order: lander.OrderFewest, Setup: tt.bound},
		})
		if none := (*landing.NoVerdictError)(nil); !errors.As(err, &none) || none.Reason != tt.want {
			t.Errorf("%s: merge = %v, want no verdict: %s", tt.setup, err, tt.want)
		}
		files, err := filepath.Glob(filepath.Join(lander.VerificationsOf(s.session.Run), "*", "setup.out"))
		s.ok(err)
		for _, file := range files {
			if info, err := os.Stat(file); err != nil || info.Size() > 1<<20 {
				t.Errorf("%s: the output has %d bytes, %v, want less than a MiB", tt.setup, info.Size(), err)
			}
		}
		if tt.bound == 0 && len(files) != 1 {
			t.Errorf("%s: %d outputs, want 1", tt.setup, len(files))
		}
	}
}
