package session

import (
	"fmt"
	"slices"
	"time"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/config"
	"agentswarm/swarm/event"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/patch"
)

// Lander lands the patches of the run.
func (s *Session) Lander() *lander.Lander {
	return &lander.Lander{
		Repo: s.Repo, Frozen: s.Frozen, Patches: Patches(&s.Place), State: s.State, Run: s.Run, Owner: s.Owner,
		Workspaces: s.Deps.Workspaces, Spaces: isolation.Spaces{Executor: s.Sandbox, Fill: s.BringAlong}, Agents: s.agents, Step: s.Env.Step, Calls: s.Env.Calls,
		Progress: s.printProgress,
	}
}

// Patches returns a reader of agents' patches. It warns if it must read a patch file in place of
// a commit.
func Patches(p *cmdline.Place) *patch.Reader {
	return &patch.Reader{Repo: p.Repo, Fallback: func(gone *patch.GoneError, file string) {
		fmt.Fprintf(p.Env.Stderr, "%s: %v; this is by the file %s, which agents could write to\n", cmdline.Program, gone, termtext.Line(file))
	}}
}

// CommitAuthor returns the author of commits: the flag's, or that of the user's configuration.
// It returns an error if the configuration cannot be read.
func CommitAuthor(p *cmdline.Place, said landing.StyleRequest) (landing.Author, error) {
	if said.Author != "" {
		return said.Author, nil
	}
	own, err := p.OwnConfig()
	if err == nil && own.CommitAuthor == config.AuthorAgent {
		return landing.ByAgent, nil
	}
	return "", err
}

// printProgress prints a fact about a merge that goes on.
func (s *Session) printProgress(p lander.Progress) {
	s.Notices.print(progressText(p))
}

func progressText(p lander.Progress) string {
	switch p := p.(type) {
	case *lander.Verified:
		how := termtext.Duration(p.Elapsed)
		if p.Reused {
			how = "reused from an earlier check"
		}
		again := ""
		if p.Verification.Run > 1 {
			again = ", again"
		}
		return fmt.Sprintf("%s%s: %s (%s)", checkText(p.Ref, p.Candidate, p.IDs), again, p.Result(), how)
	case *lander.Overdue:
		then := ""
		if len(p.Set) > 0 {
			then = "; the time on " + lander.BranchName(p.Ref) + " itself is needed"
		}
		return fmt.Sprintf("%s: running since %s%s", checkText(p.Ref, p.Candidate, p.IDs), p.Began.Format(time.TimeOnly), termtext.Line(then))
	case *lander.PartLanded:
		return fmt.Sprintf("landed %s on %s %s", termtext.Count(p.Patches, "patch", "patches"), lander.BranchName(p.Ref), p.Commit.Short())
	case *lander.BranchMoved:
		return lander.BranchName(p.Ref) + " moved during the checks; merging onto its new tip"
	case *lander.MergedAgain:
		they := "they are"
		if len(p.IDs) == 1 {
			they = "it is"
		}
		return fmt.Sprintf("the landing of %s is no longer on %s: %s merged again", termtext.List(p.IDs, 5), termtext.Line(lander.BranchName(p.Ref)), they)
	case *lander.GivenBack:
		to := "its author"
		if p.To == event.ToNeutral {
			to = "a new conversation of the role slow"
		}
		return fmt.Sprintf("%s goes to %s: %s", termtext.Line(p.Name), to, termtext.Line(p.Why))
	case *lander.NotOnBranch:
		return termtext.Line(p.Text)
	default:
		panic(fmt.Sprintf("unhandled %T", p))
	}
}

// checkText names the check of a candidate.
func checkText(ref string, c landing.Candidate, ids []string) string {
	kind := "check"
	if c.Screen {
		kind = "screen"
	}
	return kind + " of " + termtext.Line(SetText(ref, ids))
}

// SetText names a set of patches and the branch, for a line of progress.
func SetText(ref string, ids []string) string {
	if len(ids) == 0 {
		return lander.BranchName(ref) + " itself"
	}
	return termtext.Count(len(ids), "patch", "patches") + " on " + lander.BranchName(ref) + ": " + termtext.List(slices.Clone(ids), 5)
}

// The verbs of landings, as they are journaled.
const (
	VerbMerge = landing.VerbMerge
	VerbUndo  = landing.VerbUndo
)
