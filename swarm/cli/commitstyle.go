package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

	"agentswarm/merge"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/config"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// commitStyle holds the flags of a command line about the commits of a merge.
type commitStyle struct {
	Message  string         `json:"message,omitempty"`
	Trailers []string       `json:"trailers,omitempty"`
	Squash   bool           `json:"squash,omitempty"`
	Author   landing.Author `json:"author,omitempty"` // empty: as the configuration says
}

// lay takes the settings of another style.
func (s *commitStyle) lay(over commitStyle) {
	if over.Message != "" {
		s.Message = over.Message
	}
	if over.Author != "" {
		s.Author = over.Author
	}
	s.Squash = s.Squash || over.Squash
	s.Trailers = append(s.Trailers, over.Trailers...)
}

// recorded is the style as the journal has it; nil if nothing was said.
func (s commitStyle) recorded() *event.CommitStyle {
	if s.Message == "" && len(s.Trailers) == 0 && !s.Squash && s.Author == "" {
		return nil
	}
	return &event.CommitStyle{Message: s.Message, Trailers: s.Trailers, Squash: s.Squash, Author: string(s.Author)}
}

// styleOver lays a style over that of an earlier merge; nil: it said nothing.
func styleOver(e *event.CommitStyle, over commitStyle) commitStyle {
	if e == nil {
		return over
	}
	s := commitStyle{Message: e.Message, Trailers: slices.Clone(e.Trailers), Squash: e.Squash, Author: landing.Author(e.Author)}
	over.Trailers = slices.DeleteFunc(slices.Clone(over.Trailers), func(t string) bool { return slices.Contains(s.Trailers, t) })
	s.lay(over)
	return s
}

// styleFlags reads the flags about commits.
func styleFlags(c *cli.Context) (commitStyle, error) {
	s := commitStyle{Message: c.String("message"), Squash: c.Bool("squash"), Author: landing.Author(c.String("author"))}
	if subject, _ := landing.SplitMessage(s.Message); c.IsSet("message") && subject == "" {
		return s, usagef("merge: the message is empty")
	}
	switch s.Author {
	case "", landing.ByUser, landing.ByAgent:
	default:
		return s, usagef("merge: --author %s: want user or agent", s.Author)
	}
	for _, text := range c.StringSlice("trailer") {
		if err := landing.CheckTrailer(text); err != nil {
			return s, usagef("merge: --trailer %q: %v", text, err)
		}
		s.Trailers = append(s.Trailers, landing.Trailer(text))
	}
	return s, nil
}

// styleOf is how the commits of a merge are written.
func (b *bench) styleOf(ctx context.Context, said commitStyle) (landing.Style, error) {
	s := landing.Style{Author: said.Author, Message: said.Message, Trailers: said.Trailers, Squash: said.Squash}
	if user, ok := b.repo.User(ctx); ok {
		s.User = &user
	}
	if s.Author == "" {
		own, err := b.ownConfig()
		if err != nil {
			return s, err
		}
		if own.CommitAuthor == config.AuthorAgent {
			s.Author = landing.ByAgent
		}
	}
	return s, nil
}

// checkStyle refuses a style that the commits cannot have, before a merge
// begins.
func checkStyle(s landing.Style, chosen []*store.Agent) error {
	err := s.Check(chosen)
	if many, ok := errors.AsType[*landing.ManyError](err); ok {
		return &UsageError{
			Text:   "merge: --message names one commit, and " + Count(many.Count, "patch", "patches") + " would land",
			Advice: "give --squash too, or name one agent",
		}
	}
	return refused(err)
}

// patches are the chosen agents' patches as a merge takes them.
func (b *bench) patches(chosen []*store.Agent, w mergeWork) ([]merge.Patch, error) {
	patches := make([]merge.Patch, 0, len(chosen))
	for _, a := range chosen {
		work := b.workOf(a, patchOf(a))
		work.Resolved, work.Verified = w.resolved, w.verified
		patch, err := w.style.Commit(work)
		if err != nil {
			return nil, err
		}
		patches = append(patches, patch)
	}
	return patches, nil
}

// commitOf is a patch of an agent as a merge takes it.
func (b *bench) commitOf(a *store.Agent, p *task.Patch, style landing.Style) (merge.Patch, error) {
	return style.Commit(b.workOf(a, p))
}

func (b *bench) workOf(a *store.Agent, p *task.Patch) landing.Work {
	kind := agent.KindCommand
	if spec := b.agents[a.Call.Agent]; spec != nil {
		kind = spec.Kind
	}
	return landing.Work{Run: b.run.ID, Agent: a, Patch: p, Kind: kind, Title: engine.Title(a.ID, a.Call)}
}
