package inspect

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// NewShowCommand returns the command `swarm show`.
func NewShowCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "show one agent: prompt, answer, patch, cause, usage",
		ArgsUsage: "[AGENT… | -]",
		Flags:     append([]cli.Flag{cmdline.JSONFlag()}, selection.SelectorFlags()...),
		Description: `Shows an agent: its prompt, its answer, its changes, why it did not complete, its
ignored files, and the paths of its output. Several agents are shown one after the
other; with --json, one object a line.

A commit that a merge made is shown with its agent, its prompt, the tree that passed
the check and the note of merge --attest.

Examples:
  swarm show a3
  swarm show k3x9q2/packages/foo
  swarm show --failed
  swarm show HEAD
  swarm show a3 --json`,
		Action: func(c *cli.Context) error { return showAction(c, env) },
	}
}

// showObject is swarm.agent/1, described in docs/json.md.
type showObject struct {
	Schema string `json:"schema"`
	Run    string `json:"run"`
	view.AgentObject
	Prompt    string      `json:"prompt,omitempty"`
	Command   []string    `json:"command,omitempty"`
	Base      string      `json:"base"`
	Paths     []string    `json:"paths,omitempty"`
	Landings  []int       `json:"landings,omitempty"`
	Allowed   []string    `json:"allowed_paths,omitempty"`
	Allow     []string    `json:"allow,omitempty"`
	Remarks   []string    `json:"remarks,omitempty"`
	Earlier   []string    `json:"earlier_patches,omitempty"`
	Exit      *exitObject `json:"exit,omitempty"`
	Folder    string      `json:"folder,omitempty"`
	Workspace string      `json:"workspace,omitempty"`
	Check     string      `json:"verify_output_file,omitempty"`
	More      int         `json:"ignored_more,omitempty"`
	// spent is the cost of its usage, for people: tokens without a price are
	// not shown as free.
	spent usageRow
	// awaits is set for a patch that a reviewer was to look at, and that has no
	// finding.
	awaits bool
	// conflict and ways tell of a conflict and the commands that resolve it; empty
	// for none.
	conflict, ways string
	// Refused is why the check of a merge left its patch out; refusal is the same in
	// words.
	Refused *view.RefusedObject `json:"refused,omitempty"`
	refusal string
}

type exitObject struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
	Left   int    `json:"left,omitempty"`
	CPU    int64  `json:"cpu_ms,omitempty"`
	MaxRSS int64  `json:"max_rss_bytes,omitempty"`
}

func showAction(c *cli.Context, env cmdline.Env) error {
	if shown, err := showCommit(c, env); err != nil || shown {
		return err
	}
	p, s, err := selection.Open(c, env, 0, -1)
	if err != nil {
		return err
	}
	if err := s.NonePicked("show"); err != nil {
		return err
	}
	agents := selection.Distinct(s.Named)
	if len(agents) == 0 || !s.OnlyAgents() {
		a, err := s.One("show")
		if err != nil {
			return err
		}
		agents = []*store.Agent{a}
	}
	if !c.Bool("json") {
		if err := cmdline.Page(p, c); err != nil {
			return err
		}
	}
	for i, a := range agents {
		o := newShowObject(s, a)
		if a.Conflict != nil {
			at := view.ConflictAt{Run: s.Run.ID, Agent: a, Ref: a.Conflict.Ref, Open: view.Resolving(p, s.View)[a.ID]}
			o.conflict, o.ways = view.ConflictText(s.View, a), strings.Join(at.Ways(env.Calls), view.OrWay)
		}
		if c.Bool("json") {
			err = cmdline.PrintJSON(env.Stdout, o)
		} else {
			err = showAgent(p, c, s, agentShown{a, o, i > 0})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// agentShown is an agent of several that are shown.
type agentShown struct {
	agent  *store.Agent
	object showObject
	later  bool // another agent stands before it
}

func showAgent(p *cmdline.Place, c *cli.Context, s *selection.Selection, shown agentShown) error {
	var err error
	if shown.object.spent, err = spentBy(c.Context, p, s, shown.agent); err != nil {
		return err
	}
	if shown.later {
		if _, err := fmt.Fprintln(p.Env.Stdout); err != nil {
			return err
		}
	}
	term := terminal.Detect(p.Env.Stdout, p.Env.Getenv)
	if m := shown.agent.Module; m != nil {
		return printModule(p.Env.Stdout, term, shown.object, *m)
	}
	return printAgent(p.Env.Stdout, term, shown.object)
}

func newShowObject(s *selection.Selection, a *store.Agent) showObject {
	config, _ := session.EngineConfig(s.View) // as in newRunObject
	o := showObject{
		Schema: "swarm.agent/1", Run: s.Run.ID, AgentObject: view.NewAgentObject(config, s.View, a, time.Now()),
		Prompt: task.Prompt(a.Call.Input), Command: a.Call.Command, Base: a.Call.Base,
		Landings: a.Landings, Allowed: a.Call.Paths, Allow: a.Call.Allow,
	}
	for _, c := range a.Earlier {
		if c.Attempt != a.Attempt {
			o.Earlier = append(o.Earlier, task.AttemptName(a.ID, c.Attempt))
		}
	}
	for _, r := range a.Remarks {
		o.Remarks = append(o.Remarks, r.Text)
	}
	o.awaits = s.View.Status != store.RunRunning && errors.Is(landing.Landable(config.Review, a), landing.ErrUnreviewed)
	if a.Attempt > 0 {
		o.Folder = s.Run.Attempt(a.ID, a.Attempt)
	}
	if l := a.Lease(); l != nil {
		o.Workspace = l.Dir
	}
	if a.Exit != nil {
		o.Exit = &exitObject{
			Code: a.Exit.Code, Signal: a.Exit.Signal, Left: a.Exit.Left,
			CPU: a.Exit.CPU, MaxRSS: a.Exit.MaxRSS,
		}
	}
	if r := a.Result(); r != nil {
		work := r.Done()
		o.Check, o.More = work.Check, work.IgnoredMore
		if work.Patch != nil {
			o.Paths, o.Base = work.Patch.Paths, work.Patch.Base
		}
	}
	if a.Refusal != nil {
		refused := view.NewRefusedObject(a.Refusal.Ref, a.Refusal.Refusal)
		o.Refused, o.refusal = &refused, landing.RefusalText(a.Refusal.Ref, a.Refusal.Refusal)
	}
	o.Label = engine.Title(a.ID, a.Call)
	if a.Module != nil {
		o.Patch.Modules = patch.Modules(a)
	}
	if a.Copy > 0 && patch.LandedCopies(s.View)[patch.CopyName(a.ID, a.Copy)] {
		landed := true
		o.Landed, o.StateText = &landed, "landed"
	}
	return o
}

// printAgent prints an agent for a person. All of it is foreign text.
func printAgent(w io.Writer, term terminal.Output, o showObject) error {
	p := portrait{term: term}
	p.facts(o)
	p.texts(o)
	_, err := io.WriteString(w, p.String())
	return err
}

// portrait is the description of an agent: lines of facts, then blocks of text.
// Empty facts are left out.
type portrait struct {
	strings.Builder
	term terminal.Output // whose colors it has
}

func (p *portrait) line(what, text string) {
	if text != "" {
		fmt.Fprintf(p, "%-10s %s\n", what, termtext.Line(text))
	}
}

func (p *portrait) block(title, text string) {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return
	}
	fmt.Fprintf(p, "\n%s\n", p.term.Paint(terminal.StyleTitle, title+":"))
	for l := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(p, "  %s\n", termtext.Line(l))
	}
}

func (p *portrait) facts(o showObject) {
	p.line("agent", fmt.Sprintf("%s/%s  %s", o.Run, o.ID, o.Label))
	p.line("kind", strings.TrimSpace(o.Kind+" "+o.Model))
	p.line("role", o.Role)
	fmt.Fprintf(p, "%-10s %s\n", "status", p.term.State(termtext.Line(o.StateText+attemptText(o.Attempt))))
	if o.Error != nil {
		p.line("cause", task.ErrorKind(o.Error.Kind).Explain(o.Error.Message))
	}
	if o.Verified != nil {
		fmt.Fprintf(p, "%-10s %s\n", "verified", p.term.State(cmdline.YesNo(o.Verified)))
	}
	if o.Reviewed != nil {
		p.line("reviewed", passText(*o.Reviewed))
	} else if o.awaits {
		p.line("reviewed", "no")
	}
	p.line("stage", o.Stage)
	p.line("time", view.TimesText(o.AgentObject))
	if o.Exit != nil {
		p.line("exit", exitLine(o.Exit))
	}
	p.line("depends on", strings.Join(o.DependsOn, ", "))
	if o.Review != nil {
		p.line("review", o.Review.Verdict+" "+o.Review.Reason)
	}
	p.line("base", o.Base)
	if o.Patch != nil {
		p.line("patch", fmt.Sprintf("%s, +%d -%d, %s", termtext.Count(o.Patch.Files, "file", "files"),
			o.Patch.Added, o.Patch.Deleted, cmp.Or(o.Patch.File, "its text is not kept")))
		p.line("commit", o.Patch.Commit)
		for _, m := range o.Patch.Modules {
			p.line("submodule", moduleText(o.ID, m))
		}
		p.line("landed", cmdline.YesNo(o.Landed))
	}
	p.line("conflict", strings.TrimPrefix(o.conflict, "conflict "))
	p.line("resolve", o.ways)
	p.line("refused", o.refusal)
	p.line("folder", o.Folder)
	p.line("workspace", o.Workspace)
	p.line("usage", usageText(o.Usage, o.spent))
	if len(o.Command) > 0 {
		p.line("command", fmt.Sprintf("%q", o.Command))
	}
}

// moduleText names the patch of a submodule.
func moduleText(agent string, m task.ModulePatch) string {
	return fmt.Sprintf("%s/%s, %s, +%d -%d, commit %s, %s", agent, m.Path, termtext.Count(m.Files, "file", "files"),
		m.Added, m.Deleted, m.Commit, cmp.Or(m.File, "its text is not kept"))
}

// paths prints a block of file names, each on a line.
func (p *portrait) paths(title string, names []string) {
	lines := make([]string, len(names))
	for i, name := range names {
		lines[i] = termtext.Line(name)
	}
	p.block(title, strings.Join(lines, "\n"))
}

func (p *portrait) texts(o showObject) {
	p.block("prompt", o.Prompt)
	p.block("answer", o.Output)
	p.block("notes", strings.Join(o.Notes, "\n"))
	p.block("problems that were found", strings.Join(o.Problems, "\n"))
	p.block("remarks", strings.Join(o.Remarks, "\n"))
	p.block("may change", strings.Join(o.Allowed, "\n"))
	p.block("may do without asking", strings.Join(o.Allow, "\n"))
	p.block("earlier attempts with a patch", strings.Join(o.Earlier, " "))
	p.paths("changed", o.Paths)
	if o.Patch != nil {
		p.paths("which agents, git or CI read; check it", o.Patch.Marked)
	}
	p.block("ignored by the base, not in the patch", ignoredText(o.Ignored, o.More))
	p.block("too large, not in the patch", ignoredText(o.Large, o.LargeMore))
	if o.Check != "" {
		p.block("output of the check ("+o.Check+")", view.ReadTail(o.Check)+view.ReadTail(strings.TrimSuffix(o.Check, ".out")+".err"))
	}
	p.block(refusedTitle(o.Refused), view.RefusedBlock(o.Refused))
	if o.Error != nil && o.Folder != "" {
		p.block("end of its stderr", view.ReadTail(filepath.Join(o.Folder, "stderr")))
	}
}

// refusedTitle is the title over the evidence of a refusal.
func refusedTitle(r *view.RefusedObject) string {
	if r != nil && r.Kind == event.RefusedUndoes {
		return "landed lines that it takes back"
	}
	return "check of the merge that refused it"
}

// passText says how a review ended.
func passText(pass bool) string {
	if pass {
		return "passed"
	}
	return "not passed"
}

func attemptText(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" (attempt %d)", n)
}

func exitLine(e *exitObject) string {
	text := fmt.Sprintf("code %d", e.Code)
	if e.Signal != "" {
		text = e.Signal
	}
	text += fmt.Sprintf(", cpu %s, peak %s", termtext.Duration(time.Duration(e.CPU)*time.Millisecond), termtext.Bytes(e.MaxRSS))
	if e.Left > 0 {
		text += ", " + termtext.Count(e.Left, "process it left behind was", "processes it left behind were") + " ended"
	}
	return text
}

func ignoredText(files []task.Ignored, more int) string {
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "%s  %s\n", termtext.Line(f.Path), termtext.Bytes(f.Bytes))
	}
	if more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return b.String()
}

// usageText is the usage of an agent, with notes on unreported or unknown cost.
func usageText(u *task.Usage, spent usageRow) string {
	if u == nil {
		return ""
	}
	text := fmt.Sprintf("%d in, %d out, ", u.Input, u.Output)
	if u.CacheRead > 0 {
		text += fmt.Sprintf("%d cached, ", u.CacheRead)
	}
	if u.CacheWrite > 0 {
		text += fmt.Sprintf("%d written to the cache, ", u.CacheWrite)
	}
	if u.CostUSD == 0 && spent.Cost == 0 && len(spent.Unpriced) > 0 {
		return text + "cost not known"
	}
	if u.CostUSD == 0 && spent.Estimated > 0 {
		text += fmt.Sprintf("$%.4f estimated", spent.Estimated)
	} else {
		text += fmt.Sprintf("$%.4f", u.CostUSD)
	}
	switch {
	case u.ComputedUSD == 0:
	case u.ComputedUSD < u.CostUSD:
		text += fmt.Sprintf(", $%.4f of it computed", u.ComputedUSD)
	default:
		text += " computed"
	}
	if len(spent.Unpriced) > 0 {
		text += ", more is not known"
	}
	return text
}
