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
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

func newApplyCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:      "apply",
		Usage:     "put one patch into the working tree, without a commit",
		ArgsUsage: "[AGENT]",
		Flags:     []cli.Flag{jsonFlag()},
		Description: `Changes the files of the checkout you are in by the patch of one agent. Nothing
is committed or staged. It refuses if a file that the patch touches has changes
of yours; undo takes it back.

Examples:
  swarm apply a3
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
	addresses, err := arguments(c, 0, 1)
	if err != nil {
		return err
	}
	p, err := openPlace(c, env)
	if err != nil {
		return err
	}
	if p.repo.Bare() {
		return usagef("apply: a bare repository has no working tree")
	}
	s, err := p.selectAttempts(c.Context, addresses)
	if err != nil {
		return err
	}
	a, err := s.one("apply")
	if err != nil {
		return err
	}
	if patchOf(a) == nil {
		return usagef("apply: %s", noPatch(a))
	}
	owner, err := p.own(c.Context, s.run)
	if err != nil {
		return err
	}
	o, err := p.apply(c.Context, s, a, owner)
	if err = errors.Join(err, owner.Close()); err != nil {
		return p.misfit(c.Context, s, a, err)
	}
	if c.Bool("json") {
		return printJSON(env.Stdout, o)
	}
	fmt.Fprintf(env.Stdout, "applied %s: %s\n", a.ID, Count(len(o.Paths), "file", "files"))
	_, err = fmt.Fprintf(env.Stdout, "take it back with: %s undo %s\n", env.Calls, s.run.ID)
	return err
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
	changes, err := p.changes(ctx, a)
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
