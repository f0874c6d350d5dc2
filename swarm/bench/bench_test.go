package bench

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentswarm/worktree/git"
)

// newRepo is a repository of these files, and the request to measure on it.
func newRepo(t *testing.T, files map[string]string) Request {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, "source")
	for name, text := range files {
		file := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must(t, os.WriteFile(file, []byte(text), 0o600))
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1"}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, untidied(env)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	repo, err := git.New(env).Discover(t.Context(), dir)
	must(t, err)
	in := filepath.Join(home, "in")
	must(t, os.Mkdir(in, 0o700))
	return Request{
		Repo: repo, Dir: in, Environ: env, Agents: 3, Sample: 2, Say: func(string) {},
		Open: func(context.Context, Clone) (Product, error) { return nil, errors.New("not here") },
	}
}

// untidied is an environment in which git tidies nothing up. Since 2.47 a commit
// leaves a process behind that does, with a lock in the objects, which are cloned.
func untidied(env []string) []string {
	return append(slices.Clone(env), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func someFiles() map[string]string {
	return map[string]string{
		"a": "a\n", "b c": "b\n", ".hidden": "h\n", "d/e.txt": "e", "d/f": "f\n", "d/g": "", "z": "z\n", "é": "x\n",
	}
}

// TestPaste runs the printed commands in a shell. They must end well, and
// choose the files and make the patches that are measured.
func TestPaste(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash, of which `time` is a word")
	}
	r := newRepo(t, someFiles())
	g := filled(t, r)
	script := "set -e\n"
	for _, c := range g.paste(r) {
		script += "# " + c.Name + "\n" + strings.Join(c.Lines, "\n") + "\n"
	}
	typed := t.TempDir()
	cmd := exec.Command(shell, "-c", script)
	cmd.Dir = typed
	cmd.Env = append(untidied(g.env), "GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\nof\n%s", err, out, script)
	}
	picked, err := os.ReadFile(filepath.Join(typed, "files"))
	must(t, err)
	if got := strings.Fields(string(picked)); !slices.Equal(got, g.files) {
		t.Errorf("the shell chose %q, want %q", got, g.files)
	}
	there, err := git.New(r.Environ).Discover(t.Context(), filepath.Join(typed, "repo"))
	must(t, err)
	for i, p := range g.patches {
		want, err := g.repo.TreeOf(t.Context(), p)
		must(t, err)
		if got, err := there.TreeOf(t.Context(), git.Hash(patchRef(i))); got != want {
			t.Errorf("patch %d typed is the tree %s, %v; want %s", i, got, err, want)
		}
	}
}

// filled is a ground with its clone.
func filled(t *testing.T, r Request) *ground {
	t.Helper()
	g, err := newGround(t.Context(), r)
	must(t, err)
	must(t, g.fill(t.Context(), r))
	return g
}

func TestChoose(t *testing.T) {
	t.Parallel()
	r := newRepo(t, someFiles())
	for _, test := range []struct {
		agents int
		want   []string
	}{
		{1, []string{"z"}},
		{2, []string{"d/e.txt", "d/g"}},
		{5, []string{"a", "d/e.txt", "d/f", "d/g", "z"}},
		{7, []string{"a", "d/e.txt", "d/f", "d/g", "z", "swarm-bench-1", "swarm-bench-2"}},
	} {
		r.Agents = test.agents
		g := filled(t, r)
		if !slices.Equal(g.files, test.want) {
			t.Errorf("choose(%d) = %q, want %q", test.agents, g.files, test.want)
		}
		if len(g.patches) != test.agents {
			t.Errorf("%d patches for %d agents", len(g.patches), test.agents)
		}
	}
}

// TestNothingIsLeft ends a bench where it opens swarm.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	r := newRepo(t, someFiles())
	if _, err := Run(t.Context(), r); err == nil || err.Error() != "not here" {
		t.Fatalf("Run = %v", err)
	}
	left, err := os.ReadDir(r.Dir)
	if err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// TestNowhere is a machine on which no backend works.
func TestNowhere(t *testing.T) {
	t.Parallel()
	r := newRepo(t, someFiles())
	r.Open = func(context.Context, Clone) (Product, error) { return nil, &NotHereError{Reason: "no disk"} }
	var refused *RefusedError
	if _, err := Run(t.Context(), r); !errors.As(err, &refused) {
		t.Errorf("Run = %v, want a refusal", err)
	}
	r.Only = "overlay"
	if _, err := Run(t.Context(), r); !errors.As(err, &refused) || err.Error() != "--backend overlay: no disk" {
		t.Errorf("Run = %v, want the reason", err)
	}
}

func TestEnviron(t *testing.T) {
	t.Parallel()
	r := newRepo(t, someFiles())
	r.Environ = append(r.Environ, "SWARM_STATE_DIR=/mine", "XDG_CONFIG_HOME=/mine", "GIT_DIR=/mine", "KEPT=1")
	for _, kv := range filled(t, r).environ("overlay") {
		if strings.Contains(kv, "/mine") || kv == "HOME="+filepath.Dir(r.Dir) {
			t.Errorf("%s leads to what is the user's", kv)
		}
	}
}

func TestFigure(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		give        rounds
		run, of     int
		want, least float64
	}{
		{rounds{30 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond}, 1, 1, 20, 10},
		{rounds{30 * time.Millisecond, 10 * time.Millisecond}, 1, 1, 20, 10},
		{rounds{1500 * time.Microsecond}, 5, 100, 30, 30},
	} {
		got := test.give.figure(test.run, test.of)
		want := Figure{MS: test.want, Least: test.least, Run: test.run, Of: test.of, Rounds: len(test.give)}
		if got != want {
			t.Errorf("%v.figure(%d, %d) = %+v, want %+v", test.give, test.run, test.of, got, want)
		}
	}
}

func TestGoals(t *testing.T) {
	t.Parallel()
	ms := func(n float64) Figure { return Figure{MS: n, Run: 1, Of: 1} }
	for _, test := range []struct {
		give  Row
		ratio float64
		met   string // empty: no goal
	}{
		{Row{Step: StepCreate, Backend: "overlay", Baseline: ms(100), Swarm: ms(1)}, 100, "met"},
		{Row{Step: StepCreate, Backend: "overlay", Baseline: ms(99), Swarm: ms(1)}, 99, "not met"},
		{Row{Step: StepCreate, Backend: "worktree", Baseline: ms(100), Swarm: ms(1)}, 100, ""},
		{Row{Step: StepCold, Backend: "overlay", Baseline: ms(100), Swarm: ms(1)}, 100, ""},
		{Row{Step: StepDisk, Backend: "overlay", Baseline: Figure{Bytes: 100}, Swarm: Figure{Bytes: 2}}, 0.02, "met"},
		{Row{Step: StepDisk, Backend: "overlay", Baseline: Figure{Bytes: 100}, Swarm: Figure{Bytes: 3}}, 0.03, "not met"},
		{Row{Step: StepCapture, Backend: "overlay", Baseline: ms(10), Swarm: ms(1)}, 10, "met"},
		{Row{Step: StepMerge, Against: againstAm, Baseline: ms(50), Swarm: ms(1)}, 50, "not met"},
		{Row{Step: StepMerge, Against: againstLoop, Baseline: ms(50), Swarm: ms(1)}, 50, "met"},
		{Row{Step: StepLand, Backend: "overlay", Against: againstAm, Baseline: ms(50), Swarm: ms(1)}, 50, ""},
		{Row{Step: StepEnds, Backend: "overlay", Baseline: ms(1), Swarm: ms(5)}, 5, "met"},
		{Row{Step: StepEnds, Backend: "overlay", Baseline: ms(1), Swarm: ms(6)}, 6, "not met"},
		{Row{Step: StepBusy, Backend: "overlay", Baseline: ms(1), Swarm: ms(6)}, 6, ""},
	} {
		b := &bench{fields: []*field{{backend: "overlay"}, {backend: "worktree"}}}
		b.add(test.give)
		got, met := b.report.Rows[0], ""
		switch {
		case got.Goal != nil && got.Goal.Met:
			met = "met"
		case got.Goal != nil:
			met = "not met"
		}
		if got.Ratio != test.ratio || met != test.met {
			t.Errorf("%+v: ratio %g %q, want %g %q", test.give, got.Ratio, met, test.ratio, test.met)
		}
	}
}

func TestDiskUsage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	must(t, os.WriteFile(file, make([]byte, 1<<20), 0o600))
	one, err := diskUsage(dir)
	must(t, err)
	must(t, os.Link(file, filepath.Join(dir, "g")))
	two, err := diskUsage(dir)
	must(t, err)
	if one < 1<<20 || two != one {
		t.Errorf("a MiB takes %d, with a second name %d", one, two)
	}
	none, err := diskUsage(filepath.Join(dir, "none"))
	if none != 0 || err != nil {
		t.Errorf("diskUsage of nothing = %d, %v", none, err)
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{"a/b-c.d": "a/b-c.d", "a b": "'a b'", "it's": `'it'\''s'`, "": "''", "$x": "'$x'"} {
		if got := quote(give); got != want {
			t.Errorf("quote(%q) = %s, want %s", give, got, want)
		}
	}
}
