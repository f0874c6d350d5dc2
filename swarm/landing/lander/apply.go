package lander

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"agentswarm/merge"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/refusal"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// CheckApart refuses agents without a patch, and patches that change the same file: the
// second would meet the changes of the first. The error is a [*refusal.Error] then.
func CheckApart(ctx context.Context, reader *patch.Reader, agents []*store.Agent) error {
	var patches []landing.Changed
	for _, a := range agents {
		if a.Patch() == nil {
			return refusal.New("apply: %s", NoPatch(a))
		}
		if len(agents) == 1 {
			return nil
		}
		changes, err := reader.Changes(ctx, a)
		if err != nil {
			return err
		}
		patches = append(patches, landing.Changed{Agent: a.ID, Changes: changes})
	}
	if both := landing.FindOverlap(patches); both != nil {
		return &refusal.Error{
			Text:   fmt.Sprintf("apply: %s and %s both change %s", both.First, both.Second, both.Path),
			Advice: "merge joins changes of one file; apply takes patches that change different files",
		}
	}
	return nil
}

// Applied is the outcome of an apply.
type Applied struct {
	ID     int // of the landing
	Agents []task.ID
	Paths  []string // of the files that changed
}

// Apply applies the patch of an agent to the files of the user's checkout. a shows the
// work to take. The error is a [*MisfitError] if the patch does not fit.
func (ld *Lander) Apply(ctx context.Context, a *store.Agent) (*Applied, error) {
	v := ld.Owner.View()
	if err := ld.Settle(ctx, v); err != nil {
		return nil, err
	}
	changes, err := ld.Patches.Changes(ctx, a)
	if err != nil {
		return nil, err
	}
	text, err := ld.Patches.Text(ctx, ld.Run, a)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	intent := &event.Intended{
		ID: len(v.Landings) + 1, Verb: landing.VerbApply, Dirs: []string{ld.Repo.TopLevel}, Agents: []task.ID{a.ID}, Attempt: a.Attempt,
	}
	if a.Copy > 0 {
		intent.Copies = []string{patch.CopyName(a.ID, a.Copy)}
		if a.Partial {
			intent.Parts = intent.Copies
		}
	}
	journaled := false
	applied, err := merge.Apply(ctx, merge.ApplyRequest{
		Repo: ld.Repo, File: a.Patch().File, Text: text, Changes: changes, Record: ld.record(intent.ID),
		Journal: func() error {
			journaled = true
			_, err := ld.Owner.Append(intent)
			return err
		},
	})
	if !journaled {
		return nil, blockedApply(err)
	}
	end := &event.Landed{ID: intent.ID}
	out := &Applied{ID: intent.ID, Agents: intent.Agents}
	if err == nil {
		end.Files = sumsOf(applied.Files)
		for _, f := range applied.Files {
			out.Paths = append(out.Paths, f.Path)
		}
	}
	return out, ld.journalEnd(end, err)
}

// pathKey is a path as the journal keeps it: JSON holds no bytes that are not
// UTF-8, so such a name is quoted, and so is a name that looks quoted.
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
