package git

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// MinVersion is the oldest supported git: merge-tree --write-tree came with
// 2.38, and stable distributions carry 2.39.
const MinVersion = "2.39"

// Repo is a repository, seen from the folder it was found from.
type Repo struct {
	*Git
	// CommonDir is the git dir that all linked worktrees share.
	CommonDir string
	// GitDir is the git dir of this checkout; CommonDir unless it is linked.
	GitDir string
	// TopLevel is the root of the checkout, empty in a bare repository.
	TopLevel string
	// Prefix is the folder we are in, relative to TopLevel, with a trailing
	// slash; empty at the top.
	Prefix string
	// ObjectFormat is sha1 or sha256.
	ObjectFormat string

	own  *refStore // nil: no results are kept
	memo *memo     // nil: nothing is kept
}

// VersionError says that the git binary is older than [MinVersion].
type VersionError struct{ Have string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("git %s is too old: swarm needs git %s or later", e.Have, MinVersion)
}

// MissingError says that there is no git binary on PATH.
type MissingError struct{ Err error }

func (e *MissingError) Error() string { return "git is not on PATH: " + e.Err.Error() }
func (e *MissingError) Unwrap() error { return e.Err }

// Version is the version of the git binary, as in "2.39.5".
func (g *Git) Version(ctx context.Context) (string, error) {
	out, err := g.Run(ctx, Cmd{Args: []string{"version"}})
	var bad *Error
	switch {
	case errors.As(err, &bad):
		return "", err
	case err != nil && ctx.Err() == nil:
		return "", &MissingError{Err: err}
	case err != nil:
		return "", err
	}
	fields := strings.Fields(string(out))
	if len(fields) < 3 {
		return "", fmt.Errorf("read the version of git from %q", out)
	}
	return fields[2], nil
}

// Discover finds the repository that dir is in.
// The error is a [*NotRepoError], [*VersionError] or [*MissingError] where it
// is the user's to mend.
func (g *Git) Discover(ctx context.Context, dir string) (*Repo, error) {
	r, have, err := g.look(ctx, dir)
	if have == "" {
		var versionErr error
		if have, versionErr = g.Version(ctx); versionErr != nil {
			return nil, versionErr
		}
	}
	if older(have, MinVersion) {
		return nil, &VersionError{Have: have}
	}
	if err != nil {
		return nil, err
	}
	for _, p := range []*string{&r.CommonDir, &r.GitDir, &r.TopLevel} {
		if *p == "" {
			continue
		}
		if *p, err = filepath.EvalSymlinks(*p); err != nil {
			return nil, fmt.Errorf("resolve %s: %w", *p, err)
		}
	}
	r.memo = newMemo()
	g.common.Store(&r.CommonDir)
	if !older(have, configHooks) {
		err = g.findHooks(ctx, r)
	}
	return r, err
}

// look asks git for all paths of the repository at once. If a path holds a
// newline, so that lines are ambiguous, or there is no checkout, it asks in
// separate calls. The version of git is empty if git did not tell it.
func (g *Git) look(ctx context.Context, dir string) (r *Repo, version string, err error) {
	out, version, err := g.runTraced(ctx, Cmd{Dir: dir, Args: []string{
		"rev-parse", "--path-format=absolute", "--git-common-dir", "--git-dir", "--show-object-format",
		"--is-inside-work-tree", "--show-toplevel", "--show-prefix",
	}})
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if err == nil && len(lines) == 6 && lines[3] == "true" {
		return &Repo{
			Git: g, CommonDir: lines[0], GitDir: lines[1], ObjectFormat: lines[2], TopLevel: lines[4], Prefix: lines[5],
		}, version, nil
	}
	r, err = g.lookApart(ctx, dir)
	return r, version, err
}

// runTraced runs git and returns its version as well: the first event of its trace
// has it (git(1), GIT_TRACE2_EVENT). The version is empty where there is no trace.
func (g *Git) runTraced(ctx context.Context, c Cmd) (out []byte, version string, err error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, "", fmt.Errorf("run git %s: %w", c.Args[0], err)
	}
	told := make(chan string, 1)
	go func() {
		var event struct{ Event, Exe string }
		err := json.NewDecoder(io.LimitReader(read, maxEvent)).Decode(&event)
		_, copyErr := io.Copy(io.Discard, read) // or git would wait
		if err != nil || copyErr != nil || event.Event != "version" {
			event.Exe = ""
		}
		told <- event.Exe
	}()
	c.Hold, c.Env = write, append(slices.Clone(c.Env), "GIT_TRACE2_EVENT=3")
	out, err = g.Run(ctx, c)
	_ = write.Close() // this process wrote no byte to it
	version = <-told
	_ = read.Close() // it was only read
	return out, version, err
}

// maxEvent bounds the first event of a trace, in bytes.
const maxEvent = 64 << 10

// lookApart asks git in separate calls.
func (g *Git) lookApart(ctx context.Context, dir string) (*Repo, error) {
	ask := func(what ...string) (string, error) {
		out, err := g.Run(ctx, Cmd{Dir: dir, Args: append([]string{"rev-parse"}, what...)})
		return strings.TrimSuffix(string(out), "\n"), err
	}
	common, err := ask("--path-format=absolute", "--git-common-dir")
	var bad *Error
	if errors.As(err, &bad) {
		return nil, notRepo(dir, bad.Stderr)
	}
	if err != nil {
		return nil, fmt.Errorf("find the repository of %s: %w", dir, err)
	}
	r := &Repo{Git: g, CommonDir: common}
	if r.GitDir, err = ask("--path-format=absolute", "--git-dir"); err != nil {
		return nil, err
	}
	if r.ObjectFormat, err = ask("--show-object-format"); err != nil {
		return nil, err
	}
	inside, err := ask("--is-inside-work-tree")
	if err != nil || inside != "true" {
		return r, err
	}
	if r.TopLevel, err = ask("--path-format=absolute", "--show-toplevel"); err != nil {
		return nil, err
	}
	r.Prefix, err = ask("--show-prefix")
	return r, err
}

// Name is a person's name for the repository: the folder of its checkout.
func (r *Repo) Name() string {
	name := filepath.Base(r.CommonDir)
	if name == ".git" {
		name = filepath.Base(filepath.Dir(r.CommonDir))
	}
	return strings.TrimSuffix(name, ".git")
}

// Bare reports whether we are in no checkout.
func (r *Repo) Bare() bool { return r.TopLevel == "" }

// Run runs git on this repository, from its checkout if there is one. It passes
// the git dir and never searches it again: files between it and the working
// directory may change during the run.
func (r *Repo) Run(ctx context.Context, c Cmd) ([]byte, error) {
	env := []string{"GIT_DIR=" + r.GitDir}
	if r.TopLevel != "" {
		env = append(env, "GIT_WORK_TREE="+r.TopLevel)
	}
	if c.Dir == "" {
		c.Dir = r.CommonDir
		if r.TopLevel != "" {
			c.Dir = r.TopLevel
		}
	}
	c.Env = append(env, c.Env...)
	return r.Git.Run(ctx, c)
}

// line runs git and returns its single line of output.
func (r *Repo) line(ctx context.Context, args ...string) (string, error) {
	out, err := r.Run(ctx, Cmd{Args: args})
	return strings.TrimSuffix(string(out), "\n"), err
}

// older reports whether version a comes before b. Parts that are not
// numbers ("2.39.5.windows.1", "rc1") end the comparison.
func older(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range bs {
		if i >= len(as) {
			return true
		}
		x, errX := strconv.Atoi(as[i])
		y, errY := strconv.Atoi(bs[i])
		if errX != nil || errY != nil {
			return false
		}
		if x != y {
			return x < y
		}
	}
	return false
}
