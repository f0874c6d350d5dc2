package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// landed is the branch the demo merges into.
const landed = "landed"

// The checks. Paths are trimmed from Go's build, so that its cache serves every
// workspace. So a package that was tested in a workspace is not tested again
// when all are merged. The user's own flags and workspaces stay out of it.
const (
	verifyPackage = `GOFLAGS= GOWORK=off go test -trimpath "./$SWARM_ITEM"`
	verifyMerged  = `GOFLAGS= GOWORK=off go test -trimpath ./...`
)

// The exit codes of `swarm run` and `swarm merge` as planned: some
// agents failed, and a patch conflicts.
const (
	exitDegraded = 3
	exitConflict = 4
)

// demo is a running demo.
type demo struct {
	env      Env
	request  request
	packages []entry
	repo     repository
	tree     files     // the base of the agents
	before   files     // the checkout, as it was before they started
	run      string    // the id of the run; empty before there is a run
	began    time.Time // when the first file was written
}

// run shows the demo from the first file to the last line.
// The error is a [*DeviationError] where it did not go as planned, and a
// [*StoppedError] where it was stopped.
func run(ctx context.Context, env Env, r request) error {
	d := &demo{env: env, request: r}
	if err := d.prepare(ctx); err != nil {
		return err
	}
	defer d.farewell()
	d.announce()
	var f facts
	if err := d.agents(ctx, &f); err != nil {
		return err
	}
	if err := d.merge(ctx, &f); err != nil {
		return err
	}
	if wrong := d.deviations(&f); len(wrong) > 0 {
		return d.deviated(wrong)
	}
	return d.report(&f)
}

// prepare writes the monorepo and commits it.
func (d *demo) prepare(ctx context.Context) (err error) {
	if d.packages, err = catalogue(d.request.packages); err != nil {
		return err
	}
	if d.tree, err = monorepo(d.packages); err != nil {
		return err
	}
	d.repo = newRepository(d.env.Environ)
	if _, err := d.repo.git.Version(ctx); err != nil {
		return err
	}
	d.began = time.Now()
	d.repo.dir = d.request.dir
	if d.repo.dir == "" {
		d.repo.dir, err = os.MkdirTemp("", "swarm-demo-")
	} else {
		err = os.MkdirAll(d.repo.dir, 0o755)
	}
	if err != nil {
		return fmt.Errorf("make a folder for the monorepo: %w", err)
	}
	if err := d.tree.write(d.repo.dir); err != nil {
		return fmt.Errorf("write the monorepo: %w", err)
	}
	if err := d.repo.create(ctx); err != nil {
		return fmt.Errorf("make %s a repository: %w", d.repo.dir, err)
	}
	if d.before, err = d.repo.checkout(ctx); err != nil {
		return err
	}
	return nil
}

// buildCache returns the folder in which go stores compiled packages.
func buildCache() (string, error) {
	dir := os.Getenv("GOCACHE")
	if !filepath.IsAbs(dir) {
		caches, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find the build cache: %w", err)
		}
		dir = filepath.Join(caches, "go-build")
	}
	return dir, os.MkdirAll(dir, 0o700)
}

// agents runs an agent for each package and records the results.
func (d *demo) agents(ctx context.Context, f *facts) (err error) {
	g, err := openGate(ctx, len(d.packages), d.request.gate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	cache, err := buildCache()
	if err != nil {
		return err
	}
	var out bytes.Buffer
	f.runCode = d.env.Swarm(ctx, d.repo.dir, &out, d.env.Stderr,
		"run", "--each", "packages/*/", "-j", strconv.Itoa(len(d.packages)),
		"--idle-timeout", idleTimeout.String(), "--verify", verifyPackage, "--json",
		// Else there is no way out of the sandbox to the gate, and each agent
		// would compile the standard library for itself.
		"--write", filepath.Dir(g.Path), "--write", cache,
		"--", d.env.Self, agentCommand, g.Path, "{item}")
	f.peak = g.Peak()
	made, err := readReport(out.Bytes())
	d.run = made.Run
	if stopped(ctx, f.runCode) {
		return &StoppedError{Code: f.runCode, Cause: context.Cause(ctx)}
	}
	if err != nil {
		return fmt.Errorf("swarm run (exit %d): %w", f.runCode, err)
	}
	if f.peak < len(d.packages) {
		return &DeviationError{
			Text: fmt.Sprintf("only %d of %d agents were alive at once", f.peak, len(d.packages)),
			Help: fmt.Sprintf("the machine did not start them within %s; try fewer with --packages", d.request.gate),
		}
	}
	return nil
}

// merge lands the patches that can land and reads back the state of the run.
func (d *demo) merge(ctx context.Context, f *facts) (err error) {
	var out bytes.Buffer
	f.mergeCode = d.env.Swarm(ctx, d.repo.dir, &out, d.env.Stderr,
		"merge", d.run, "--into", landed, "--verify", verifyMerged, "--json")
	if stopped(ctx, f.mergeCode) {
		return &StoppedError{Code: f.mergeCode, Cause: context.Cause(ctx)}
	}
	out.Reset()
	code := d.env.Swarm(ctx, d.repo.dir, &out, d.env.Stderr, "status", d.run, "--json")
	if f.run, err = readReport(out.Bytes()); err != nil {
		return fmt.Errorf("swarm status (exit %d): %w", code, err)
	}
	if f.checkout, err = d.repo.checkout(ctx); err != nil {
		return err
	}
	f.landed, err = d.repo.tree(ctx, landed)
	return err
}

// report is the part of a run's `swarm status --json` that matters.
type report struct {
	Schema  string        `json:"schema"`
	Run     string        `json:"run"`
	Status  string        `json:"status"`
	Error   *reportError  `json:"error"`
	Agents  []reportAgent `json:"agents"`
	Landing struct {
		Conflicts []reportConflict `json:"conflicts"`
	} `json:"landing"`
}

type reportError struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

type reportAgent struct {
	ID       string       `json:"id"`
	Item     string       `json:"item"`
	Status   string       `json:"status"`
	Error    *reportError `json:"error"`
	Changed  bool         `json:"changed"`
	Verified *bool        `json:"verified"`
}

type reportConflict struct {
	Agent string   `json:"agent"`
	With  string   `json:"with"`
	Paths []string `json:"paths"`
}

// readReport reads a run object. Whatever is no run object is an error.
func readReport(text []byte) (report, error) {
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("read its JSON: %w", err)
	}
	switch {
	case r.Schema == "swarm.error/1" && r.Error != nil:
		return r, errors.New(r.Error.Message)
	case r.Schema != "swarm.run/1" || r.Run == "":
		return r, fmt.Errorf("read its JSON: schema %q of run %q, want swarm.run/1", r.Schema, r.Run)
	}
	return r, nil
}

// stopped reports whether a command ended because somebody wanted it to.
func stopped(ctx context.Context, code int) bool {
	return ctx.Err() != nil || code == 130 || code == 143
}

// deviated prints the deviations from the plan, each on a line.
func (d *demo) deviated(wrong []string) error {
	fmt.Fprintln(d.env.Stderr, "\nThis is not as planned:")
	for _, line := range wrong {
		fmt.Fprintln(d.env.Stderr, " ", line)
	}
	text := "1 difference"
	if len(wrong) > 1 {
		text = fmt.Sprintf("%d differences", len(wrong))
	}
	return &DeviationError{
		Text: text,
		Help: fmt.Sprintf("see every agent with: %s -C %s status", d.env.Calls, quote(d.repo.dir)),
	}
}

// StoppedError says that somebody stopped the demo.
type StoppedError struct {
	Code  int   // the exit code of the stopped command
	Cause error // nil where only the exit code says so
}

func (e *StoppedError) Error() string { return "the demo was stopped" }
func (e *StoppedError) Unwrap() error { return e.Cause }

// ExitCode passes on how the command was stopped.
func (e *StoppedError) ExitCode() int {
	if e.Code == 143 {
		return 143
	}
	return 130
}

// DeviationError says that something did not happen as planned.
type DeviationError struct{ Text, Help string }

func (e *DeviationError) Error() string { return "the demo did not go as planned: " + e.Text }

// Hint returns a suggestion.
func (e *DeviationError) Hint() string { return e.Help }

// ExitCode is that of a swarm that did not do its job.
func (e *DeviationError) ExitCode() int { return 1 }
