package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"agentswarm/merge"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

func newApplyCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:      "apply",
		Usage:     "put patches into the working tree, without a commit",
		ArgsUsage: "[AGENT… | -]",
		Flags:     append([]cli.Flag{jsonFlag()}, endedFlags()...),
		Description: `Changes the files of the checkout you are in by the patches of agents. Nothing
is committed or staged. It refuses if a file that a patch touches has changes
of yours, and two patches that change one file. It stops at the first patch that does
not fit; undo takes back one patch at a time. With --json, one object a line.

Examples:
  swarm apply a3
  swarm apply a3 a5
  swarm apply --verified
  swarm apply k3x9q2/packages/foo`,
		Action: func(c *cli.Context) error { return applyAction(c, env) },
	}
}

// movedObject is swarm.apply/1 and swarm.undo/1, described in docs/json.md.
type movedObject struct {
	Schema string    `json:"schema"`
	Run    string    `json:"run"`
	ID     int       `json:"id"`
	Verb   string    `json:"verb,omitempty"` // what an undo took back
	Ref    string    `json:"ref,omitempty"`
	Commit string    `json:"commit,omitempty"` // where an undo put the branch
	Agents []task.ID `json:"agents"`
	Paths  []string  `json:"paths,omitempty"`
}

func applyAction(c *cli.Context, env Env) error {
	p, s, err := openSelection(c, env, 0, -1)
	if err != nil {
		return err
	}
	if err := p.refuseRejected(c.Context, "apply", s, s.named); err != nil {
		return err
	}
	if p.repo.Bare() {
		return usagef("apply: a bare repository has no working tree")
	}
	s.keepMergeable(func(a *store.Agent) bool { return !a.Landed() })
	if err := s.nonePicked("apply"); err != nil {
		return err
	}
	agents := distinct(s.named)
	if len(agents) == 0 || !s.onlyAgents() {
		a, err := s.one("apply")
		if err != nil {
			return err
		}
		agents = []*store.Agent{a}
	}
	if err := p.checkApart(c.Context, agents); err != nil {
		return err
	}
	for _, a := range agents {
		o, err := p.applyOwned(c.Context, s, a)
		if err != nil {
			return p.misfit(c.Context, s, a, err)
		}
		if c.Bool("json") {
			err = printJSON(env.Stdout, o)
		} else {
			_, err = fmt.Fprintf(env.Stdout, "applied %s: %s\n", a.ID, Count(len(o.Paths), "file", "files"))
		}
		if err != nil {
			return err
		}
	}
	if c.Bool("json") {
		return nil
	}
	times := ""
	if len(agents) > 1 {
		times = ", one patch at a time"
	}
	_, err = fmt.Fprintf(env.Stdout, "take it back with: %s undo %s%s\n", env.Calls, s.run.ID, times)
	return err
}

// checkApart refuses agents without a patch, and patches that change one file: the
// second would meet the changes of the first.
func (p *place) checkApart(ctx context.Context, agents []*store.Agent) error {
	var patches []landing.Changed
	for _, a := range agents {
		if patchOf(a) == nil {
			return usagef("apply: %s", noPatch(a))
		}
		if len(agents) == 1 {
			return nil
		}
		changes, err := p.agentPatches().Changes(ctx, a)
		if err != nil {
			return err
		}
		patches = append(patches, landing.Changed{Agent: a.ID, Changes: changes})
	}
	if both := landing.FindOverlap(patches); both != nil {
		return &UsageError{
			Text:   fmt.Sprintf("apply: %s and %s both change %s", both.First, both.Second, both.Path),
			Advice: "merge joins changes of one file; apply takes patches that change different files",
		}
	}
	return nil
}

// applyOwned applies the patch of one agent, and records it in the run.
func (p *place) applyOwned(ctx context.Context, s *selection, a *store.Agent) (*movedObject, error) {
	owner, err := p.own(ctx, s.run)
	if err != nil {
		return nil, err
	}
	o, err := p.apply(ctx, s, a, owner)
	return o, errors.Join(err, owner.Close())
}

func (p *place) apply(ctx context.Context, s *selection, a *store.Agent, owner *store.Owner) (*movedObject, error) {
	b, err := p.bench(ctx, s.run, owner)
	if err != nil {
		return nil, err
	}
	v := store.Fold(s.view.Identity, owner.Records)
	if err := b.settleLandings(ctx, v); err != nil {
		return nil, err
	}
	changes, err := p.agentPatches().Changes(ctx, a)
	if err != nil {
		return nil, err
	}
	text, err := p.patchText(ctx, s.run, a)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	intent := &event.Intended{
		ID: len(v.Landings) + 1, Verb: verbApply, Dirs: []string{p.repo.TopLevel}, Agents: []task.ID{a.ID}, Attempt: a.Attempt,
	}
	if a.Copy > 0 {
		intent.Copies = []string{copyName(a.ID, a.Copy)}
		if a.Partial {
			intent.Parts = intent.Copies
		}
	}
	journaled := false
	applied, err := merge.Apply(ctx, merge.ApplyRequest{
		Repo: p.repo, File: patchOf(a).File, Text: text, Changes: changes, Record: b.record(intent.ID),
		Journal: func() error {
			journaled = true
			_, err := owner.Append(intent)
			return err
		},
	})
	if !journaled {
		return nil, refusedApply(err)
	}
	end := &event.Landed{ID: intent.ID}
	o := &movedObject{Schema: "swarm.apply/1", Run: s.run.ID, ID: intent.ID, Agents: intent.Agents}
	if err == nil {
		end.Files = sumsOf(applied.Files)
		for _, f := range applied.Files {
			o.Paths = append(o.Paths, f.Path)
		}
	}
	return o, b.journalEnd(end, err)
}

// pathKey is a path as the journal keeps it: JSON holds no bytes that are not
// UTF-8, so such a name is quoted, and so is one that looks quoted.
func pathKey(path string) string {
	if utf8.ValidString(path) && !strings.HasPrefix(path, `"`) {
		return path
	}
	return strconv.Quote(path)
}

// pathOf is the path of a key.
func pathOf(key string) (string, error) {
	if !strings.HasPrefix(key, `"`) {
		return key, nil
	}
	return strconv.Unquote(key)
}

// refusedApply gives a patch that does not go onto the files the code of a
// conflict, and files that are in the way that of a refusal.
func refusedApply(err error) error {
	var misfit *git.PatchError
	var modules *merge.SubmoduleError
	var sparse *merge.SparseError
	switch {
	case errors.As(err, &misfit):
		return &ExitError{Code: CodeConflict, Err: err}
	case errors.As(err, &modules), errors.As(err, &sparse):
		return refused(err)
	default:
		return refusedMove(err)
	}
}
