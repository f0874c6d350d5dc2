// Package bench measures the cost of swarm beside plain git and plain commands
// that do the same, on a throw-away clone of a repository, in a single run.
//
// It owns the steps, their order, the scaling, and the goals. It does not put
// swarm together, which [Request.Open] does as for a real run. It prints only a
// line for each step it begins. A goal that is missed is reported and is no
// error.
package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// Request describes the measurement, and its place.
type Request struct {
	Repo    *git.Repo // required; only read
	Dir     string    // required; a folder for the clone and all else is made in it
	Environ []string  // of the caller
	Agents  int       // required
	Sample  int       // required: rounds of each step, and how many of the slow ones are run
	Only    worktree.Backend
	Keep    bool // leave the folder
	// Keeper has each git end with this process.
	Keeper git.Keeper
	// Open puts swarm together for a clone. Required.
	Open func(context.Context, Clone) (Product, error)
	// Say gets a line for each step. Required.
	Say func(string)
}

// Clone is where a product is to work.
type Clone struct {
	Dir     string   // the checkout
	Environ []string // all of it
	Backend worktree.Backend
}

// RefusedError says that a bench cannot be run here.
type RefusedError struct{ Text, Advice string }

func (e *RefusedError) Error() string { return e.Text }

// Hint returns the right form.
func (e *RefusedError) Hint() string { return e.Advice }

// bench is a running measurement.
type bench struct {
	Request
	*ground
	fields []*field // the backends that work, the cheapest first
	report Report
}

// field is a backend with its tools of measurement.
type field struct {
	backend worktree.Backend
	product Product
}

// sampled reports whether a backend is too slow to do all there is to do.
func (f *field) sampled() bool { return f.backend == worktree.Linked }

// Run measures. All that it makes is gone when it returns, whatever ends it.
func Run(ctx context.Context, r Request) (_ *Report, err error) {
	g, err := newGround(ctx, r)
	if err != nil {
		return nil, err
	}
	defer func() {
		if !r.Keep {
			err = errors.Join(err, worktree.RemoveAll(g.dir))
		}
	}()
	b := &bench{Request: r, ground: g}
	if err := g.fill(ctx, r); err != nil {
		return nil, fmt.Errorf("make a clone to work on: %w", err)
	}
	b.report = Report{
		Schema: "swarm.bench/1", Repository: r.Repo.Name(), Commit: string(g.base), Files: g.count, Size: g.size,
		Agents: r.Agents, Sample: r.Sample, Cores: runtime.NumCPU(), Load: load(), Git: g.version,
		System: runtime.GOOS + "/" + runtime.GOARCH, Rows: []Row{}, Passed: []Passed{}, Commands: g.paste(r),
	}
	if r.Keep {
		b.report.Dir = g.dir
	}
	for _, step := range []func(context.Context) error{
		b.open, b.create, b.capture, b.merge, b.ends,
	} {
		if err := step(ctx); err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return nil, err
		}
	}
	return &b.report, nil
}

// open finds out which backends work. Each has a state of its own, so that
// the first workspace of each is made without anything there.
func (b *bench) open(ctx context.Context) error {
	for _, backend := range worktree.Backends() {
		if b.Only != "" && b.Only != backend {
			continue
		}
		product, err := b.Open(ctx, Clone{Dir: b.repo.TopLevel, Environ: b.environ(backend), Backend: backend})
		var not *NotHereError
		switch {
		case errors.As(err, &not) && b.Only != "":
			return &RefusedError{Text: fmt.Sprintf("--backend %s: %s", backend, not.Reason)}
		case errors.As(err, &not):
			b.report.Passed = append(b.report.Passed, Passed{Backend: string(backend), Reason: not.Reason})
		case err != nil:
			return err
		default:
			b.fields = append(b.fields, &field{backend: backend, product: product})
		}
	}
	if len(b.fields) == 0 {
		return &RefusedError{Text: "no backend works here"}
	}
	return nil
}

// each does something for each backend.
func (b *bench) each(do func(*field) error) error {
	for _, f := range b.fields {
		if err := do(f); err != nil {
			return fmt.Errorf("backend %s: %w", f.backend, err)
		}
	}
	return nil
}

// progress announces a step.
func (b *bench) progress(format string, args ...any) { b.Say(fmt.Sprintf(format, args...)) }
