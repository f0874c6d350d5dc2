package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

const (
	againstDiff = "git add -A && git diff"
	// small is how many files a small change has.
	small = 5
)

// change is a script that adds a line to each of the files it is given.
const change = `for f; do echo "swarm bench" >> "$f"; done`

// capture measures how the change of a few files becomes a patch.
func (b *bench) capture(ctx context.Context) (err error) {
	b.progress("captures")
	var diffs rounds
	captures := map[*field]*rounds{}
	stays := map[*field]*stay{}
	defer func() {
		for _, s := range stays {
			err = errors.Join(err, s.end(context.WithoutCancel(ctx)))
		}
	}()
	err = b.each(func(f *field) (err error) {
		captures[f] = &rounds{}
		stays[f], err = b.stay(ctx, f)
		return err
	})
	if err != nil {
		return err
	}
	for i := range b.Sample + 1 {
		if i == 1 { // the first of each was to warm up
			diffs = nil
			for _, r := range captures {
				*r = nil
			}
		}
		if err := b.diffPlain(ctx, &diffs); err != nil {
			return err
		}
		err := b.each(func(f *field) error { return stays[f].capture(ctx, i, captures[f]) })
		if err != nil {
			return err
		}
	}
	for _, f := range b.fields {
		b.add(Row{
			Step: StepCapture, Backend: string(f.backend), Against: againstDiff,
			Baseline: diffs.figure(1, 1), Swarm: captures[f].figure(1, 1),
		})
	}
	return nil
}

// few are the files of a small change.
func (g *ground) few() []string { return g.files[:min(small, len(g.files))] }

// diffPlain makes the change in the baseline's worktree and measures how git
// writes it down.
func (b *bench) diffPlain(ctx context.Context, took *rounds) error {
	for _, file := range b.few() {
		if err := appendLine(filepath.Join(b.plain.TopLevel, file)); err != nil {
			return err
		}
	}
	out, err := os.Create(filepath.Join(b.dir, "patch"))
	if err != nil {
		return err
	}
	err = took.time(func() error {
		if err := b.run(ctx, b.plain, "add", "-A"); err != nil {
			return err
		}
		_, err := b.plain.Run(ctx, git.Cmd{Args: []string{"diff", "--cached", "--binary", "--no-ext-diff", string(b.base)}, Stdout: out})
		return err
	})
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	return b.reset(ctx)
}

func appendLine(path string) (err error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, line)
	return errors.Join(err, f.Close())
}

// stay is a workspace that is used for a while.
type stay struct {
	*bench
	*Shift
	*place
}

func (b *bench) stay(ctx context.Context, f *field) (*stay, error) {
	s := &stay{bench: b}
	var err error
	if s.Shift, err = f.product.Shift(ctx); err != nil {
		return s, err
	}
	s.place, err = s.lease(ctx, worktree.LeaseRequest{Name: name(0), Base: b.base, Backend: f.backend})
	return s, err
}

// end leaves it.
func (s *stay) end(ctx context.Context) error {
	if s == nil || s.Shift == nil {
		return nil
	}
	return errors.Join(s.drop(ctx, s.place), s.Close())
}

// capture makes the change in the sandbox and measures its capture.
func (s *stay) capture(ctx context.Context, round int, took *rounds) error {
	argv := slices.Concat([]string{"sh", "-c", change, "sh"}, s.few())
	if err := s.Shift.run(ctx, s.place, argv...); err != nil {
		return err
	}
	var got *worktree.Capture
	err := took.time(func() (err error) {
		got, err = s.Trees.Capture(ctx, s.captureRequest(s.place, round))
		return err
	})
	if err == nil && len(got.Files) != len(s.few()) {
		err = fmt.Errorf("%d files were captured of %d", len(got.Files), len(s.few()))
	}
	return err
}

// hash returns the hash in the output of git.
func hash(out []byte) git.Hash { return git.Hash(bytes.TrimSpace(out)) }
