package git

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"agentswarm/internal/testing/campaign"
)

// scene lets a user and swarm change one repository in turns.
type scene struct {
	*hiding
	rand     *rand.Rand
	n        int             // counts texts, captures and branches
	captures map[string][]at // of runs that are kept, by run
	runs     []string
	gone     []Hash // captures of runs that are gone and that never landed
}

// at is a capture.
type at struct {
	n            int
	commit, base Hash
}

func (s *scene) head() Hash { s.Helper(); return Hash(s.git("rev-parse", "HEAD")) }

// text is content that no commit has.
func (s *scene) text() string { s.n++; return fmt.Sprintf("text %d\n", s.n) }

// user does something to the branch or to the objects.
func (s *scene) user() {
	s.Helper()
	switch s.rand.IntN(12) {
	case 0, 1:
		s.commit(fmt.Sprintf("f%d", s.rand.IntN(4)), s.text())
	case 2:
		s.git("commit", "-q", "--amend", "--allow-empty", "-m", s.text())
	case 3: // a rebase that leaves a commit out
		s.n++
		s.commit(fmt.Sprint("u", s.n), s.text())
		s.commit("h", s.text())
		s.git("rebase", "-q", "--onto", "HEAD~2", "HEAD~1")
	case 4: // a branch that is deleted with its commits
		s.n++
		was := s.git("symbolic-ref", "--short", "HEAD")
		s.git("checkout", "-q", "-b", fmt.Sprint("b", s.n))
		s.git("branch", "-q", "-D", was)
		s.git("reset", "-q", "--hard", "HEAD~1")
		s.commit("other", s.text())
	case 5:
		s.git("update-ref", "refs/remotes/origin/main", "HEAD")
	case 6:
		s.git("update-ref", "-d", "refs/remotes/origin/main")
	case 7:
		s.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
	case 8:
		s.git("gc", "-q", "--prune=now")
	case 9:
		s.git("repack", "-q", "-a", "-d")
		s.git("prune", "--expire=now")
	case 10:
		s.git("repack", "-q", "-A", "-d", "--unpack-unreachable=now")
		s.git("worktree", "prune", "--expire=now")
	case 11: // the history is written anew, without its root
		s.git("checkout", "-q", "--orphan", fmt.Sprint("o", s.n))
		s.n++
		s.git("commit", "-q", "--allow-empty", "-m", "root")
		s.commit("g", s.text())
		s.commit("g", s.text())
	}
}

// swarm does something for a run.
func (s *scene) swarm() {
	s.Helper()
	if s.rand.IntN(4) == 0 {
		s.again()
	}
	if len(s.runs) == 0 || s.rand.IntN(4) == 0 {
		s.n++
		run := fmt.Sprintf("run%03d", s.n)
		s.runs = append(s.runs, run)
		s.pin(run, s.head())
		s.take(run, s.head())
		return
	}
	run := s.runs[s.rand.IntN(len(s.runs))]
	all := s.captures[run]
	c := &all[s.rand.IntN(len(all))]
	switch s.rand.IntN(5) {
	case 0: // an agent upon the work of another
		s.take(run, c.commit)
	case 1: // a retry at the tip
		s.take(run, s.head())
	case 2: // a run upon a capture of another run
		s.n++
		next := fmt.Sprintf("run%03d", s.n)
		s.runs = append(s.runs, next)
		s.pin(next, c.commit)
		s.take(next, c.commit)
	case 3:
		s.land(run, c)
	case 4:
		if len(s.runs) > 3 {
			s.remove(run)
		}
	}
}

func (s *scene) take(run string, base Hash) {
	s.Helper()
	s.n++
	landed := s.repo.Landed()
	c := at{n: s.n, base: base, commit: s.capture(run, s.n, base, landed)}
	s.ok(landed.Gather())
	s.captures[run] = append(s.captures[run], c)
}

// land puts the change of a capture on the branch, and takes it back now and then.
func (s *scene) land(run string, c *at) {
	s.Helper()
	tip := s.head()
	q, err := s.frozen.Quarantine(s.TempDir())
	s.ok(err)
	landed := s.newCommit(q, tip, "landed", s.text())
	s.n++
	ref := fmt.Sprintf("%s%s/landed/%d", OwnRefs, run, s.n)
	s.ok(q.Publish(s.Context(), PublishRequest{Refs: []RefUpdate{{Ref: ref, New: landed}}, Have: []Hash{tip, c.base}, Message: "m"}), q.Discard())
	s.git("reset", "-q", "--hard", string(landed))
	if s.rand.IntN(2) == 0 {
		s.git("reset", "-q", "--hard", string(tip))
	}
}

func (s *scene) remove(run string) {
	s.Helper()
	now := time.Now()
	if s.rand.IntN(2) == 0 {
		now = now.Add(2 * keepAge)
	}
	s.drop(now, run)
	s.runs = slices.DeleteFunc(s.runs, func(r string) bool { return r == run })
	for _, c := range s.captures[run] {
		s.gone = append(s.gone, c.commit)
	}
	delete(s.captures, run)
}

// whole sees that all that is kept can be read and merged. The last time it sees that
// nothing of it shows.
func (s *scene) whole(last bool) {
	s.Helper()
	var ours []Hash
	for run, all := range s.captures {
		for _, c := range all {
			s.shown(run, c.n, c.commit)
			s.git("merge-tree", string(c.base), "HEAD", string(c.commit))
			ours = append(ours, c.commit)
		}
	}
	if last {
		s.invisible(ours...)
	}
	s.git("fsck", "--strict", "--no-dangling")
}

// TestRandomCommandsKeepCaptures holds that captures survive commands of the user in any
// order, do not show, and go with their runs.
func TestRandomCommandsKeepCaptures(t *testing.T) {
	t.Parallel()
	first := campaign.Seed(t) - 1
	for i := range campaign.Rounds(t, 2, 30) {
		seed := first + uint64(i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := &scene{hiding: newHiding(t), rand: rand.New(rand.NewPCG(seed, 9)), captures: map[string][]at{}}
			s.git("config", "user.useConfigOnly", "true")
			for range 3 {
				s.commit("a", s.text())
			}
			const rounds = 7
			for i := range rounds {
				s.swarm()
				s.swarm()
				for range 3 {
					s.user()
				}
				s.whole(i == rounds-1)
			}
			for _, run := range slices.Clone(s.runs) {
				s.remove(run)
			}
			s.again()
			s.git("checkout", "-q", "--orphan", "end")
			s.git("commit", "-q", "--allow-empty", "-m", "end")
			for _, branch := range []string{"refs/heads", "refs/remotes"} {
				for _, ref := range strings.Fields(s.git("for-each-ref", "--format=%(refname)", branch)) {
					if ref != "refs/heads/end" {
						s.git("update-ref", "-d", ref)
					}
				}
			}
			s.drop(time.Now().Add(2 * keepAge))
			s.nothingLeft(s.gone...)
		})
	}
}
