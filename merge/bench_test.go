package merge

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"agentswarm/worktree/git"
)

// The made repository of the benchmarks: packages of folders of files, as
// monorepos are laid out. Each patch is within a package of its own.
const (
	benchPackages = 200
	benchFolders  = 10
	benchFiles    = 10 // in each folder: 20,000 in all
	benchPatches  = 100
	// benchMails is how many of the patches `git am` is given. It takes so
	// long for each that all of them would be most of the run.
	benchMails = 10
)

// benchFixture is the repository of the benchmarks and the patches for it.
type benchFixture struct {
	*fixture
	req   Request
	trash int // quarantines that were made
}

// newBenchFixture makes the repository. Each patch enters it in a pack of its own,
// as captures do.
func newBenchFixture(b *testing.B) *benchFixture {
	b.Helper()
	y := &benchFixture{fixture: newFixture(b)}
	base := tree{}
	for p := range benchPackages {
		for d := range benchFolders {
			for i := range benchFiles {
				base[fmt.Sprintf("packages/p%03d/src/d%d/f%d", p, d, i)] = text(fmt.Sprintf("%d/%d/%d", p, d, i))
			}
		}
	}
	var stream bytes.Buffer
	writeCommit(&stream, 1, 0, base)
	stream.WriteString("get-mark :1\n")
	onto := git.Hash(y.gitIn(y.dir, stream.Bytes(), "fast-import", "--quiet", "--force", "--cat-blob-fd=1"))
	y.req = Request{Onto: onto, Committer: committer}
	y.reset()
	for i := range benchPatches {
		y.req.Patches = append(y.req.Patches, Patch{
			ID: fmt.Sprint(i), Base: onto, Commit: y.publishPatch(i), Author: author,
		})
	}
	return y
}

// publishPatch changes two files of a package and adds a file.
func (y *benchFixture) publishPatch(i int) git.Hash {
	y.Helper()
	var stream bytes.Buffer
	fmt.Fprintf(&stream, "commit refs/heads/p%d\nmark :1\ncommitter A <a@b> 1700000000 +0000\ndata 6\npatch\n\nfrom %s\n", i, y.req.Onto)
	for _, name := range []string{"d3/f1", "d7/f5", "d7/new"} {
		content := text(fmt.Sprintf("%d/%s", i, name)).text + "changed\n"
		fmt.Fprintf(&stream, "M 100644 inline packages/p%03d/src/%s\ndata %d\n%s\n", i, name, len(content), content)
	}
	stream.WriteString("get-mark :1\n")
	return git.Hash(y.gitIn(y.dir, stream.Bytes(),
		"-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--cat-blob-fd=1"))
}

// quarantine makes a new quarantine: an old quarantine has all objects already.
func (y *benchFixture) quarantine() *git.Quarantine {
	y.Helper()
	y.trash++
	q, err := y.repo.Quarantine(filepath.Join(y.home, fmt.Sprint("objects", y.trash)))
	y.must(err)
	return q
}

// merged merges the patches into a new quarantine.
func (y *benchFixture) merged(by way) (*git.Quarantine, *Outcome) {
	y.Helper()
	q := y.quarantine()
	out, err := merge(y.Context(), q, y.req, by)
	if err != nil || len(out.Landed) != len(y.req.Patches) {
		y.Fatalf("merge = %+v, %v", out, err)
	}
	return q, out
}

// BenchmarkMerge merges 100 disjoint patches onto 20,000 files. It compares
// this with git's ways: `git am -3`, and a loop of `git merge-tree
// --write-tree` and `git commit-tree`, both without other work. Only a part of
// the first is run, and its time taken times ten.
//
// The ways take turns, so that other load on the machine slows all of them
// alike. The medians are compared, of the time and of the processors' time.
func BenchmarkMerge(b *testing.B) {
	y := newBenchFixture(b)
	mails := y.mails()
	b.Run("compared", func(b *testing.B) {
		var spliced, asked, loop, am costs
		for b.Loop() {
			spliced.add(1, func() { y.merged(quick) })
			asked.add(1, func() { y.merged(asking) })
			loop.add(1, y.mergeTreeLoop)
			am.add(benchPatches/benchMails, func() { y.gitIn(y.dir, mails, "am", "-3", "-q") })
			y.reset()
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(spliced.median().wall.Seconds()*1e3, "spliced-ms")
		b.ReportMetric(asked.median().wall.Seconds()*1e3, "one-merge-tree-ms")
		b.ReportMetric(loop.median().wall.Seconds()*1e3, "loop-ms")
		b.ReportMetric(am.median().wall.Seconds()*1e3, "am-scaled-ms")
		b.ReportMetric(loop.median().over(spliced.median()), "x-loop")
		b.ReportMetric(am.median().over(spliced.median()), "x-am")
		b.ReportMetric(spliced.median().cpu.Seconds()*1e3, "spliced-cpu-ms")
		b.ReportMetric(loop.median().cpu.Seconds()/spliced.median().cpu.Seconds(), "x-loop-cpu")
		b.ReportMetric(am.median().cpu.Seconds()/spliced.median().cpu.Seconds(), "x-am-cpu")
	})
	b.Run("spliced", func(b *testing.B) {
		y.measure(b, nil, func() { y.merged(quick) })
	})
	y.steps(b)
}

// cost is the time of an action, in this process and in its child processes.
type cost struct{ wall, cpu time.Duration }

func (c cost) over(o cost) float64 { return float64(c.wall) / float64(o.wall) }

// costs are those of the same thing done over and over.
type costs []cost

// add does f and counts it so many times.
func (c *costs) add(times int, f func()) {
	start, before := time.Now(), cpuTime()
	f()
	n := time.Duration(times)
	*c = append(*c, cost{wall: time.Since(start) * n, cpu: (cpuTime() - before) * n})
}

func (c costs) median() cost {
	walls, cpus := make([]time.Duration, 0, len(c)), make([]time.Duration, 0, len(c))
	for _, one := range c {
		walls, cpus = append(walls, one.wall), append(cpus, one.cpu)
	}
	slices.Sort(walls)
	slices.Sort(cpus)
	return cost{wall: walls[len(c)/2], cpu: cpus[len(c)/2]}
}

// cpuTime is the processor time of this process and its children.
func cpuTime() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if syscall.Getrusage(who, &used) == nil {
			sum += time.Duration(used.Utime.Nano() + used.Stime.Nano())
		}
	}
	return sum
}

// reset takes the branch and the checkout back to where all began.
func (y *benchFixture) reset() {
	y.Helper()
	y.git("reset", "-q", "--hard", string(y.req.Onto))
}

// measure times f over and over and reports the median: on a machine that
// does other things too, the mean is theirs. before runs untimed, each time;
// it may be nil.
func (y *benchFixture) measure(b *testing.B, before, f func()) time.Duration {
	var took []time.Duration
	for b.Loop() {
		if before != nil {
			b.StopTimer()
			before()
			b.StartTimer()
		}
		start := time.Now()
		f()
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	median := took[len(took)/2]
	b.ReportMetric(float64(median)/1e6, "ms")
	b.ReportMetric(0, "ns/op")
	return median
}

// mails are the first patches as `git am` takes them.
func (y *benchFixture) mails() []byte {
	y.Helper()
	var mails bytes.Buffer
	for _, p := range y.req.Patches[:benchMails] {
		mails.WriteString(y.git("format-patch", "--stdout", "-1", string(p.Commit)) + "\n")
	}
	return mails.Bytes()
}

// mergeTreeLoop merges as a script would: two processes a patch.
func (y *benchFixture) mergeTreeLoop() {
	y.Helper()
	at := string(y.req.Onto)
	for _, p := range y.req.Patches {
		tree := y.git("merge-tree", "--write-tree", at, string(p.Commit))
		at = y.git("commit-tree", "-p", at, "-m", "patch", tree)
	}
}

// steps measures the steps around a merge, which run once for all patches.
func (y *benchFixture) steps(b *testing.B) {
	ctx := b.Context()
	b.Run("step-quarantine", func(b *testing.B) {
		y.measure(b, nil, func() { y.must(y.quarantine().Discard()) })
	})
	b.Run("step-open-and-read-base", func(b *testing.B) {
		q := y.quarantine()
		y.measure(b, nil, func() {
			objects := q.Objects()
			tree, _, err := objects.Commit(ctx, y.req.Onto)
			y.must(err)
			_, err = objects.Tree(ctx, tree)
			y.must(errors.Join(err, objects.Close()))
		})
	})
	var q *git.Quarantine
	var out *Outcome
	again := func() {
		// Another time gives other commits, so that the published commits are
		// new.
		y.req.Committer.When = y.req.Committer.When.Add(time.Second)
		q, out = y.merged(quick)
		y.reset()
	}
	b.Run("step-publish", func(b *testing.B) {
		y.measure(b, again, func() {
			y.must(q.Publish(ctx, git.PublishRequest{
				Refs: []git.RefUpdate{{Ref: "refs/swarm/bench", New: out.Commit, Any: true}},
				Have: []git.Hash{y.req.Onto}, Message: "bench",
			}))
		})
	})
	b.Run("step-move-ref", func(b *testing.B) {
		at := out.Commit
		y.measure(b, nil, func() {
			y.must(y.repo.UpdateRefs(ctx, "bench", git.RefUpdate{Ref: "refs/swarm/moved", New: at, Any: true}))
		})
	})
	b.Run("step-land", func(b *testing.B) {
		y.measure(b, again, func() {
			_, err := Land(ctx, LandRequest{
				Quarantine: q, Ref: "refs/heads/main", Old: y.req.Onto, New: out.Commit,
				Keep: "refs/swarm/landed/" + string(out.Commit), Have: []git.Hash{y.req.Onto},
				Record: y.record("1"), Journal: func(Intent) error { return nil },
			})
			y.must(err)
		})
	})
}
