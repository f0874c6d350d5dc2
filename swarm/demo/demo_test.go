package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentswarm/worktree/git"
)

// sandboxLine is the line by which `swarm run` names the sandbox.
const sandboxLine = "sandbox: Landlock only, workspaces copied; a reason: a remedy"

// fakeSwarm stands in for the rest of swarm: its agents are the real ones, as
// goroutines in folders, and its merges are computed.
type fakeSwarm struct {
	t       *testing.T
	env     Env
	base    files // the base of the agents
	agents  []reportAgent
	results []files
	typed   [][]string
	spoil   func(*report) // a false status in place of the true status
	absent  int           // how many agents never come to life
	stop    func()        // called instead of merging
	touch   bool          // the merge changes the checkout
	lose    bool          // the merge loses a file
}

func (f *fakeSwarm) swarm(ctx context.Context, dir string, stdout, stderr io.Writer, args ...string) int {
	f.typed = append(f.typed, args)
	code := 0
	switch args[0] {
	case "run":
		code = exitDegraded
		fmt.Fprintln(stderr, sandboxLine)
		f.run(ctx, dir, args)
	case "merge":
		if f.stop != nil {
			f.stop()
			return 130
		}
		code = exitConflict
		f.merge(ctx, dir)
	}
	r := report{Schema: "swarm.run/1", Run: "k3x9q2", Status: "degraded", Agents: f.agents}
	if args[0] == "status" {
		id := func(name string) string { return (&facts{run: r}).mustAgent(f.t, name).ID }
		r.Landing.Conflicts = []reportConflict{{
			Agent: id(comesSecond), With: id(landsFirst), Paths: []string{callersFile},
		}}
		if f.spoil != nil {
			f.spoil(&r)
		}
	}
	if err := json.NewEncoder(stdout).Encode(r); err != nil {
		f.t.Error(err)
	}
	return code
}

// run is `swarm run`: it ends who hangs once all others are done.
func (f *fakeSwarm) run(ctx context.Context, dir string, args []string) {
	var err error
	if f.base, err = readFiles(dir, ".git"); err != nil {
		f.t.Fatal(err)
	}
	items, err := filepath.Glob(filepath.Join(dir, "packages", "*"))
	if err != nil {
		f.t.Fatal(err)
	}
	items = items[f.absent:]
	f.agents, f.results = make([]reportAgent, len(items)), make([]files, len(items))
	hanging, end := context.WithCancel(ctx)
	defer end()
	var others, all sync.WaitGroup
	for i, item := range items {
		wait, ctx := &others, ctx
		if filepath.Base(item) == hangs {
			wait, ctx = &all, hanging
		}
		wait.Go(func() { f.agents[i], f.results[i] = f.agent(ctx, i, "packages/"+filepath.Base(item), args) })
	}
	others.Wait()
	end()
	all.Wait()
}

func (f *fakeSwarm) agent(ctx context.Context, i int, item string, args []string) (reportAgent, files) {
	a := reportAgent{ID: fmt.Sprintf("a%d", i+1), Item: item, Status: "completed"}
	dir := f.t.TempDir()
	if err := f.base.write(dir); err != nil {
		f.t.Error(err)
	}
	command := args[slices.Index(args, "--")+1:]
	if len(command) != 4 || command[0] != f.env.Self || command[1] != agentCommand || command[3] != "{item}" {
		f.t.Errorf("the agents are %q", command)
	}
	err := agent(ctx, agentRequest{Dir: dir, Gate: command[2], Item: item, Stdout: io.Discard})
	if err != nil {
		a.Status, a.Error = "failed", &reportError{Kind: "other", Message: err.Error()}
		if errors.Is(err, context.Canceled) {
			a.Error.Kind = "idle_timeout"
		}
		return a, nil
	}
	left, err := readFiles(dir)
	if err != nil {
		f.t.Error(err)
	}
	passes := filepath.Base(item) != breaksATest // TestMonorepoCompiles shows it
	a.Changed, a.Verified = len(differences("", left, f.base)) > 0, &passes
	return a, left
}

// merge is `swarm merge`: it commits by a private index, as merging does.
func (f *fakeSwarm) merge(ctx context.Context, dir string) {
	tree := files{}
	for rel, text := range f.base {
		tree[rel] = text
	}
	for i, a := range f.agents {
		if planned(filepath.Base(a.Item)) != lands {
			continue
		}
		for rel, text := range f.results[i] {
			if text != f.base[rel] {
				tree[rel] = text
			}
		}
	}
	if f.lose {
		delete(tree, "go.mod")
	}
	if f.touch {
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), nil, 0o644); err != nil {
			f.t.Error(err)
		}
	}
	work := f.t.TempDir()
	if err := tree.write(work); err != nil {
		f.t.Error(err)
	}
	f.git(ctx, dir, work, "add", "--all", "--force")
	made := f.git(ctx, dir, work, "write-tree")
	made = f.git(ctx, dir, work, "commit-tree", "-m", "landed", made)
	f.git(ctx, dir, work, "update-ref", "refs/heads/"+landed, made)
}

func (f *fakeSwarm) git(ctx context.Context, dir, work string, args ...string) string {
	out, err := git.New(f.env.Environ).Run(ctx, git.Cmd{
		Dir: work, Args: args, Writes: true,
		Env: []string{
			"GIT_DIR=" + filepath.Join(dir, ".git"), "GIT_WORK_TREE=" + work, "GIT_INDEX_FILE=" + work + ".index",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a",
		},
	})
	if err != nil {
		f.t.Error(err)
	}
	return strings.TrimSpace(string(out))
}

func (f *facts) mustAgent(t *testing.T, name string) reportAgent {
	a, ok := f.agent(name)
	if !ok {
		t.Errorf("no agent for %s", name)
	}
	return a
}

// shown runs a demo on a fake swarm.
func shown(ctx context.Context, t *testing.T, f *fakeSwarm) (stdout, stderr, dir string, err error) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "mono repo")
	var out, errs bytes.Buffer
	f.t = t
	f.env = Env{
		Dir: dir, Environ: os.Environ(), Stdout: &out, Stderr: &errs,
		Self: "self", Calls: "go run .", Swarm: f.swarm,
	}
	patience := time.Minute
	if f.absent > 0 {
		patience = 2 * time.Second // no wait takes longer than necessary
	}
	err = run(ctx, f.env, request{dir: dir, packages: 14, gate: patience})
	return out.String(), errs.String(), dir, err
}

func TestDemoGoesAsPlanned(t *testing.T) {
	t.Parallel()
	f := &fakeSwarm{}
	stdout, stderr, dir, err := shown(t.Context(), t, f)
	if err != nil {
		t.Fatalf("demo = %v\n%s", err, stderr)
	}
	for _, want := range []string{
		"14 packages (", "\n  " + dir + "\n", "14  agents were alive at once",
		" 11  completed, and the tests", " 10  patches merged", "  0  files changed in the checkout",
		"go run . -C '" + dir + "' status", "go run . -C '" + dir + "' rm k3x9q2 --force\n", "rm -rf '" + dir + "'\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the demo did not print %q:\n%s", want, stdout)
		}
	}
	if !strings.Contains(stderr, sandboxLine+"\n") {
		t.Errorf("the demo did not print the line of the sandbox:\n%s", stderr)
	}
	if got := f.typed[0]; slices.Contains(got, "--quiet") || slices.ContainsFunc(got, func(arg string) bool { return strings.HasPrefix(arg, "--sandbox") }) {
		t.Errorf("the demo chose a sandbox, or silence: %q", got)
	}
	if verbs := []string{f.typed[0][0], f.typed[1][0], f.typed[2][0]}; !slices.Equal(verbs, []string{"run", "merge", "status"}) {
		t.Errorf("the demo typed %q", verbs)
	}
	if got := f.typed[0][:5]; !slices.Equal(got, []string{"run", "--each", "packages/*/", "-j", "14"}) {
		t.Errorf("the demo typed %q", got)
	}
}

func TestDemoSeesDeviations(t *testing.T) {
	t.Parallel()
	yes := true
	at := func(r *report, name string) *reportAgent {
		return &r.Agents[slices.IndexFunc(r.Agents, func(a reportAgent) bool { return a.Item == "packages/"+name })]
	}
	for _, test := range []struct {
		name string
		fake fakeSwarm
		want string
	}{
		{"status", fakeSwarm{spoil: func(r *report) { r.Status = "completed" }}, `the run is "completed"`},
		{"unverified passes", fakeSwarm{spoil: func(r *report) { at(r, breaksATest).Verified = &yes }}, "manual: agent a7 is completed, verified true, want it completed, its check failed"},
		{"never verified", fakeSwarm{spoil: func(r *report) { at(r, "orchard").Verified = nil }}, "orchard: agent"},
		{"unchanged", fakeSwarm{spoil: func(r *report) { at(r, "orchard").Changed = false }}, "without a change, want it completed, verified and landed"},
		{"wrong failure", fakeSwarm{spoil: func(r *report) { at(r, hangs).Error.Kind = "killed" }}, "almanac: agent a1 is failed (killed: "},
		{"no time-out", fakeSwarm{spoil: func(r *report) { at(r, refuses).Error.Kind = "idle_timeout" }}, "pricing: agent"},
		{"agent missing", fakeSwarm{spoil: func(r *report) { r.Agents = r.Agents[1:] }}, "almanac: no agent worked on it"},
		{"no conflict", fakeSwarm{spoil: func(r *report) { r.Landing.Conflicts = nil }}, "payroll does not conflict with invoice"},
		{"another conflict", fakeSwarm{spoil: func(r *report) {
			r.Landing.Conflicts = append(r.Landing.Conflicts, reportConflict{"a1", "a2", []string{"x"}})
		}}, "agent a1 conflicts with a2 in x"},
		{"file lost", fakeSwarm{lose: true}, "branch landed: go.mod is missing"},
		{"checkout touched", fakeSwarm{touch: true}, "your checkout: go.mod has wrong content"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, stderr, _, err := shown(t.Context(), t, &test.fake)
			var wrong *DeviationError
			if !errors.As(err, &wrong) || wrong.ExitCode() != 1 || !strings.Contains(stderr, test.want) {
				t.Errorf("demo = %v, want a deviation saying %q:\n%s", err, test.want, stderr)
			}
		})
	}
}

func TestDemoMissesAgents(t *testing.T) {
	t.Parallel()
	_, _, _, err := shown(t.Context(), t, &fakeSwarm{absent: 3})
	var wrong *DeviationError
	if !errors.As(err, &wrong) || !strings.Contains(wrong.Hint(), "--packages") {
		t.Fatalf("demo = %v, want a deviation with a hint", err)
	}
	// How many of the others came in time is the machine's business.
	if !strings.HasSuffix(wrong.Text, " of 14 agents were alive at once") {
		t.Errorf("demo = %v, want to hear how many came", err)
	}
}

func TestDemoIsStopped(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	stdout, _, _, err := shown(ctx, t, &fakeSwarm{stop: func() { cancel(enough) }})
	var stopped *StoppedError
	if !errors.As(err, &stopped) || stopped.ExitCode() != 130 || !errors.Is(err, enough) {
		t.Errorf("demo = %v, want to be stopped", err)
	}
	if !strings.Contains(stdout, "rm k3x9q2 --force\n  rm -rf ") {
		t.Errorf("a stopped demo does not say how to be rid of it:\n%s", stdout)
	}
}

func TestReadReport(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ give, want string }{
		{`{"schema":"swarm.run/1","run":"k3x9q2"}`, ""},
		{`{"schema":"swarm.error/1","error":{"kind":"invalid","message":"no space"}}`, "no space"},
		{`{"schema":"swarm.run/2","run":"x"}`, `read its JSON: schema "swarm.run/2" of run "x", want swarm.run/1`},
		{`{"schema":"swarm.run/1"}`, `read its JSON: schema "swarm.run/1" of run "", want swarm.run/1`},
		{``, "read its JSON: unexpected end of JSON input"},
	} {
		_, err := readReport([]byte(test.give))
		if got := fmt.Sprint(err); got != test.want && (err != nil || test.want != "") {
			t.Errorf("readReport(%s) = %v, want %q", test.give, err, test.want)
		}
	}
}
