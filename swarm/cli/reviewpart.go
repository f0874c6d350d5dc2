package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/captureref"
	reviewpart "agentswarm/swarm/review/part"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// partAction makes a patch of its own from the accepted edits of each agent that
// is named.
func (p *place) partAction(c *cli.Context, s *selection) error {
	if err := p.personal("making patches"); err != nil {
		return err
	}
	var err error
	if s.view, err = s.run.View(); err != nil { // with the verdicts of this command
		return err
	}
	r, err := p.reviewOfRun(c.Context, s)
	if err != nil {
		return err
	}
	for _, named := range distinct(s.named) {
		a := s.view.Agent(named.ID)
		if patchOf(a) == nil {
			return usagef("accept: %s", noPatch(a))
		}
		edits, taken, err := r.Part(a.ID)
		if err != nil {
			return usagef("accept: %v", err)
		}
		name, err := p.makePart(c.Context, s.run, a, reviewpart.Request{Edits: edits, Taken: taken})
		if err != nil {
			return partRefused(err)
		}
		fmt.Fprintf(p.env.Stdout, "%s/%s: a patch of %d of the %d edits of %s; no check has run on it\n", s.run.ID, name, len(taken), len(edits), a.ID)
		fmt.Fprintf(p.env.Stdout, "merge it with: %s merge %s/%s --verify COMMAND\n", p.env.Calls, s.run.ID, name)
	}
	return nil
}

// partRefused is an error about a file that cannot be taken apart.
func partRefused(err error) error {
	if whole, ok := errors.AsType[*reviewpart.WholeError](err); ok {
		return usagef("accept: %v", whole)
	}
	return err
}

// makePart keeps a part of an agent's patch as a copy of its work, and names it.
func (p *place) makePart(ctx context.Context, run *store.Run, a *store.Agent, r reviewpart.Request) (name string, err error) {
	refs, err := p.repo.RefsUnder(ctx, captureref.Copies(run.ID))
	if err != nil {
		return "", err
	}
	c, err := run.NewCopy(a.ID, func(n int) (bool, error) {
		of := store.Copy{Run: run.ID, Agent: a.ID, N: n}
		ref := captureref.Copies(run.ID) + of.Name()
		return refs[ref] != "" || refs[captureref.Head(ref)] != "" || exists(copyFolder(run, &of)), nil
	})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, c.Remove()) }()
	r.Base, r.Commit = git.Hash(patchOf(a).Base), git.Hash(patchOf(a).Commit)
	r.Message = fmt.Sprintf("a part of %s, attempt %d of run %s: %d of %d edits\n", a.ID, a.Attempt, run.ID, len(r.Taken), len(r.Edits))
	r.Person = git.Swarm(time.Now())
	if r.Quarantine, err = p.repo.Thaw(run.Frozen()).Quarantine(filepath.Join(c.Dir, "objects")); err != nil {
		return "", err
	}
	commit, err := reviewpart.Commit(ctx, r)
	if err != nil {
		return "", err
	}
	if err := p.keepPart(ctx, copyFolder(run, c), r, commit); err != nil {
		return "", err
	}
	return c.Name(), r.Quarantine.Publish(ctx, git.PublishRequest{
		Refs: []git.RefUpdate{{Ref: captureref.Copies(run.ID) + c.Name(), New: commit}}, Have: []git.Hash{r.Base},
		Message: "swarm accept " + c.Name(),
	})
}

// partMark is the file that tells a part from a copy that a person worked in.
func partMark(folder string) string { return filepath.Join(folder, "part") }

// markPart marks the folder of a copy as that of a part.
func markPart(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return os.WriteFile(partMark(folder), nil, 0o600)
}

// refuseRejected refuses parts with an edit that a person rejected since.
func (p *place) refuseRejected(ctx context.Context, verb string, s *selection, works []*store.Agent) error {
	var r *runReview
	for _, a := range works {
		if !a.Partial {
			continue
		}
		if r == nil {
			var err error
			if r, err = p.reviewOfRun(ctx, s); err != nil {
				return err
			}
		}
		files, err := p.patchFiles(ctx, a, patchOf(a))
		if err != nil {
			return err
		}
		if rejected := r.RejectedIn(a.ID, files); len(rejected) > 0 {
			return &UsageError{
				Text:   fmt.Sprintf("%s: %s holds an edit that was rejected: %s", verb, copyName(a.ID, a.Copy), Printable(rejected[0].Place().String())),
				Advice: fmt.Sprintf("accept that edit again, or make a new part with `%s accept %s/%s --part`", p.env.Calls, s.run.ID, a.ID),
			}
		}
	}
	return nil
}

// keepPart writes the patch file of a part, and its mark.
func (p *place) keepPart(ctx context.Context, folder string, r reviewpart.Request, commit git.Hash) error {
	if err := markPart(folder); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(folder, "patch"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(r.Quarantine.WritePatch(ctx, f, r.Base, commit), f.Close())
}
