package riskcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/risk"
	"agentswarm/risk/verb"
	"agentswarm/swarm/ask"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/policy"
)

func newRiskExplainCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "print the decision on a command, and why",
		ArgsUsage: "COMMAND",
		Flags:     []cli.Flag{riskWorktreeFlag(), riskBaseFlag(), cmdline.JSONFlag()},
		Description: `Judges a text for a shell as if an agent asked for it here, in this folder, and
prints its tier, the verdict, and each part above SAFE with the rule that found
it and the grant that it proceeds by, or why the grants of its kind do not hold.
For a program without a rule it prints the words that were read. It runs nothing.
The exit code is 0 whatever the verdict is.

Examples:
  swarm risk explain 'git push --force origin topic'
  swarm risk explain --worktree 'git stash'
  swarm risk explain --json 'find . -name "*.o" -delete'`,
		Action: func(c *cli.Context) error { return riskExplainAction(c, env) },
	}
}

func riskExplainAction(c *cli.Context, env cmdline.Env) error {
	args, err := cmdline.Arguments(c, 1, -1)
	if err != nil {
		return err
	}
	if len(args) > 1 {
		return exit.Usagef("risk explain: takes a command as one word; put it into quotes")
	}
	g, err := OpenSurroundings(c, env)
	if err != nil {
		return err
	}
	r := g.JudgeAction(&ask.Action{Command: args[0]})
	if c.Bool("json") {
		return cmdline.PrintJSON(env.Stdout, g.explained(args[0], r))
	}
	return g.printExplained(env, args[0], r)
}

// riskExplainedObject is swarm.riskexplained/1, described in docs/json.md.
type riskExplainedObject struct {
	Schema  string          `json:"schema"`
	Command string          `json:"command"`
	Cwd     string          `json:"cwd"`
	Place   riskPlaceObject `json:"place"`
	Base    string          `json:"base,omitempty"`
	riskAnswer
	Reason   string           `json:"reason,omitempty"`
	Instead  string           `json:"instead,omitempty"`
	Parts    []riskPartObject `json:"parts"`
	Unlisted []string         `json:"unlisted,omitempty"`
	Read     []riskReadObject `json:"read,omitempty"`
	AgentsMD string           `json:"agents_md,omitempty"`
	Ruleset  string           `json:"ruleset"`
}

type riskPlaceObject struct {
	Root   string `json:"root,omitempty"`
	Shared bool   `json:"shared"`
	Branch string `json:"branch,omitempty"`
}

type riskPartObject struct {
	Rule    string            `json:"rule"`
	Tier    risk.Tier         `json:"tier"`
	Text    string            `json:"text"`
	Argv    []string          `json:"argv,omitempty"`
	Via     []string          `json:"via,omitempty"`
	Reason  string            `json:"reason,omitempty"`
	Instead string            `json:"instead,omitempty"`
	Opaque  bool              `json:"opaque,omitempty"`
	Blocked bool              `json:"blocked,omitempty"`
	Grants  []riskGrantObject `json:"grants,omitempty"`
	// Ungranted says why no grant can hold, and Unmatched why these do not.
	Ungranted string              `json:"ungranted,omitempty"`
	Unmatched []riskUnmatchObject `json:"unmatched,omitempty"`
}

// riskUnmatchObject is a grant that does not hold, and why.
type riskUnmatchObject struct {
	riskGrantObject
	Why string `json:"why"`
}

// riskReadObject is how the words of a program without a rule were read.
type riskReadObject struct {
	Program    string   `json:"program"`
	Words      []string `json:"words"`
	Verb       string   `json:"verb,omitempty"`
	Class      string   `json:"class,omitempty"`
	Object     string   `json:"object,omitempty"`
	Restorable bool     `json:"restorable,omitempty"`
	Reads      string   `json:"reads,omitempty"`
}

type riskGrantObject struct {
	Where string `json:"where"`
	Text  string `json:"text"`
}

func (g *Surroundings) explained(command string, r policy.Ruling) riskExplainedObject {
	o := riskExplainedObject{
		Schema: "swarm.riskexplained/1", Command: command, Cwd: r.Cwd, Base: string(g.base),
		Place:      riskPlaceObject{Root: g.Place.Root, Shared: g.Place.Shared, Branch: g.Place.Branch},
		riskAnswer: newRiskAnswer(r), Reason: r.Decision.Reason, Instead: r.Decision.Instead,
		Parts: []riskPartObject{}, Unlisted: r.NamedUnlisted(), Read: readObjects(r.Readings), Ruleset: g.Rules.Hash(),
	}
	if g.Authority.Root != nil {
		o.AgentsMD = g.Authority.Root.Hash
	}
	for i, part := range r.Parts {
		p := riskPartObject{
			Rule: part.Rule, Tier: part.Tier, Text: policy.PartText(command, &part), Argv: part.Argv, Via: part.Via,
			Reason: part.Reason, Instead: part.Instead, Opaque: part.Opaque, Blocked: part.Blocked,
		}
		for _, use := range r.Used {
			if use.Part == i {
				p.Grants = append(p.Grants, riskGrantObject{use.Grant.Where, use.Grant.Text})
			}
		}
		if slices.Contains(r.Missing, i) || part.Blocked {
			var all []risk.Mismatch
			all, p.Ungranted = g.Authority.Mismatches(&part, g.Place)
			for _, m := range all {
				p.Unmatched = append(p.Unmatched, riskUnmatchObject{riskGrantObject{m.Grant.Where, m.Grant.Text}, m.Why})
			}
		}
		o.Parts = append(o.Parts, p)
	}
	return o
}

// printExplained prints a ruling for people: the facts about all of it, then a
// line for each part.
func (g *Surroundings) printExplained(env cmdline.Env, command string, r policy.Ruling) error {
	a := newRiskAnswer(r)
	rows := [][2]string{
		{"tier", a.Tier.String()}, {"verdict", a.Verdict.String()}, {"why", r.Decision.Reason}, {"instead", r.Decision.Instead},
		{"place", g.placeText(r.Cwd)}, {"grants", g.Suspended(r)}, {"no rule", strings.Join(r.NamedUnlisted(), ", ")},
		{"read", strings.Join(readTexts(r.Readings), "; ")},
	}
	for _, row := range rows {
		rows := []string{row[1]}
		if row[0] == "grants" {
			rows = append(rows, g.Unmatched(r)...)
		}
		for _, text := range rows {
			if text == "" {
				continue
			}
			if _, err := fmt.Fprintf(env.Stdout, "%-8s %s\n", row[0], termtext.Line(text)); err != nil {
				return err
			}
		}
	}
	if len(r.Parts) == 0 {
		return nil
	}
	t := &terminal.Table{Columns: []terminal.Column{
		{Title: "PART", Flex: true}, {Title: "TIER"}, {Title: "RULE"}, {Title: "BECOMES", Flex: true}, {Title: "WHY", Flex: true},
	}}
	for i := range r.Parts {
		part := &r.Parts[i]
		text := policy.PartText(command, part)
		if len(part.Via) > 0 {
			text += " (within " + strings.Join(part.Via, ", ") + ")"
		}
		t.Row(text, part.Tier.String(), part.Rule, r.Becomes(i), part.Reason)
	}
	if _, err := fmt.Fprintln(env.Stdout); err != nil {
		return err
	}
	width, _ := terminal.Detect(env.Stdout, env.Getenv).Size()
	return t.Print(env.Stdout, width)
}

// placeText is where a command was judged, for people.
func (g *Surroundings) placeText(cwd string) string {
	text := cwd
	switch {
	case g.nowhere:
		text += ", in no git repository"
	case g.Place.Branch != "":
		text += ", on " + g.Place.Branch
	}
	if g.Place.Shared {
		text += ", a linked work tree"
	}
	switch {
	case g.base != "":
		text += ", grants of " + g.base.Short()
	case !g.nowhere:
		text += ", no commit yet, so no grants"
	}
	return text
}

// readObjects are readings as JSON has them.
func readObjects(all []verb.Reading) []riskReadObject {
	var objects []riskReadObject
	for _, r := range all {
		if r.Program == "" {
			continue
		}
		o := riskReadObject{Program: r.Program, Words: append([]string{}, r.Words...), Object: r.Object, Restorable: r.Restorable, Reads: r.Read}
		if r.Class != verb.None {
			o.Verb, o.Class = r.Verb, r.Class.String()
		}
		objects = append(objects, o)
	}
	return objects
}

// readTexts say how the words of programs without a rule were read.
func readTexts(all []verb.Reading) []string {
	var texts []string
	for _, r := range all {
		if r.Program == "" {
			continue
		}
		words := "no subcommand"
		if len(r.Words) > 0 {
			words = strings.Join(r.Words, " ")
		}
		text := r.Program + ": " + words
		switch {
		case r.Class != verb.None && r.Object != "":
			text += fmt.Sprintf("; %q %s a local object, %q", r.Verb, r.Class, r.Object)
		case r.Class != verb.None && r.Restorable:
			text += fmt.Sprintf("; %q %s; its removals can be restored", r.Verb, r.Class)
		case r.Class != verb.None:
			text += fmt.Sprintf("; %q %s", r.Verb, r.Class)
		case r.Read != "":
			text += fmt.Sprintf("; %q reads", r.Read)
		default:
			text += "; no verb"
		}
		texts = append(texts, text)
	}
	return texts
}
