package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing/attest"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// commitObject is swarm.commit/1, described in docs/json.md.
type commitObject struct {
	Schema   string   `json:"schema"`
	Commit   git.Hash `json:"commit"`
	Subject  string   `json:"subject"`
	Author   string   `json:"author"`
	Run      string   `json:"run,omitempty"`
	Agent    string   `json:"agent,omitempty"`
	Prompt   string   `json:"prompt,omitempty"` // empty if the run is gone
	Trailers []string `json:"trailers,omitempty"`
	// Attestation is the statement in the note of the commit.
	Attestation json.RawMessage `json:"attestation,omitempty"`
}

// showCommit shows a commit that a merge made, if the only argument of show names no agent.
// shown is false if it is no name of a commit either.
func showCommit(c *cli.Context, env cmdline.Env) (shown bool, err error) {
	if c.Args().Len() != 1 || c.Args().First() == selection.FromInput || !selection.ReadSelector(c).Empty() {
		return false, nil
	}
	p, err := cmdline.Open(c, env)
	if err != nil {
		return false, err
	}
	name := c.Args().First()
	if _, _, err := patch.ResolveModule(p.State, name); !isMissing(err) {
		return false, nil
	}
	commit, err := p.Repo.Commit(c.Context, name)
	if err != nil {
		return false, nil // the other error explains addresses
	}
	o, err := commitShown(c.Context, p, commit)
	if err != nil {
		return false, err
	}
	if c.Bool("json") {
		return true, cmdline.PrintJSON(env.Stdout, o)
	}
	if err := cmdline.Page(p, c); err != nil {
		return false, err
	}
	return true, printCommit(p, o)
}

// isMissing reports whether an address names nothing.
func isMissing(err error) bool {
	_, missing := errors.AsType[*store.NotFoundError](err)
	return missing
}

// commitShown reads a commit, its note, and the prompt of the agent that made it.
func commitShown(ctx context.Context, p *cmdline.Place, commit git.Hash) (commitObject, error) {
	o := commitObject{Schema: "swarm.commit/1", Commit: commit}
	said, err := p.Repo.Said(ctx, commit)
	if err != nil {
		return o, err
	}
	o.Subject, o.Author = said.Subject, said.Author
	for _, t := range said.Trailers {
		key, value, _ := strings.Cut(t, ": ")
		switch {
		case key == "Swarm-Run":
			o.Run = value
		case key == "Swarm-Agent":
			o.Agent = value
		case strings.HasPrefix(key, "Swarm-"):
			o.Trailers = append(o.Trailers, t)
		}
	}
	if o.Run == "" {
		return o, exit.Usagef("show: %s is no agent, and no merge of swarm made the commit %s", commit.Short(), commit.Short())
	}
	if a, err := p.State.Resolve(o.Run + "/" + o.Agent); err == nil && a.Agent != "" {
		v, err := a.Run.View()
		if err != nil {
			return o, err
		}
		if made := v.Agent(a.Agent); made != nil {
			o.Prompt = task.Prompt(made.Call.Input)
		}
	}
	note, err := p.Repo.Note(ctx, attest.Ref, commit)
	if err != nil || note == nil {
		return o, err
	}
	if _, err := attest.Read(note); err != nil {
		return o, err
	}
	o.Attestation = note
	return o, nil
}

// printCommit prints a commit for a person. All of it is foreign text.
func printCommit(p *cmdline.Place, o commitObject) error {
	s := portrait{term: terminal.Detect(p.Env.Stdout, p.Env.Getenv)}
	s.line("commit", string(o.Commit))
	s.line("subject", o.Subject)
	s.line("author", o.Author)
	s.line("agent", o.Run+"/"+o.Agent)
	for _, t := range o.Trailers {
		key, value, _ := strings.Cut(t, ": ")
		s.line(strings.ToLower(strings.TrimPrefix(key, "Swarm-")), value)
	}
	s.block("prompt", o.Prompt)
	s.block("attestation", string(o.Attestation))
	_, err := p.Env.Stdout.Write([]byte(s.String()))
	return err
}
