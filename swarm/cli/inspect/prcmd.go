package inspect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/risk/repository"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/pullrequest"
	"agentswarm/swarm/review"
	reviewpart "agentswarm/swarm/review/part"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// NewPRCommand returns the command `swarm pr`.
func NewPRCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "pr",
		Usage:     "open pull requests of what a run landed",
		ArgsUsage: "[RUN]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "each", Usage: "one for each patch"},
			&cli.BoolFlag{Name: "owners", Usage: "one for each set of owners in CODEOWNERS"},
			&cli.StringSliceFlag{Name: "group", Usage: "one for the files below `FOLDER`"},
			&cli.StringSliceFlag{Name: "class", Usage: "one for the edits of class `C`, as review names it"},
			&cli.BoolFlag{Name: "stacked", Usage: "put each branch onto the one before it"},
			&cli.IntFlag{Name: "max", Value: 10, Usage: "have at most `N` open; repeat the command for the others"},
			&cli.BoolFlag{Name: "draft", Usage: "open drafts"},
			&cli.StringFlag{Name: "title", Usage: "`TEXT` of titles; {field} is a field of the ticket"},
			&cli.StringFlag{Name: "body", Usage: "`TEXT` before the generated text, such as 'Closes #{number}'"},
			&cli.StringFlag{Name: "base", Usage: "pull into `BRANCH` of the remote"},
			&cli.StringFlag{Name: "remote", Usage: "push to remote `NAME`"},
			&cli.StringFlag{Name: "prefix", Usage: "begin the names of branches with `TEXT` (default swarm/RUN/)"},
			&cli.StringFlag{Name: "forge", Value: "auto", Usage: "use `FORGE`: gh, glab, or none, which writes local branches and texts"},
			&cli.StringFlag{Name: "dir", Usage: "write texts without a forge to `DIR`"},
			&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "print the pull requests and do nothing"},
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask before pushing"},
			cmdline.JSONFlag(),
		},
		Description: `Pushes what a run landed as branches and opens pull requests with gh or glab, with the
user's git and logins. It asks before it pushes, and never forces. The branches start
at the base as the remote has it, without other local commits. Open pull requests do
not change. Without gh and glab, it writes local branches and a text for each.

Examples:
  swarm pr
  swarm pr --owners --max 5
  swarm pr --each --title '{title}' --body 'Closes #{number}'
  swarm pr k3x9q2 --group api --group web --stacked -n`,
		Action: func(c *cli.Context) error { return prAction(c, env) },
	}
}

// prObject is swarm.pr/1, described in docs/json.md.
type prObject struct {
	Schema       string       `json:"schema"`
	Run          string       `json:"run"`
	Remote       string       `json:"remote,omitempty"`
	Forge        string       `json:"forge"`
	DryRun       bool         `json:"dry_run"`
	PullRequests []pullObject `json:"pull_requests"`
}

type pullObject struct {
	Branch    string   `json:"branch"`
	Base      string   `json:"base"`
	State     string   `json:"state"`
	Commit    string   `json:"commit,omitempty"`
	Title     string   `json:"title"`
	Body      string   `json:"body"`
	Agents    []string `json:"agents"`
	Files     []string `json:"files"`
	Owners    []string `json:"owners,omitempty"`
	URL       string   `json:"url,omitempty"`
	File      string   `json:"file,omitempty"` // with the text
	Conflicts []string `json:"conflicts,omitempty"`
}

func prAction(c *cli.Context, env cmdline.Env) (err error) {
	p, s, err := selection.Open(c, env, 0, 1)
	if err != nil {
		return err
	}
	if len(s.Named) > 0 {
		return exit.Usagef("pr: name a run; %s is an agent", s.Named[0].ID)
	}
	if err := p.Personal("opening pull requests"); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "swarm-pr-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	q, err := p.Repo.Quarantine(filepath.Join(scratch, "objects"))
	if err != nil {
		return err
	}
	req, err := prRequest(p, c, s, q)
	if err != nil {
		return err
	}
	plan, err := pullrequest.NewPlan(c.Context, req)
	if err != nil {
		return prError(err)
	}
	forge, err := forge(p, c, plan.Target)
	if err != nil {
		return err
	}
	if !c.Bool("dry-run") {
		if err = openPullRequests(p, c, s, plan, forge); err != nil && !plan.Begun() {
			return err
		}
	}
	return errors.Join(err, printPullRequests(p, c, s, plan, forge), conflictsLeft(plan))
}

// prRequest is the request of a command line.
func prRequest(p *cmdline.Place, c *cli.Context, s *selection.Selection, q *git.Quarantine) (pullrequest.Request, error) {
	r := pullrequest.Request{
		Repo: p.Repo, Quarantine: q, View: s.View, Run: s.Run.ID, Stacked: c.Bool("stacked"),
		Remote: c.String("remote"), Base: c.String("base"), Prefix: c.String("prefix"),
		Texts: pullrequest.Texts{Title: strings.TrimSpace(c.String("title")), Body: strings.TrimSpace(c.String("body"))},
	}
	ways := 0
	for _, name := range []string{"each", "owners", "group", "class"} {
		if c.IsSet(name) {
			ways++
		}
	}
	if ways > 1 {
		return r, exit.Usagef("pr: --each, --owners, --group and --class exclude each other")
	}
	if c.Int("max") < 1 {
		return r, exit.Usagef("pr: --max must be at least 1")
	}
	var err error
	if r.Split, err = split(p, c, s, q); err != nil {
		return r, err
	}
	user, ok := p.Repo.User(c.Context)
	if !ok {
		user = git.Swarm(user.When)
	}
	r.Committer = user
	return r, nil
}

type splitter = func(ctx context.Context, changes []*pullrequest.Change, onto git.Hash) ([]*pullrequest.Part, error)

// split is the way in which the command line splits the landed commits.
func split(p *cmdline.Place, c *cli.Context, s *selection.Selection, q *git.Quarantine) (splitter, error) {
	switch {
	case c.Bool("each"):
		return func(_ context.Context, all []*pullrequest.Change, _ git.Hash) ([]*pullrequest.Part, error) {
			return pullrequest.Each(all), nil
		}, nil
	case c.Bool("owners"):
		return func(ctx context.Context, all []*pullrequest.Change, onto git.Hash) ([]*pullrequest.Part, error) {
			owners, err := pullrequest.Owners(ctx, q, onto)
			if err != nil {
				return nil, err
			}
			return pullrequest.ByOwner(all, owners), nil
		}, nil
	case c.IsSet("group"):
		return func(_ context.Context, all []*pullrequest.Change, _ git.Hash) ([]*pullrequest.Part, error) {
			return pullrequest.ByFolder(all, c.StringSlice("group"))
		}, nil
	case c.IsSet("class"):
		return splitByClass(p, c, s, q)
	}
	return func(_ context.Context, all []*pullrequest.Change, _ git.Hash) ([]*pullrequest.Part, error) {
		return pullrequest.Whole(all), nil
	}, nil
}

func splitByClass(p *cmdline.Place, c *cli.Context, s *selection.Selection, q *git.Quarantine) (splitter, error) {
	r, err := ReviewOfRun(c.Context, p, s)
	if err != nil {
		return nil, err
	}
	var classes []*review.Class
	for _, name := range c.StringSlice("class") {
		class, err := findClass(r, s, "pr", name)
		if err != nil {
			return nil, err
		}
		classes = append(classes, class)
	}
	return func(ctx context.Context, all []*pullrequest.Change, _ git.Hash) ([]*pullrequest.Part, error) {
		var parts []*pullrequest.Part
		for _, class := range classes {
			part, err := pullrequest.ByClass(ctx, pullrequest.ClassRequest{
				Quarantine: q, Changes: all, Class: class, Edits: r.EditsOf,
				Patch: func(id task.ID) *task.Patch {
					if a := s.View.Agent(id); a != nil {
						return a.Patch()
					}
					return nil
				},
			})
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
		}
		return parts, nil
	}, nil
}

// forge is the program that opens pull requests; nil where branches and texts are
// written.
func forge(p *cmdline.Place, c *cli.Context, target *pullrequest.Target) (*pullrequest.Forge, error) {
	run := pullrequest.Run(p.Dir, p.Env.Environ)
	switch name := c.String("forge"); name {
	case "none":
		return nil, nil
	case "gh", "glab":
		if target.Remote == "" {
			return nil, &exit.UsageError{Text: "pr: the repository has no remote", Advice: "add one, or use --forge none"}
		}
		return &pullrequest.Forge{Program: name, Run: run}, nil
	case "auto":
		if target.Remote == "" {
			return nil, nil
		}
		f, err := pullrequest.FindForge(target.Address, run)
		if errors.Is(err, pullrequest.ErrNoForge) {
			fmt.Fprintln(p.Env.Stderr, "neither gh nor glab is installed: writing local branches and texts")
			return nil, nil
		}
		return f, err
	default:
		return nil, exit.Usagef("pr: --forge is auto, gh, glab or none, not %q", name)
	}
}

// openPullRequests asks, and carries the plan out.
func openPullRequests(p *cmdline.Place, c *cli.Context, s *selection.Selection, plan *pullrequest.Plan, forge *pullrequest.Forge) error {
	if len(plan.Ready()) == 0 {
		return nil
	}
	if forge == nil {
		dir := c.String("dir")
		if dir == "" {
			dir = filepath.Join(s.Run.Dir, "pull-requests")
		} else if !filepath.IsAbs(dir) {
			dir = filepath.Join(p.Dir, dir)
		}
		return prError(plan.WriteAll(c.Context, dir))
	}
	if !c.Bool("yes") {
		if err := askToPush(p, c, plan, forge); err != nil {
			return err
		}
	}
	return prError(plan.OpenAll(c.Context, pullrequest.OpenAllRequest{
		Forge: forge, Push: forge.Run, Max: c.Int("max"), Draft: c.Bool("draft"),
		Progress: func(i *pullrequest.Item) {
			fmt.Fprintf(p.Env.Stderr, "opened %s\n", termtext.Line(i.URL))
		},
	}))
}

// askToPush asks the person at the terminal. Without a terminal, --yes is
// needed.
func askToPush(p *cmdline.Place, c *cli.Context, plan *pullrequest.Plan, forge *pullrequest.Forge) error {
	ready := plan.Ready()
	what := fmt.Sprintf("VISIBLE: push up to %s to %s (%s) and open pull requests into %s with %s",
		termtext.Count(min(len(ready), c.Int("max")), "branch", "branches"), plan.Target.Remote, termtext.Line(repository.WithoutPassword(plan.Target.Address)),
		termtext.Line(plan.Target.Base), forge.Program)
	if !cmdline.Attended(p) {
		return &exit.UsageError{Text: "pr: would " + strings.TrimPrefix(what, "VISIBLE: "), Advice: "add --yes to do that, or -n to see the pull requests"}
	}
	fmt.Fprintln(p.Env.Stderr, what)
	yes, err := cmdline.AskYes(p.Env, "Go on?")
	if err == nil && !yes {
		return &exit.Error{Code: exit.Approval, Err: errors.New("nothing was pushed")}
	}
	return err
}

func printPullRequests(p *cmdline.Place, c *cli.Context, s *selection.Selection, plan *pullrequest.Plan, forge *pullrequest.Forge) error {
	o := prObject{
		Schema: "swarm.pr/1", Run: s.Run.ID, Remote: plan.Target.Remote, Forge: "none", DryRun: c.Bool("dry-run"), PullRequests: []pullObject{},
	}
	if forge != nil {
		o.Forge = forge.Program
	}
	term := terminal.Detect(p.Env.Stdout, p.Env.Getenv)
	t := terminal.Table{Term: term, Columns: []terminal.Column{
		{Title: "BRANCH"}, {Title: "BASE"}, {Title: "STATE"}, {Title: "FILES", Right: true}, {Title: "TITLE", Flex: true}, {Title: "PULL REQUEST"},
	}}
	for _, item := range plan.Items {
		pull := pullObject{
			Branch: item.Name, Base: item.Base, State: string(item.Outcome), Commit: string(item.Commit), Title: item.Title,
			Body: item.Body, Agents: []string{}, Files: item.Files(), Owners: item.Owners, URL: item.URL, File: item.File,
		}
		for _, id := range item.Agents() {
			pull.Agents = append(pull.Agents, string(id))
		}
		for _, conflict := range item.Conflicts {
			pull.Conflicts = append(pull.Conflicts, conflict.Paths...)
		}
		o.PullRequests = append(o.PullRequests, pull)
		at := item.URL
		if at == "" {
			at = item.File
		}
		t.Row(item.Name, item.Base, string(item.Outcome), fmt.Sprint(len(pull.Files)), item.Title, at)
	}
	if c.Bool("json") {
		return cmdline.PrintJSON(p.Env.Stdout, o)
	}
	t.DropEmpty()
	return t.Print(p.Env.Stdout, 0)
}

// conflictsLeft is an error where a part does not fit onto the base.
func conflictsLeft(plan *pullrequest.Plan) error {
	for _, item := range plan.Items {
		if item.State == pullrequest.Conflict {
			return &exit.Error{Code: exit.Conflict, Err: fmt.Errorf("%s does not fit onto %s alone: %s; --stacked puts it onto the others",
				item.Name, item.Base, termtext.Line(strings.Join(item.Conflicts[0].Paths, ", ")))}
		}
	}
	return nil
}

// prError gives errors about the request of the user the exit code of usage.
func prError(err error) error {
	if err == nil {
		return nil
	}
	advice := ""
	if hinted, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		advice = hinted.Hint()
	}
	for _, known := range []func(error) bool{
		is[*pullrequest.NothingLandedError], is[*pullrequest.TargetError], is[*landing.TicketError], is[*pullrequest.EmptyGroupError],
		is[*pullrequest.EmptyClassError], is[*pullrequest.TakenError], is[*reviewpart.WholeError],
		func(err error) bool { return errors.Is(err, pullrequest.ErrNoOwners) },
	} {
		if known(err) {
			return &exit.UsageError{Text: "pr: " + err.Error(), Advice: advice}
		}
	}
	return err
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
