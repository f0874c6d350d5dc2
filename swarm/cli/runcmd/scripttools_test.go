package runcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/script"
	"agentswarm/swarm/script/process"
	"agentswarm/swarm/shim"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/swarm/workflow"
	"agentswarm/swarm/workflow/host"
	"agentswarm/worktree/git"
)

// TestMain lets the test binary be the supervisor of the tests' commands.
func TestMain(m *testing.M) {
	switch args := os.Args[1:]; {
	case len(args) == 1 && args[0] == process.Word:
		os.Exit(script.Serve(context.Background(), os.Stdin, os.Stdout))
	case len(args) > 0 && args[0] == session.GitCommand:
		os.Exit(shim.Run(shim.Request{Args: args[1:], Environ: os.Environ(), Stdout: os.Stdout, Stderr: os.Stderr}))
	}
	os.Exit(m.Run())
}

// stage is a run of a repository, owned by the test, whose agents have ended.
type stage struct {
	*testing.T
	home, root string
	getenv     map[string]string
	place      *cmdline.Place
	session    *session.Session
	base       git.Hash
	config     engine.Config
	tools      *host.Tools

	mu   sync.Mutex // guards step
	step func(name string) error
}

// newStage makes a run whose base holds the files.
func newStage(t *testing.T, files ...string) *stage {
	t.Helper()
	return newGroundStage(t).begin(files...)
}

// begin makes the run on a commit of the files.
func (s *stage) begin(files ...string) *stage {
	s.Helper()
	s.write(files...)
	s.git("add", "-A")
	s.git("commit", "-q", "--allow-empty", "-m", "first")
	s.open(s.git("rev-parse", "HEAD"), engine.Config{})
	return s
}

// newGroundStage is a repository without a commit.
func newGroundStage(t *testing.T, initArgs ...string) *stage {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t, home: filepath.Join(dir, "home"), root: filepath.Join(dir, "repo"), getenv: map[string]string{}}
	s.ok(os.MkdirAll(s.home, 0o700), os.MkdirAll(s.root, 0o700))
	s.git(append([]string{"init", "-q", "-b", "main", "--template="}, initArgs...)...)
	s.git("config", "user.name", "Ada")
	s.git("config", "user.email", "ada@example.com")
	return s
}

func (s *stage) environ() []string {
	return []string{
		"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_DATE=2024-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2024-01-02T03:04:05Z",
	}
}

func (s *stage) ok(errs ...error) {
	s.Helper()
	if err := errors.Join(errs...); err != nil {
		s.Fatal(err)
	}
}

// gitWith runs git as the user, with more of an environment.
func (s *stage) gitWith(env []string, args ...string) string {
	s.Helper()
	cmd := exec.Command("git", args...)
	cmd.Env = env
	return s.run(cmd, "")
}

func (s *stage) run(cmd *exec.Cmd, stdin string) string {
	s.Helper()
	// Since 2.47 a commit leaves a process behind that tidies up, with a lock in the
	// repository until it is done.
	cmd.Dir, cmd.Env = s.root, append(append(s.environ(),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false"), cmd.Env...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		s.Fatalf("%s: %v: %s", strings.Join(cmd.Args, " "), err, said.String())
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func (s *stage) git(args ...string) string { s.Helper(); return s.gitWith(nil, args...) }

// write writes files of the checkout: name, content, name, content.
func (s *stage) write(files ...string) {
	s.Helper()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(s.root, files[i])
		s.ok(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(files[i+1]), 0o600))
	}
}

// commitOn makes a commit on no branch: the parent's files, and the given
// files.
func (s *stage) commitOn(parent string, files ...string) string {
	s.Helper()
	index := "GIT_INDEX_FILE=" + filepath.Join(s.home, "index")
	s.gitWith([]string{index}, "read-tree", parent)
	for i := 0; i < len(files); i += 2 {
		s.ok(os.WriteFile(filepath.Join(s.home, "blob"), []byte(files[i+1]), 0o600))
		id := s.git("hash-object", "-w", filepath.Join(s.home, "blob"))
		s.gitWith([]string{index}, "update-index", "--add", "--cacheinfo", "100644,"+id+","+files[i])
	}
	tree := s.gitWith([]string{index}, "write-tree")
	return s.git("commit-tree", "-p", parent, "-m", "made", tree)
}

// open makes the run on a base and owns it.
func (s *stage) open(base string, config engine.Config) {
	s.Helper()
	self, err := os.Executable()
	s.ok(err)
	state := filepath.Join(s.home, "state")
	s.place, err = cmdline.OpenAt(s.Context(), cmdline.Env{
		Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}, Dir: s.root, Self: self, Environ: s.environ(), Calls: cmdline.Program,
		Getenv: func(name string) string {
			if name == "SWARM_STATE_DIR" {
				return state
			}
			return s.getenv[name]
		},
		Step: func(name string) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.step == nil {
				return nil
			}
			return s.step(name)
		},
	}, s.root)
	s.ok(err)
	s.base, s.config = git.Hash(base), config
	run, owner, err := s.place.State.Create(store.Identity{
		Base:      store.Base{Commit: base, Tree: s.git("rev-parse", base+"^{tree}"), Kind: store.BaseHead},
		CommonDir: s.place.Repo.CommonDir, TopLevel: s.place.Repo.TopLevel,
		Workflow: store.Workflow{Kind: store.WorkflowPrompt, Text: "{}"}, Config: fmt.Appendf(nil, `{"setup": %q}`, config.Setup),
	})
	s.ok(err)
	s.git("update-ref", captureref.Base(run.ID), base)
	s.own(run, owner)
	s.Cleanup(func() {
		if err := errors.Join(s.tools.Close(), s.session.Owner.Close()); err != nil {
			s.Error(err)
		}
	})
}

func (s *stage) own(run *store.Run, owner *store.Owner) {
	s.Helper()
	var err error
	s.session, err = session.Open(s.Context(), s.place, run, owner)
	s.ok(err)
	s.openTools()
}

// openTools makes the tools of the session as it stands.
func (s *stage) openTools() {
	s.Helper()
	var err error
	// No agent of these runs has ever been named.
	s.tools, err = scriptTools(s.session, s.config, func(context.Context, []string) {})
	s.ok(err)
}

// again gives the run up and owns it anew, as a resume would.
func (s *stage) again() {
	s.Helper()
	run := s.session.Run
	s.ok(s.tools.Close(), s.session.Owner.Close())
	s.at(nil)
	owner, err := run.Own(s.Context())
	s.ok(err)
	s.own(run, owner)
}

// use has the tools go by another configuration.
func (s *stage) use(config engine.Config) {
	s.Helper()
	s.config = config
	s.again()
}

// at calls step before each step that is written to the disk.
func (s *stage) at(step func(name string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.step = step
}

// patch is the patch of a completed agent: a change from parent.
func (s *stage) patch(id task.ID, parent string, files ...string) workflow.Patch {
	s.Helper()
	// Agents that do the same make different commits, as their times differ.
	commit := s.git("commit-tree", "-p", parent, "-m", string(id), s.commitOn(parent, files...)+"^{tree}")
	p := &task.Patch{
		Ref: captureref.Attempt(s.session.Run.ID, id, 1), Commit: commit, Base: parent, File: "the patch file", Files: len(files) / 2,
	}
	s.git("update-ref", p.Ref, commit)
	_, err := s.session.Owner.AppendAll([]event.Event{
		&event.Called{Agent: id, Call: &task.Call{Key: string(id), Label: "does " + string(id), Input: &task.TypedAgentInput{Prompt: "p"}}},
		&event.Leased{Agent: id, Attempt: 1, Dir: "gone", Base: parent},
		&event.Settled{Agent: id, Attempt: 1, Result: &task.Completed{Work: task.Work{Attempts: 1, Patch: p}}},
		&event.Released{Agent: id, Attempt: 1},
	})
	s.ok(err)
	return workflow.Patch{Agent: id, Patch: p}
}

// show is a file of a commit.
func (s *stage) show(commit, name string) string { s.Helper(); return s.git("show", commit+":"+name) }

// scriptRefusal checks that an error is a script's error.
func scriptRefusal(t *testing.T, err error, code script.Code, message string) {
	t.Helper()
	var e *script.Error
	if !errors.As(err, &e) || e.Code != code || e.Name != "Error" || e.Message != message {
		t.Errorf("error = %v\nwant a script's: %s: %s", err, code, message)
		if e != nil && e.Code != code {
			t.Errorf("code = %q, want %q", e.Code, code)
		}
	}
}

// TestScriptToolsAreTools checks that the tools have the methods that the
// driver of a script calls. They must leave nothing of their own in the run's
// folder.
func TestScriptToolsAreTools(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n")
	var tools workflow.Tools = s.tools
	if _, err := tools.Read(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	if !fspath.Exists(filepath.Join(s.session.Run.Dir, "script")) {
		t.Fatal("there is no folder for what only this process needs")
	}
	s.ok(s.tools.Close())
	if fspath.Exists(filepath.Join(s.session.Run.Dir, "script")) {
		t.Error("Close left the folder of the tools")
	}
}

// TestScriptToolsSHA256 goes the whole way in a repository whose objects are
// read by another process.
func TestScriptToolsSHA256(t *testing.T) {
	t.Parallel()
	s := newGroundStage(t, "--object-format=sha256").begin("a", "1\n", "b", "1\n")
	text, err1 := s.tools.Read(t.Context(), "a")
	lines, err2 := s.tools.Grep(t.Context(), &script.Repo{Pattern: "1"})
	log, err3 := s.tools.Log(t.Context(), &script.Repo{})
	s.ok(err1, err2, err3)
	if text != "1\n" || len(lines) != 2 || len(log) != 1 || log[0].Commit != string(s.base) {
		t.Errorf("the base is %q, %v, %v", text, lines, log)
	}
	one, two := s.patch("a1", string(s.base), "a", "one\n"), s.patch("a2", string(s.base), "b", "two\n")
	merged, err := s.tools.Merge(t.Context(), workflow.MergeRequest{Onto: string(s.base), Patches: []workflow.Patch{one, two}})
	s.ok(err)
	commit, tree, err := s.tools.Resolve(t.Context(), merged.Tree)
	if err != nil || commit != merged.Tree || tree != s.git("rev-parse", commit+"^{tree}") {
		t.Errorf("Resolve(%s) = %s, %s, %v", merged.Tree, commit, tree, err)
	}
	if got, err := s.land("k", script.Land{}, one, two); err != nil || !got.Landed || s.git("rev-parse", "main^{tree}") != tree {
		t.Errorf("Land = %+v, %v, want tree %s on main", got, err, tree)
	}
}

// TestScriptToolsTime: merged commits have the time of the run, so that the same patches
// give the same commits again.
func TestScriptToolsTime(t *testing.T) {
	t.Parallel()
	s := newStage(t, "a", "1\n")
	one := s.patch("a1", string(s.base), "a", "one\n")
	merged, err := s.tools.Merge(t.Context(), workflow.MergeRequest{Onto: string(s.base), Patches: []workflow.Patch{one}})
	s.ok(err)
	created := strconv.FormatInt(s.session.Owner.View().Identity.Created.Unix(), 10)
	if got := s.git("show", "-s", "--format=%ct", merged.Tree); got != created {
		t.Errorf("the merged commit is of %s, want %s", got, created)
	}
}
