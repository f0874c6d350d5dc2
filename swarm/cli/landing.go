package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/config"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/patch"
)

// lander lands the patches of the run.
func (b *bench) lander() *lander.Lander {
	return &lander.Lander{
		Repo: b.Repo, Frozen: b.frozen, Patches: b.patches(), State: b.State, Run: b.run, Owner: b.owner,
		Workspaces: b.deps.Workspaces, Spaces: isolation.Spaces{Executor: b.sandbox, Fill: b.bringAlong}, Agents: b.agents, Step: b.Env.Step, Calls: b.Env.Calls,
		Progress: b.printProgress,
	}
}

// patches reads patches of agents, and says so if a text is not that of a commit.
func (p *place) patches() *patch.Reader {
	return &patch.Reader{Repo: p.Repo, Fallback: func(gone *patch.GoneError, file string) {
		fmt.Fprintf(p.Env.Stderr, "%s: %v; this is by the file %s, which agents could write to\n", cmdline.Program, gone, termtext.Line(file))
	}}
}

// commitAuthor is the author of commits by the user's configuration, unless a flag says
// another.
func (p *place) commitAuthor(said landing.StyleRequest) (landing.Author, error) {
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
func (b *bench) printProgress(p lander.Progress) {
	b.notices.say(progressText(p))
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
	return kind + " of " + termtext.Line(setText(ref, ids))
}

// setText names the patches of a set.
func setText(ref string, ids []string) string {
	if len(ids) == 0 {
		return lander.BranchName(ref) + " itself"
	}
	return termtext.Count(len(ids), "patch", "patches") + " on " + lander.BranchName(ref) + ": " + termtext.List(slices.Clone(ids), 5)
}

// mergeCodes are the exit codes of a merge.
func mergeCodes(r *lander.Report) (codes []exit.Code) {
	if r.LeftOut {
		codes = append(codes, exit.Conflict)
	}
	if r.Refused {
		codes = append(codes, exit.Verify)
	}
	if r.Blocked != nil {
		codes = append(codes, exit.Usage)
	}
	return codes
}

// The verbs of landings, as they are journaled.
const (
	verbMerge = landing.VerbMerge
	verbUndo  = landing.VerbUndo
)

// target refuses a --merge that could not land, before anything starts.
func (p *place) target(ctx context.Context, pl *plan) error {
	switch {
	case pl.into != "" && !pl.merge:
		return exit.Usagef("run: --into says where --merge lands; give --merge too")
	case !pl.merge:
		return nil
	case pl.workflow.Count > 1:
		return exit.Usagef("run: --merge and --count exclude each other: of alternatives you choose one")
	}
	_, err := lander.TargetRef(ctx, p.Repo, pl.into)
	return err
}
