package pullrequest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// Request asks for the pull requests of a run.
type Request struct {
	Repo       *git.Repo       // required
	Quarantine *git.Quarantine // required; has the commits afterwards
	View       *store.View     // of the run; required
	Run        string          // its id; required
	// Split makes parts of the landed commits; required. Onto is the tip of the base.
	Split        func(ctx context.Context, changes []*Change, onto git.Hash) ([]*Part, error)
	Stacked      bool
	Remote, Base string // as in [TargetRequest]
	Prefix       string // of the names of branches; empty: swarm/RUN/
	Texts        Texts
	Committer    git.Person
}

// NothingLandedError says that a run has nothing for a pull request.
type NothingLandedError struct{ Run string }

func (e *NothingLandedError) Error() string { return "nothing of run " + e.Run + " has landed" }

// Item is a pull request of a plan.
type Item struct {
	*Branch
	Title, Body string
	// Outcome is the [State] until something was done.
	Outcome Outcome
	URL     string // at the forge
	File    string // with its text, without a forge
}

// Outcome is the state of a pull request at the end of the command.
type Outcome string

// The outcomes beside those of [State].
const (
	Opening Outcome = "opened"  // by this command
	Already Outcome = "open"    // before
	Over    Outcome = "closed"  // it was merged or closed at the forge
	Waiting Outcome = "waiting" // enough are open
	Written Outcome = "written" // a local branch and a text
)

// Plan is a list of pull requests that are to be opened.
type Plan struct {
	Target *Target
	Items  []*Item
	q      *git.Quarantine
}

// NewPlan makes the commits and the texts of pull requests. Nothing of the user's changes.
// Errors can be a [*NothingLandedError], a [*TargetError], a [*landing.TicketError], or one of
// the request's Split.
func NewPlan(ctx context.Context, r Request) (*Plan, error) {
	changes, err := Landed(ctx, LandedRequest{Quarantine: r.Quarantine, View: r.View, Run: r.Run})
	if err != nil {
		return nil, err
	}
	if len(changes) == 0 {
		return nil, &NothingLandedError{r.Run}
	}
	target, err := FindTarget(ctx, TargetRequest{
		Repo: r.Repo, Remote: r.Remote, Base: r.Base, Branch: landedOn(r.View), Changes: changes,
	})
	if err != nil {
		return nil, err
	}
	parts, err := r.Split(ctx, changes, target.Onto)
	if err != nil {
		return nil, err
	}
	prefix := r.Prefix
	if prefix == "" {
		prefix = "swarm/" + r.Run + "/"
	}
	if err := r.Repo.CheckRef(ctx, "refs/heads/"+prefix+"x"); err != nil {
		return nil, &TargetError{Text: fmt.Sprintf("the prefix %q begins no name of a branch", prefix), Tip: "an example is --prefix codemod/"}
	}
	branches, err := Build(ctx, BuildRequest{
		Quarantine: r.Quarantine, Onto: target.Onto, Base: target.Base, Prefix: prefix, Parts: parts,
		Stacked: r.Stacked, Committer: r.Committer,
	})
	if err != nil {
		return nil, err
	}
	p := &Plan{Target: target, q: r.Quarantine}
	for _, b := range branches {
		item := &Item{Branch: b, Outcome: Outcome(b.State)}
		if item.Title, item.Body, err = r.Texts.fill(b.Part, r.View, r.Run); err != nil {
			return nil, err
		}
		p.Items = append(p.Items, item)
	}
	return p, nil
}

// landedOn is the branch of the last merge that stands, without refs/heads/.
func landedOn(v *store.View) string {
	for _, l := range slices.Backward(v.Landings) {
		if l.Of == 0 && l.Ref != "" && l.Stands() {
			return strings.TrimPrefix(l.Ref, "refs/heads/")
		}
	}
	return ""
}

// Ready are the items whose branch can be pushed.
func (p *Plan) Ready() []*Item {
	return slices.DeleteFunc(slices.Clone(p.Items), func(i *Item) bool { return i.State != Ready })
}

// Begun reports whether a pull request exists or a text was written.
func (p *Plan) Begun() bool {
	return slices.ContainsFunc(p.Items, func(i *Item) bool { return i.URL != "" || i.File != "" })
}

// OpenAllRequest says how the pull requests of a plan are opened.
type OpenAllRequest struct {
	Forge *Forge // required
	Push  Runner // of git; required
	Max   int    // how many may be open; at least 1
	Draft bool
	// Progress is called with each opened item; nil: it is not called.
	Progress func(*Item)
}

// OpenAll pushes branches and opens their pull requests, in order. A request
// that exists at the forge stays as it is. An error stops it; the items say
// which were done before.
func (p *Plan) OpenAll(ctx context.Context, r OpenAllRequest) error {
	ready, open := p.Ready(), 0
	for _, item := range ready {
		found, err := r.Forge.Find(item.Name)
		if err != nil {
			return err
		}
		if found == nil {
			continue
		}
		item.URL, item.Outcome = found.URL, Over
		if found.Open {
			item.Outcome = Already
			open++
		}
	}
	for _, item := range ready {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if item.URL != "" {
			continue
		}
		if open >= r.Max {
			item.Outcome = Waiting
			continue
		}
		if err := Push(r.Push, p.q, p.Target.Remote, []*Branch{item.Branch}); err != nil {
			return err
		}
		address, err := r.Forge.Open(OpenRequest{
			Branch: item.Name, Base: item.Base, Title: item.Title, Body: item.Body, Draft: r.Draft,
		})
		if err != nil {
			return err
		}
		item.URL, item.Outcome = address, Opening
		open++
		if r.Progress != nil {
			r.Progress(item)
		}
	}
	return nil
}

// WriteAll makes local branches, and writes the texts into a folder. It overwrites
// texts of the same names. An error can be a [*TakenError].
func (p *Plan) WriteAll(ctx context.Context, dir string) error {
	ready := p.Ready()
	branches := make([]*Branch, len(ready))
	for i, item := range ready {
		branches[i] = item.Branch
	}
	if err := Publish(ctx, p.q, branches); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var all error
	for _, item := range ready {
		item.File = filepath.Join(dir, item.Part.Name+".md")
		text := fmt.Sprintf("# %s\n\n%s", item.Title, item.Body)
		if err := os.WriteFile(item.File, []byte(text), 0o600); err != nil {
			all = errors.Join(all, err)
			continue
		}
		item.Outcome = Written
	}
	return all
}
