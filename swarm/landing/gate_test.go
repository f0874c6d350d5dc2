package landing

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"agentswarm/merge"
	"agentswarm/swarm/landing/queue"
	"agentswarm/worktree/git"
)

// fixture is a repository with patches, made by real git.
type fixture struct {
	testing.TB
	dir     string
	base    git.Hash
	patches []merge.Patch
	paths   map[string][]string
	q       *git.Quarantine
}

// newFixture makes a repository whose base has some files.
func newFixture(t testing.TB, files map[string]string) *fixture {
	t.Helper()
	g := &fixture{TB: t, dir: t.TempDir(), paths: map[string][]string{}}
	g.git("init", "-q", "-b", "main")
	g.base = g.commit(files)
	repo, err := git.New(g.environ()).Discover(t.Context(), g.dir)
	if err != nil {
		t.Fatal(err)
	}
	frozen, err := repo.Freeze(t.Context(), filepath.Join(t.TempDir(), "frozen"))
	if err != nil {
		t.Fatal(err)
	}
	if g.q, err = frozen.Quarantine(filepath.Join(t.TempDir(), "objects")); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *fixture) environ() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.dir, "TMPDIR=" + g.dir}
}

func (g *fixture) git(args ...string) string {
	g.Helper()
	cmd := exec.CommandContext(g.Context(), "git", append([]string{"-c", "maintenance.auto=false"}, args...)...)
	cmd.Dir = g.dir
	cmd.Env = append(g.environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		g.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (g *fixture) commit(files map[string]string) git.Hash {
	g.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(g.dir, name), []byte(text), 0o600); err != nil {
			g.Fatal(err)
		}
	}
	g.git("add", "-A")
	g.git("commit", "-q", "-m", "work")
	return git.Hash(g.git("rev-parse", "HEAD"))
}

// patch adds a patch on the base.
func (g *fixture) patch(id string, files map[string]string) {
	g.Helper()
	g.git("checkout", "-q", "--detach", string(g.base))
	commit := g.commit(files)
	g.git("update-ref", "refs/patches/"+id, string(commit))
	person := git.Person{Name: "robot", Email: "robot@example.org"}
	g.patches = append(g.patches, merge.Patch{ID: id, Base: g.base, Commit: commit, Subject: id, Author: person})
	g.paths[id] = slices.Sorted(maps.Keys(files))
}

// checker is a check that fails for sets that hold a bad patch.
type checker struct {
	bad   []string
	known map[string][]Verdict // by names of the set
	trees map[git.Hash]string  // names of the sets, by tree

	mu   sync.Mutex // guards ran
	ran  []string
	told []string
	err  error
}

// gate makes a gate whose check is c.
func (g *fixture) gate(c *checker) *Gate {
	g.Helper()
	c.trees = map[git.Hash]string{}
	gate := NewGate(GateRequest{
		Quarantine: g.q, Onto: g.base, Patches: g.patches, Paths: g.paths,
		Committer: git.Person{Name: "Ada", Email: "ada@example.org"},
		Known: func(_ context.Context, candidate Candidate) ([]Verdict, error) {
			return c.known[c.trees[candidate.Tree]], nil
		},
		Check: func(_ context.Context, candidate Candidate) (Verdict, error) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.ran = append(c.ran, named(candidate.Set))
			bad := slices.ContainsFunc(candidate.Set, func(id string) bool { return slices.Contains(c.bad, id) })
			return Verdict{Passed: !bad, Output: fmt.Sprint("run ", len(c.ran))}, c.err
		},
		Report: func(v Verification) {
			c.told = append(c.told, fmt.Sprintf("%s %t %t", named(v.Set), v.Passed, v.Reused))
		},
	})
	for names := range c.known {
		out, err := gate.Merge(g.Context(), setOf(names))
		if err != nil {
			g.Fatal(err)
		}
		c.trees[out.Tree] = names
	}
	return gate
}

// named are the names of a set; "branch" for none.
func named(set []string) string {
	if len(set) == 0 {
		return "branch"
	}
	return strings.Join(set, "+")
}

func setOf(names string) []string {
	if names == "branch" {
		return nil
	}
	return strings.Split(names, "+")
}

// TestGateVerdicts: which verdict stands for a trial, and whether the check runs.
func TestGateVerdicts(t *testing.T) {
	t.Parallel()
	g := newFixture(t, map[string]string{"f": "1\n"})
	g.patch("a1", map[string]string{"a": "x\n"})
	g.patch("a2", map[string]string{"b": "x\n"})
	passed, failed, earlier, ahead := Verdict{Passed: true}, Verdict{}, Verdict{Passed: true, Earlier: true}, Verdict{Ahead: true}
	for _, tt := range []struct {
		name  string
		bad   string
		known []Verdict // on the set a1
		fresh bool
		run   int
		want  queue.Verdict
		runs  int // of the check
	}{
		{"new", "", nil, false, 1, queue.Verdict{Passed: true}, 1},
		{"new and bad", "a1", nil, false, 1, queue.Verdict{}, 1},
		{"of an interrupted landing", "a1", []Verdict{passed}, true, 1, queue.Verdict{Passed: true}, 0},
		{"failed in an interrupted landing", "", []Verdict{failed}, true, 1, queue.Verdict{}, 0},
		{"its second run", "a1", []Verdict{failed}, true, 2, queue.Verdict{}, 1},
		{"both runs are known", "", []Verdict{failed, failed}, true, 2, queue.Verdict{}, 0},
		{"passed at the second run", "a1", []Verdict{failed, passed}, true, 1, queue.Verdict{Passed: true}, 0},
		{"of an earlier landing", "a1", []Verdict{earlier}, false, 1, queue.Verdict{Passed: true, Earlier: true}, 0},
		{"of an earlier landing, for a refusal", "a1", []Verdict{earlier}, true, 1, queue.Verdict{}, 1},
		{"failed since", "", []Verdict{earlier, failed}, false, 1, queue.Verdict{}, 0},
		{"passed since", "a1", []Verdict{earlier, passed}, false, 1, queue.Verdict{Passed: true}, 0},
		{"failed ahead", "", []Verdict{ahead}, true, 1, queue.Verdict{Ahead: true}, 0},
		{"failed ahead, confirmed", "", []Verdict{ahead}, true, 1, queue.Verdict{Passed: true}, 1},
		{"failed ahead and since, confirmed", "", []Verdict{ahead, failed}, true, 1, queue.Verdict{}, 0},
	} {
		c := &checker{bad: []string{tt.bad}, known: map[string][]Verdict{"a1": tt.known}}
		gate := g.gate(c)
		trial := queue.Trial{Set: []string{"a1"}, Run: tt.run, Fresh: tt.fresh, Confirms: strings.HasSuffix(tt.name, "confirmed")}
		got, err := gate.Verify(t.Context(), []queue.Trial{trial})
		if err != nil || len(got) != 1 || got[0] != tt.want || len(c.ran) != tt.runs {
			t.Errorf("%s: Verify = %v, %v after %d runs, want %v after %d", tt.name, got, err, len(c.ran), tt.want, tt.runs)
		}
		if done := gate.Verifications(); len(done) != 1 || done[0].Reused != (tt.runs == 0) || done[0].Passed != tt.want.Passed {
			t.Errorf("%s: verifications %+v", tt.name, done)
		}
	}
}

// TestGateVerify: a round verifies each tree once and reports each trial once.
func TestGateVerify(t *testing.T) {
	t.Parallel()
	g := newFixture(t, map[string]string{"f": "1\n"})
	g.patch("a1", map[string]string{"a": "x\n"})
	g.patch("a2", map[string]string{"b": "x\n"})
	c := &checker{bad: []string{"a2"}}
	gate := g.gate(c)
	round := []queue.Trial{{Run: 1}, {Set: []string{"a1", "a2"}, Run: 1}, {Set: []string{"a2", "a1"}, Run: 1}}
	for range 2 {
		got, err := gate.Verify(t.Context(), round)
		if want := []queue.Verdict{{Passed: true}, {}, {}}; err != nil || !slices.Equal(got, want) {
			t.Errorf("Verify = %v, %v, want %v", got, err, want)
		}
	}
	slices.Sort(c.ran)
	if got := strings.Join(c.ran, " "); got != "a1+a2 branch" {
		t.Errorf("the check ran on %s", got)
	}
	slices.Sort(c.told)
	want := "a1+a2 false false, a1+a2 false true, a2+a1 false true, a2+a1 false true, branch true false, branch true true"
	if got := strings.Join(c.told, ", "); got != want {
		t.Errorf("reported %s, want %s", got, want)
	}
	c.err = errors.New("the disk is full")
	if _, err := gate.Verify(t.Context(), []queue.Trial{{Set: []string{"a1"}, Run: 1}}); !errors.Is(err, c.err) {
		t.Errorf("a check without a verdict gives %v", err)
	}
	if _, err := gate.Fit(t.Context(), []string{"a9"}); err == nil {
		t.Error("an unknown patch fits")
	}
}

// TestGateLands: a landing of the queue with this gate, after the machine has broken
// since the branch passed.
func TestGateLands(t *testing.T) {
	t.Parallel()
	g := newFixture(t, map[string]string{"f": "1\n"})
	g.patch("a1", map[string]string{"a": "x\n"})
	g.patch("a2", map[string]string{"b": "x\n"})
	c := &checker{known: map[string][]Verdict{"branch": {{Passed: true, Earlier: true}}}}
	gate := g.gate(c)
	check := gate.Check
	gate.Check = func(ctx context.Context, candidate Candidate) (Verdict, error) {
		v, err := check(ctx, candidate)
		v.Passed = false
		return v, err
	}
	out, err := queue.Land(t.Context(), queue.Request{Patches: []queue.Patch{{ID: "a1"}, {ID: "a2"}}, Slots: 1, Gate: gate})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.BranchFails) != 2 || len(out.Refused) > 0 {
		t.Errorf("refused %v; the branch failed in %v", out.Refused, out.BranchFails)
	}
	if got := strings.Join(c.ran, " "); got != "a1+a2 branch branch" {
		t.Errorf("the check ran on %s", got)
	}
}
