package runcmd

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/follow"
	"agentswarm/swarm/cli/inspect"
	"agentswarm/swarm/cli/plan"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/control"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// NewRetry returns the command retry.
func NewRetry(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "retry",
		Usage:     "give agents another attempt",
		ArgsUsage: "[AGENT… | -]",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "feedback", Usage: "add `TEXT` after the prompt; - reads standard input"},
			&cli.BoolFlag{Name: "remarks", Usage: "all agents with remarks to send"},
			&cli.StringFlag{Name: "like", Usage: "show them the shared changes of `AGENT` that they lack"},
			&cli.BoolFlag{Name: "fresh", Usage: "start from the base, not from the agent's work"},
			&cli.StringFlag{Name: "onto", Usage: "start from the commit `TIP`, such as main, with the agent's own patch on top"},
		}, append(selection.EndedFlags(), plan.DriveFlags()...)...),
		Description: `Starts a new attempt of agents that have ended, completed or not. Its workspace
holds the changes of the last attempt, staged. With --fresh it starts from the base.
All earlier feedback follows the prompt, oldest first. Without --feedback, the reason
of a rejection is used. Remarks on the agent's edits that were not sent follow.

--onto TIP is for a patch that conflicts with what landed since. The workspace holds
TIP with the patch of the agent on top, conflict markers included, and the agent
is told where they are. It continues its conversation if its kind can. With
--fresh, and for a command without a prompt, it starts from TIP without the patch.

The patch, output and ref of an earlier attempt stay. If the run is live, the agent
is queued and the command returns; else the attempt runs here.

Examples:
  swarm retry a3 --feedback "keep the exported names"
  swarm retry k3x9q2/a3 k3x9q2/a7 --fresh
  swarm retry a7 --onto main
  swarm retry a7 --like a3
  swarm retry --remarks
  swarm retry --failed
  swarm status --failed -q | swarm retry -
  git diff --stat | swarm retry a3 --feedback -`,
		Action: func(c *cli.Context) error { return retryAction(c, env) },
	}
}

func retryAction(c *cli.Context, env cmdline.Env) error {
	feedback, err := readFeedback(c, env)
	if err != nil {
		return err
	}
	drive, err := plan.ReadDriveFlags(c)
	if err != nil {
		return err
	}
	first := sign(env.Stderr, terminal.Detect(env.Stderr, env.Getenv), "preparing the run…")
	defer first.clear()
	env.Stderr = first
	least := 1
	if c.Bool("remarks") {
		least = 0 // the remarks name the agents
	}
	p, s, err := selection.Open(c, env, least, -1)
	if err != nil {
		return err
	}
	if c.Bool("remarks") {
		if err := inspect.PickDrafts(s); err != nil {
			return err
		}
	} else if !s.OnlyAgents() {
		return exit.Usagef("retry: name agents, such as %s/a1, or give --failed; resume takes a whole run", s.Run.ID)
	}
	s.Keep(func(a *store.Agent) bool { return a.Result() != nil && !a.Landed() })
	if err := s.NonePicked("retry"); err != nil {
		return err
	}
	s.Named = selection.Distinct(s.Named)
	told, err := retryReported(p, c, s, feedback)
	if err != nil {
		return err
	}
	wishes, err := retryWishes(s, told, c.Bool("fresh"))
	if err != nil {
		return err
	}
	onto, err := ontoOf(p, c, s)
	if err != nil {
		return err
	}
	if !c.Bool("json") {
		s.PrintLatest(env)
	}
	if s.View.Status == store.RunRunning {
		return retryLive(p, c, s, wishes)
	}
	owner, err := session.Own(c.Context, p, s.Run)
	if err != nil {
		return err
	}
	// Another process may have merged, or tried again, since we looked.
	s.View = owner.View()
	for i, a := range s.Named {
		s.Named[i] = s.View.Agent(a.ID)
	}
	if wishes, err = retryWishes(s, told, c.Bool("fresh")); err == nil {
		err = retryOwned(p, c, drive, ownedRun{s.Run, owner, wishes, onto})
	}
	return errors.Join(err, owner.Close())
}

// readFeedback reads the feedback for the agents.
func readFeedback(c *cli.Context, env cmdline.Env) (string, error) {
	text := c.String("feedback")
	if text == selection.FromInput && slices.Contains(c.Args().Slice(), selection.FromInput) {
		return "", exit.Usagef("retry: standard input is either the feedback or the list of agents")
	}
	if text == selection.FromInput {
		all, err := io.ReadAll(io.LimitReader(cmdline.Input(env), cmdline.MaxFeedback+1))
		if err != nil {
			return "", fmt.Errorf("read the feedback: %w", err)
		}
		text = string(all)
	}
	if c.IsSet("feedback") && strings.TrimSpace(text) == "" {
		return "", exit.Usagef("retry: the feedback is empty")
	}
	return text, cmdline.CheckMessage("retry: the feedback", text)
}

// retryWords is the text for agents that are tried again.
type retryWords struct {
	feedback string // for all of them; empty: the reasons of rejections
	like     map[task.ID]string
	drafts   map[task.ID]inspect.Drafts
}

// retryReported collects the text for agents that are tried again.
func retryReported(p *cmdline.Place, c *cli.Context, s *selection.Selection, feedback string) (retryWords, error) {
	told := retryWords{feedback: feedback, like: map[task.ID]string{}}
	if c.IsSet("like") {
		if err := readLike(p, c, s, &told); err != nil {
			return told, err
		}
	}
	var err error
	told.drafts, err = inspect.DraftsOf(p, c, s)
	return told, err
}

// readLike finds the changes of another agent that the agents lack.
func readLike(p *cmdline.Place, c *cli.Context, s *selection.Selection, told *retryWords) error {
	example, err := selection.Run(c.Context, p, []string{c.String("like")})
	if err != nil {
		return err
	}
	if len(example.Named) != 1 || example.Run.ID != s.Run.ID {
		return exit.Usagef("retry: --like needs an agent of run %s, such as %s/a1", s.Run.ID, s.Run.ID)
	}
	r, err := inspect.ReviewOfRun(c.Context, p, s)
	if err != nil {
		return err
	}
	for _, a := range s.Named {
		if task.Prompt(a.Call.Input) == "" {
			return exit.Usagef("retry: %s is a command and takes no prompt; leave --like out", a.ID)
		}
		text, err := r.Like(example.Named[0].ID, a.ID)
		if err != nil {
			return exit.Usagef("retry: --like: %v", err)
		}
		told.like[a.ID] = text
	}
	return nil
}

// retryWishes are the wishes for agents, those together that are told the
// same. All agents are looked at before anything is asked.
func retryWishes(s *selection.Selection, words retryWords, fresh bool) ([]engine.RetryRequest, error) {
	var wishes []engine.RetryRequest
	feedback := words.feedback
	for _, a := range s.Named {
		told := feedback
		if told == "" && a.Review != nil && a.Review.Verdict == task.Rejected {
			told = a.Review.Reason
		}
		switch {
		case a.Result() == nil && s.View.Status != store.RunRunning:
			return nil, exit.Usagef("retry: %s has not ended; `%s resume %s` continues it", a.ID, cmdline.Program, s.Run.ID)
		case a.Result() == nil:
			return nil, exit.Usagef("retry: %s has not ended; cancel it first, or send it a message", a.ID)
		case len(a.Landings) > 0:
			return nil, exit.Usagef("retry: the patch of %s has landed; undo that first", a.ID)
		case feedback != "" && task.Prompt(a.Call.Input) == "":
			return nil, exit.Usagef("retry: %s is a command and takes no prompt; leave --feedback out", a.ID)
		case task.Prompt(a.Call.Input) == "":
			told = ""
		}
		draft := words.drafts[a.ID]
		told = paragraphs(told, words.like[a.ID], draft.Text)
		if err := cmdline.CheckMessage("retry: the feedback for "+string(a.ID), told); err != nil {
			return nil, err
		}
		at := slices.IndexFunc(wishes, func(w engine.RetryRequest) bool {
			return w.Feedback == told && len(w.Remarks)+len(draft.IDs) == 0 // ids belong to a single agent
		})
		if at < 0 {
			at = len(wishes)
			wishes = append(wishes, engine.RetryRequest{Feedback: told, Fresh: fresh, Remarks: draft.IDs})
		}
		wishes[at].Agents = append(wishes[at].Agents, a.ID)
	}
	return wishes, nil
}

// paragraphs joins the texts that are not empty.
func paragraphs(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(text string) bool { return text == "" }), "\n\n")
}

// retryLive asks the process that owns the run.
func retryLive(p *cmdline.Place, c *cli.Context, s *selection.Selection, wishes []engine.RetryRequest) error {
	if n := plan.FlagOfDriving(c); n != "" {
		return exit.Usagef("retry: run %s is driven by another process, which %s does not reach", s.Run.ID, n)
	}
	config, err := session.EngineConfig(s.View)
	if err != nil {
		return err
	}
	if err := plan.ConfirmCalls(p, config, plan.CallsAgain(s.View, wishes), c.Bool("yes")); err != nil {
		return err
	}
	client, err := session.Reach(c.Context, p, s.Run)
	if err != nil {
		return err
	}
	for _, w := range wishes {
		err = errors.Join(err, follow.WithExitCode(client.Ask(c.Context, &control.Retry{
			Agents: w.Agents, Feedback: w.Feedback, Fresh: w.Fresh, Remarks: w.Remarks,
		})))
	}
	if err = errors.Join(err, client.Close()); err != nil {
		return err
	}
	v, err := s.Run.View()
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return cmdline.PrintJSON(p.Env.Stdout, view.NewRunObject(v, time.Now()).Only(s.Named))
	}
	for _, a := range s.Named {
		if _, err := fmt.Fprintf(p.Env.Stdout, "%s/%s queued for attempt %d\n", s.Run.ID, a.ID, a.Attempt+1); err != nil {
			return err
		}
	}
	return nil
}

// ownedRun is a run that this process owns, and the wishes for it.
type ownedRun struct {
	run    *store.Run
	owner  *store.Owner
	wishes []engine.RetryRequest
	onto   onto
}

// retryOwned runs the attempts here.
func retryOwned(p *cmdline.Place, c *cli.Context, drive plan.DriveFlagsRead, r ownedRun) error {
	b, end, err := attemptOwned(p, c, drive, &r)
	if err != nil {
		return err
	}
	end.codes = codesOf(end.codes, r)
	return finish(c.Context, b, end, finishRequest{json: c.Bool("json")})
}

// attemptOwned runs the attempts here, after the question about agents that cost money. The
// wishes of r are on its new base then.
func attemptOwned(p *cmdline.Place, c *cli.Context, drive plan.DriveFlagsRead, r *ownedRun) (*session.Session, *ended, error) {
	prior := r.owner.View()
	config, err := session.EngineConfig(prior)
	if err != nil {
		return nil, nil, err
	}
	drive.Lay(&config, r.owner.View())
	if err := plan.FitJobs(p.Env, &config); err != nil {
		return nil, nil, err
	}
	if err := plan.CheckTurns(p.Env, c, config, plan.CallsOf(prior)); err != nil {
		return nil, nil, err
	}
	again := plan.CallsAgain(prior, r.wishes)
	if err := plan.FindAgain(p, config.Agents, again); err != nil {
		return nil, nil, err
	}
	recorded, err := session.ReadConfig(prior)
	if err != nil {
		return nil, nil, err
	}
	if err := p.Given(&recorded.Settings); err != nil {
		return nil, nil, err
	}
	if err := plan.AgentsReady(c.Context, p, plan.NewReadiness(p, config, recorded.Settings, drive.Anyway), again); err != nil {
		return nil, nil, err
	}
	if err := plan.ConfirmCalls(p, config, again, c.Bool("yes")); err != nil {
		return nil, nil, err
	}
	b, err := session.Open(c.Context, p, r.run, r.owner)
	if err != nil {
		return nil, nil, err
	}
	if r.wishes, err = wishesOnto(c.Context, b, r.onto, r.wishes); err != nil {
		return nil, nil, err
	}
	drive.Contact.Lay(&b.Contact)
	if err := startHook(c.Context, b, config, false); err != nil {
		return nil, nil, err
	}
	end, err := driveCalls(c.Context, b, driveRequest{
		retry: r.wishes, config: config, prior: prior, timeout: drive.Timeout,
	})
	return b, end, err
}

// codesOf are the exit codes of a retry: how the agents ended that were tried
// again. How others of the run had ended is nothing new.
func codesOf(run []exit.Code, r ownedRun) []exit.Code {
	v := r.owner.View()
	codes := slices.DeleteFunc(slices.Clone(run), func(c exit.Code) bool {
		return c == exit.Degraded || c == exit.Verify || c == exit.Paused && v.Pause == nil
	})
	for _, w := range r.wishes {
		for _, id := range w.Agents {
			codes = append(codes, follow.AgentCode(v.Agent(id)))
		}
	}
	return codes
}
