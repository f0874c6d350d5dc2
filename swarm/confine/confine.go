// Package confine runs commands of swarm's own git in a sandbox, if they start filters
// that read files of agents. The sandbox is that of the run's agents.
package confine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/box"
	"agentswarm/swarm/control"
	"agentswarm/swarm/privatehome"
	"agentswarm/swarm/proc"
	"agentswarm/worktree/git"
)

// Sandbox is the sandbox that a machine allows.
type Sandbox struct {
	Level    box.Level
	Why      error          // why there is no better level; nil: it is the best
	Launcher *proc.Launcher // starts supervisors in it
}

// Runner runs such commands for a run.
type Runner struct {
	Run    string
	Repo   *git.Repo // required
	Root   string    // user's checkout, or the bare repository; read only
	State  string    // state folder of all repositories, which is hidden
	Getenv func(string) string
	Hide   []string // paths that the run hides
	Write  []string // folders that the run lets agents write to
	Pass   []string // patterns of variables that agents get
	// Home makes a HOME for a single command at a path, where the sandbox
	// cannot mount over the user's HOME. It returns the HOME's variables as
	// KEY=VALUE. Required.
	Home func(path string) (env []string, err error)
	// Find returns the sandbox. It is called for each command.
	Find func(context.Context) (Sandbox, error) // required
}

// Start runs a command to its end. It implements [git.Confine].
func (r *Runner) Start(ctx context.Context, q git.ConfineRequest) (code int, err error) {
	around, err := r.Find(ctx)
	if err != nil {
		return -1, err
	}
	view := r.view(around)
	var home []string
	if view == box.Apart && around.Level != box.None {
		if home, err = r.home(q.Private); err != nil {
			return -1, err
		}
	}
	walls, err := r.sandbox(around, view, q)
	if err != nil {
		return -1, err
	}
	env, err := r.environ(around, home, q)
	if err != nil {
		return -1, err
	}
	p, err := around.Launcher.Start(ctx, proc.Spec{
		Run: r.Run, Argv: q.Argv, Env: env, Dir: q.Dir, Sandbox: walls,
		Stdin: q.Stdin, Stdout: q.Stdout, Stderr: q.Stderr,
	})
	if err != nil {
		return -1, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(ctx, p.Stop)
	pid, _ := p.Started()
	watched := r.Repo.WatchFilters(ctx, cancel, pid)
	exit := p.Wait()
	watched()
	stop()
	var hung *git.HungFilterError
	switch {
	case errors.As(context.Cause(ctx), &hung):
		return -1, hung
	case exit.Reason != proc.Exited:
		return -1, errors.New(exit.Words())
	case exit.Signal != "":
		return -1, nil
	default:
		return exit.Code, nil
	}
}

// view is the view of HOME. A file system may be mounted in HOME at any time.
func (r *Runner) view(around Sandbox) box.View {
	if around.Level.Overlay() && box.MountsBelow(r.Getenv("HOME"), r.State) != nil {
		return box.Apart
	}
	return box.ViewIn(around.Level, around.Why)
}

// home makes a HOME at a path of its own, and returns its variables.
func (r *Runner) home(private string) ([]string, error) {
	if err := os.MkdirAll(private, 0o700); err != nil {
		return nil, fmt.Errorf("make a private HOME: %w", err)
	}
	return r.Home(box.HomeOf(private))
}

// sandbox returns the sandbox of an agent of the run, with the repository and the folders
// of the command in it.
func (r *Runner) sandbox(around Sandbox, view box.View, q git.ConfineRequest) (json.RawMessage, error) {
	pieces := []box.Piece{{At: r.Root, From: r.Root}}
	for _, dir := range q.Read {
		if dir != r.Root {
			pieces = append(pieces, box.Piece{At: dir, From: dir})
		}
	}
	for _, dir := range q.Write {
		pieces = append(pieces, box.Piece{At: dir, From: dir, Write: true})
	}
	plain := ""
	if around.Level.Namespaces() {
		plain = filepath.Join(q.Private, "plain")
		if err := privatehome.WritePlain(r.Getenv("HOME"), r.Getenv, plain); err != nil {
			return nil, err
		}
	}
	w, err := box.Compose(around.Level, false, box.Place{
		Pieces: pieces, State: r.State, Home: r.Getenv("HOME"),
		Private: q.Private, Sockets: control.Folders(r.Getenv), Getenv: r.Getenv,
		Plain: plain, PlainFiles: privatehome.PlainFiles(plain), Secret: privatehome.GitIncludes(r.Getenv("HOME"), r.Getenv),
		Hide: r.Hide, Write: r.Write, View: view,
		Programs: slices.Concat(filepath.SplitList(r.Getenv("PATH")), q.Programs),
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(w)
}

// environ returns the environment of an agent, with the variables of git and those of
// its HOME.
func (r *Runner) environ(around Sandbox, home []string, q git.ConfineRequest) ([]string, error) {
	at := agent.Place{Run: r.Run, Worktree: q.Dir, Root: r.Root, Pass: r.Pass, Env: home}
	switch around.Level {
	case box.None:
	case box.Landlock: // it may close /tmp
		at.Tmp = box.TmpOf(q.Private)
	default:
		at.Tmp = "/tmp"
	}
	env, err := agent.Environ(q.Env, agent.Inline(), at)
	for _, kv := range q.Env {
		if strings.HasPrefix(kv, "GIT_") {
			env = append(env, kv)
		}
	}
	global := func(kv string) bool { return strings.HasPrefix(kv, "GIT_CONFIG_GLOBAL=") }
	if err != nil || around.Level != box.Landlock || slices.ContainsFunc(env, global) {
		return env, err
	}
	// Git would stop at a hidden file that its configuration includes.
	config := filepath.Join(at.Tmp, "gitconfig")
	if err := os.WriteFile(config, privatehome.FlatGit(r.Getenv("HOME"), r.Getenv), 0o600); err != nil {
		return nil, fmt.Errorf("copy the configuration of git without credentials: %w", err)
	}
	return append(env, "GIT_CONFIG_GLOBAL="+config), nil
}
