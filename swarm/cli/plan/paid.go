package plan

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/roles"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/reviewer"
	"agentswarm/swarm/script"
	"agentswarm/swarm/spending"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// paidJobs is how many agents that cost money run at once by default.
const paidJobs = 8

// Unasked is how many agents that cost money start without a question.
const Unasked = 10

// costsMoney reports whether any agent that a run starts costs money, as a
// rule. Of a script's agents it knows only the agent of calls without a name.
func costsMoney(p *cmdline.Place, pl *Plan) bool {
	known := cmdline.Kinds(p.Env).ByName()
	for name, spec := range pl.Config.Agents {
		if known[spec.Kind].Paid && (pl.Script == nil || pl.Script.Agent == name) {
			return true
		}
	}
	return false
}

// ErrDeclined says that somebody was asked whether a run may start, and said
// no.
var ErrDeclined = errors.New("not started")

// ConfirmPaid shows a person the plan of many agents that cost money, and asks
// once. Without a terminal it does not ask. It returns an error if the person
// declines.
func ConfirmPaid(p *cmdline.Place, pl *Plan, yes bool) error {
	if pl.Script != nil {
		return ConfirmScript(p, pl, yes)
	}
	return ConfirmCalls(p, pl.Config, pl.Calls, yes)
}

// ConfirmCalls is confirmPaid for calls that are about to start agents.
func ConfirmCalls(p *cmdline.Place, c engine.Config, calls []*task.Call, yes bool) error {
	known := cmdline.Kinds(p.Env).ByName()
	counts, paid := map[string]int{}, 0
	count := func(calls []*task.Call, does string) {
		for _, call := range calls {
			spec := c.Agents[call.Agent]
			if spec == nil || !known[spec.Kind].Paid {
				continue
			}
			paid++
			counts[strings.TrimSpace(spec.Name+" "+engine.SpecOf(c, call).Model)+does]++
		}
	}
	count(calls, "")
	count(reviewer.CallsOf(c, known, calls), ", to review patches")
	count(reviewer.SubjectCalls(c, known, calls), ", to name commits")
	line, err := unboundedLine(c, known, calls)
	if err != nil {
		return err
	}
	if yes || paid <= Unasked && line == "" || !canAsk(p.Env) {
		printUnbounded(p.Env.Stderr, line)
		return nil
	}
	var lines []string
	if line != "" {
		lines = append(lines, line)
	}
	for _, who := range slices.Sorted(maps.Keys(counts)) {
		lines = append(lines, fmt.Sprintf("%s: %s", termtext.Line(who), termtext.Count(counts[who], "agent", "agents")))
	}
	return AskToStart(p.Env, append(lines, paidBounds(c))...)
}

// ConfirmScript is [ConfirmPaid] for a script that may start many agents. Only
// the script knows its agents, so the question has their maximum.
func ConfirmScript(p *cmdline.Place, pl *Plan, yes bool) error {
	most, bounded := script.CountAgents(script.Source{Name: pl.Script.Name, Text: pl.Script.Text})
	most = min(most, pl.Config.MaxAgents)
	much := fmt.Sprintf("up to %d agents", most)
	if !bounded {
		most = pl.Config.MaxAgents
		much = fmt.Sprintf("up to %d agents (--max-agents)", most)
	}
	who, paid := paidOfScript(p, pl), 0
	if len(who) > 0 {
		paid = most
	}
	if namers := paidNamers(p, pl, who); len(namers) > 0 {
		paid += most
		much += ", and as many to name commits"
		who = slices.Compact(slices.Sorted(slices.Values(append(who, namers...))))
	}
	var calls []*task.Call // as far as is known before it runs
	for _, name := range who {
		calls = append(calls, &task.Call{Agent: name})
	}
	line, err := unboundedLine(pl.Config, cmdline.Kinds(p.Env).ByName(), calls)
	if err != nil {
		return err
	}
	if yes || paid <= Unasked && line == "" || !canAsk(p.Env) {
		printUnbounded(p.Env.Stderr, line)
		return nil
	}
	lines := []string{
		fmt.Sprintf("%s: %s; those of %s cost money", termtext.Line(pl.Script.Name), much, termtext.Line(strings.Join(who, ", "))),
		paidBounds(pl.Config),
	}
	if line != "" {
		lines = append(lines, line)
	}
	return AskToStart(p.Env, lines...)
}

// paidOfScript are the agents that cost money and that a script may use: the
// agent of calls without a name, those that it names, and those of its calls'
// possible roles.
func paidOfScript(p *cmdline.Place, pl *Plan) (who []string) {
	ofRoles := pl.roleKinds()
	for _, name := range slices.Sorted(maps.Keys(pl.Config.Agents)) {
		used := name == pl.Script.Agent || slices.Contains(ofRoles, name) || pl.Script.Quotes(name)
		if used && costs(p, pl, name) {
			who = append(who, name)
		}
	}
	return who
}

// costs reports whether an agent of a run costs money.
func costs(p *cmdline.Place, pl *Plan, name string) bool {
	spec := pl.Config.Agents[name]
	return spec != nil && cmdline.Kinds(p.Env).ByName()[spec.Kind].Paid
}

// roleKinds are the agents of the roles that calls of a script may have: by their
// own word, by that of their type, or because they are routed there.
func (pl *Plan) roleKinds() (kinds []string) {
	o := pl.Config.Roles
	if o == nil || o.Agent != "" {
		return nil // no role changes the agent
	}
	reached := map[string]bool{}
	for _, rule := range o.Rules() {
		reached[rule.Role] = true
	}
	for name, t := range pl.Script.Types {
		if pl.Script.Quotes(name) {
			reached[t.Role] = true
		}
	}
	for name, role := range o.Table {
		if role.Kind != "" && (reached[name] || pl.Script.Quotes(name)) {
			kinds = append(kinds, role.Kind)
		}
	}
	return kinds
}

// paidNamers are the agents that cost money and name the commits of a script:
// the agent of the role commit, or else those that do its work.
func paidNamers(p *cmdline.Place, pl *Plan, workers []string) []string {
	if !reviewer.NamesCommits(pl.Config) {
		return nil
	}
	o := pl.Config.Roles
	switch kind := o.Table[roles.Commit].Kind; {
	case kind == "", o.Agent != "":
		return workers
	case costs(p, pl, kind):
		return []string{kind}
	default:
		return nil
	}
}

// paidBounds are the limits of agents that are about to start.
func paidBounds(c engine.Config) string {
	return fmt.Sprintf("%d at once; budget: %s", c.Jobs, cmp.Or(spending.BudgetText(c.Budget), "none"))
}

// CallsAgain are the calls of the agents that are wished for again.
func CallsAgain(v *store.View, wishes []engine.RetryRequest) (calls []*task.Call) {
	for _, w := range wishes {
		for _, id := range w.Agents {
			if a := v.Agent(id); a != nil {
				calls = append(calls, a.Now())
			}
		}
	}
	return calls
}

// printUnbounded prints the line about models without a price if there is no
// question about them; an empty line prints nothing.
func printUnbounded(w io.Writer, line string) {
	if line != "" {
		fmt.Fprintln(w, cmdline.Program+": "+termtext.Line(line))
	}
}

// canAsk reports whether a person sits at the terminal.
func canAsk(env cmdline.Env) bool {
	in, isFile := env.Stdin.(interface{ Fd() uintptr })
	return isFile && terminal.Detect(env.Stderr, env.Getenv).TTY && cmdline.IsTerminal(in.Fd())
}

// AskToStart shows the lines about the coming start, and asks once. Without a
// terminal it does not ask. It returns an error if the person declines.
func AskToStart(env cmdline.Env, lines ...string) error {
	if !canAsk(env) {
		return nil
	}
	for _, line := range lines {
		fmt.Fprintln(env.Stderr, line)
	}
	yes, err := cmdline.AskYes(env, "Start them?")
	if err == nil && !yes {
		return &exit.Error{Code: exit.Approval, Err: ErrDeclined}
	}
	return err
}
