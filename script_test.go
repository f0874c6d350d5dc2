package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"agentswarm/internal/testing/nonamespaces"
	"agentswarm/worktree"
)

// never is the time after which a test takes an awaited event not to come. It
// ends only tests that hang: an event that comes may be late, on a machine that
// starts a process in seconds.
const never = 5 * time.Minute

// TestMain lets the test binary be `swarm` and `fakeagent` for the scripts.
func TestMain(m *testing.M) {
	// Most tests of this package wait for processes. -parallel still decides.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.NumCPU())); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"swarm":            faultySwarm,
		"fakeagent":        fakeAgent,
		"captures":         capturesProgram,
		"nonamespaces":     func() { os.Exit(nonamespaces.Main(os.Args[1:])) },
		isolationProbeName: isolationProbe,
	})
}

// TestScripts runs testdata/script/*.txtar, each against a real git in a folder
// of its own with an empty HOME. $WORK/repo is a repository that the setup has
// made and committed from the archive's files below repo/.
func TestScripts(t *testing.T) {
	t.Parallel()
	params := scriptParams(worktree.Linked)
	params.Dir = scriptsDir()
	testscript.Run(t, params)
}

// scriptParams are those of scripts whose agents work on a backend.
func scriptParams(backend worktree.Backend) testscript.Params {
	return testscript.Params{
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			return errors.Join(setupScript(env), setupBackend(env, backend))
		},
		Condition: func(name string) (bool, error) {
			return scriptCondition(name, backend)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"git":      gitCommand,
			"refs":     refsCommand,
			"json":     jsonCommand,
			"await":    awaitCommand,
			"nothing":  nothingCommand,
			"gone":     goneCommand,
			"keep":     keepCommand,
			"crash":    crashCommand,
			"orphan":   orphanCommand,
			"left":     leftCommand,
			"terminal": terminalCommand,
			"safe":     safeCommand,
			"valid":    validCommand,
			"exits":    exitsCommand,
			"refused":  refusedCommand,
			"asked":    askedCommand,
			"types":    typesCommand,
			"model":    modelCommand,
			"models":   modelsCommand,
		},
	}
}

func setupScript(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	env.Setenv("HOME", home)
	env.Setenv("XDG_CONFIG_HOME", "")
	env.Setenv("XDG_RUNTIME_DIR", "")
	env.Setenv("SWARM_STATE_DIR", filepath.Join(env.WorkDir, "state"))
	env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	env.Setenv("TERM", "dumb")
	// Agents of the scripts are shell commands that find their files by these.
	env.Setenv("SWARM_PASS_ENV", "WORK SIGNALS PLACE FILES RUN ONE TWO FIRST SECOND DONE OLD LIVE LATEST DEAD MODEL MODELS SWARMTEST_*")
	env.Defer(func() { endBelow(env.WorkDir) })
	repo := filepath.Join(env.WorkDir, "repo")
	if _, err := os.Stat(repo); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(usersConfig), 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "first"},
	} {
		if out, err := gitIn(repo, env.Vars, args...); err != nil {
			return fmt.Errorf("git %v: %w: %s", args, err, out)
		}
	}
	return nil
}

// gitCommand is `git ARGS…` in the current folder, so that scripts read as a
// user would type.
func gitCommand(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec("git", args...)
	if (err != nil) != neg {
		ts.Fatalf("git %v: %v", args, err)
	}
}

// exitsCommand is `exits CODE COMMAND…`: the command ends with exactly that
// exit code. stdout and stderr hold its output.
func exitsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGUMENT…]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		code, err = ended.ExitCode(), nil
	}
	ts.Check(err)
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("%s ended with %d, want %s", args[1], code, args[0])
	}
}

// refsCommand is `refs DIR FILE`: writes to FILE the state that a user would
// not want changed: refs outside of refs/swarm, HEAD, the index, the stash, the
// configuration, and the working tree.
func refsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: refs DIR FILE")
	}
	dir := ts.MkAbs(args[0])
	var b strings.Builder
	for _, words := range [][]string{
		{"for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags", "refs/remotes", "refs/stash"},
		{"rev-parse", "HEAD"},
		{"symbolic-ref", "-q", "HEAD"},
		{"--no-optional-locks", "ls-files", "--stage", "-v"},
		{"--no-optional-locks", "status", "--porcelain=v1", "-uall"},
		{"stash", "list"},
		{"config", "--local", "--list"},
	} {
		out, _ := gitIn(dir, []string{
			"HOME=" + ts.Getenv("HOME"), "PATH=" + ts.Getenv("PATH"),
		}, words...)
		fmt.Fprintf(&b, "# git %s\n%s", strings.Join(words, " "), out)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o600))
}

// jsonCommand is `json FILE PATH VALUE`: the value at the dotted path in the
// JSON of a file, or of stdout, is VALUE as JSON or as plain text. A number
// in the path is an index; "len" at its end is the length; `agents[id=a3]`
// picks by a member. With `!` the path must not be there.
func jsonCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: json FILE PATH [VALUE]")
	}
	var v any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &v); err != nil {
		ts.Fatalf("json: %v in %q", err, ts.ReadFile(args[0]))
	}
	got, ok := lookUp(v, args[1])
	switch {
	case neg && ok:
		ts.Fatalf("%s is there: %v", args[1], got)
	case neg:
		return
	case !ok:
		ts.Fatalf("%s is not there in %s", args[1], ts.ReadFile(args[0]))
	case len(args) == 2:
		return
	}
	text, err := json.Marshal(got)
	ts.Check(err)
	if s, isText := got.(string); string(text) != args[2] && !(isText && s == args[2]) {
		ts.Fatalf("%s = %s, want %s", args[1], text, args[2])
	}
}

func lookUp(v any, path string) (any, bool) {
	for part := range strings.SplitSeq(path, ".") {
		name, pick, picked := strings.Cut(strings.TrimSuffix(part, "]"), "[")
		if name == "len" {
			list, ok := v.([]any)
			v = float64(len(list))
			if !ok {
				return nil, false
			}
			continue
		}
		if n, err := strconv.Atoi(name); err == nil {
			list, ok := v.([]any)
			if !ok || n >= len(list) {
				return nil, false
			}
			v = list[n]
			continue
		}
		object, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = object[name]; !ok {
			return nil, false
		}
		if picked {
			if v, ok = pickBy(v, pick); !ok {
				return nil, false
			}
		}
	}
	return v, true
}

func pickBy(v any, pick string) (any, bool) {
	key, want, _ := strings.Cut(pick, "=")
	list, _ := v.([]any)
	for _, e := range list {
		if o, ok := e.(map[string]any); ok && fmt.Sprint(o[key]) == want {
			return e, true
		}
	}
	return nil, false
}

// awaitCommand is `await FILE [TEXT]`: waits until the file exists, or holds
// the text. It fails if that never comes, not if it is late.
func awaitCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: await FILE [TEXT]")
	}
	for deadline := time.Now().Add(never); ; {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && (len(args) == 1 || bytes.Contains(text, []byte(args[1]))) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s did not come; it holds %q", args[0], text)
		}
		time.Sleep(10 * time.Millisecond) // a poll, as the doc comment says
	}
}

// nothingCommand is `nothing DIR`: no such folder, or an empty folder.
func nothingCommand(ts *testscript.TestScript, neg bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	empty := errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0
	if empty == neg {
		ts.Fatalf("%s holds %v (%v)", args[0], entries, err)
	}
}

// goneCommand is `gone MARK`: no process has MARK in its command line.
func goneCommand(ts *testscript.TestScript, _ bool, args []string) {
	for deadline := time.Now().Add(never); ; {
		alive := processesWith(args[0])
		if len(alive) == 0 {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("still alive: %v", alive)
		}
		time.Sleep(10 * time.Millisecond) // a poll: the kernel tells nobody
	}
}

// endBelow kills the processes of a script that failed, so that it holds up
// neither the test nor the machine. A script that passes has left none.
func endBelow(dir string) {
	for range 100 { // a supervisor ends its processes in its own time
		any := false
		dirs, _ := filepath.Glob("/proc/[0-9]*")
		for _, proc := range dirs {
			line, err := os.ReadFile(filepath.Join(proc, "cmdline"))
			cwd, _ := os.Readlink(filepath.Join(proc, "cwd"))
			pid, _ := strconv.Atoi(filepath.Base(proc))
			if err == nil && pid != os.Getpid() &&
				(bytes.Contains(line, []byte(dir+"/")) || strings.HasPrefix(cwd+"/", dir+"/")) {
				any = true
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if !any {
			return
		}
		time.Sleep(10 * time.Millisecond) // a poll: the kernel tells nobody
	}
}

func processesWith(mark string) []string {
	var alive []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if filepath.Base(dir) == strconv.Itoa(os.Getpid()) {
			continue
		}
		line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err == nil && bytes.Contains(line, []byte(mark)) {
			alive = append(alive, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return alive
}
