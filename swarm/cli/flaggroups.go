package cli

import (
	"slices"

	"github.com/urfave/cli/v2"
)

// flagGroup is a title and the flags of a command under it.
type flagGroup struct {
	title  string
	flags  []cli.Flag
	common bool // the short help has them
}

// manyFlags is from how many flags on a command has them in groups.
const manyFlags = 16

// commonFlags are the flags that most users of a command with many flags need,
// the most common first.
func commonFlags() []string {
	return []string{
		"feedback", "fresh", "each", "agent", "model", "verify", "merge", "jobs", "budget-usd", "detach", "dry-run", "yes",
		"run-timeout", "script", "args",
	}
}

// mostCommon is how many flags the short help has.
const mostCommon = 10

// flagTopic is a group of flags by their names.
type flagTopic struct {
	title string
	names []string
}

// flagTopics are the groups of the other flags.
func flagTopics() []flagTopic {
	return []flagTopic{
		{"Work", []string{
			"each", "count", "prompt", "csv", "base", "with-changes", "overlap", "stages", "rounds", "workflow", "eval", "args", "script", "reconfigure",
			"feedback", "remarks", "like", "fresh", "onto", "failed", "verified", "unlanded", "session", "fork", "cold", "system-file", "schema-file",
		}},
		{"Agents and models", []string{
			"agent", "role", "agent-model", "model", "effort", "max-thinking-tokens", "tools", "read-only", "route",
			"endpoint", "api", "key-env", "provider-file", "context-window",
		}},
		{"Checks and landing", []string{"setup", "warm", "verify", "review", "merge", "into", "all-or-nothing", "as-they-pass", "screen", "slots", "order", "hand-back", "attest", "drop"}},
		{"Commits", []string{"message", "squash", "trailer", "author"}},
		{"Pull requests", []string{"owners", "group", "class", "stacked", "max", "draft", "title", "body", "remote", "prefix", "forge", "dir"}},
		{"Conflicts", []string{"resolve", "continue", "abort"}},
		{"Limits and money", []string{
			"jobs", "max-agents", "retries", "timeout", "idle-timeout", "run-timeout", "budget-tokens", "budget-usd", "budget-time",
			"max-turns", "wait-limits", "max-windows", "max-file", "yes",
		}},
		{"Safety", []string{
			"sandbox", "backend", "hide", "write", "pass-env", "confined", "allow", "audit", "trust", "anyway",
			"questions", "question-timeout", "notify",
		}},
		{"Output", []string{"dry-run", "detach", "watch", "quiet", "json", "jsonl"}},
	}
}

// flagGroups are the visible flags of a command as its help shows them. A
// command with few flags has a single group. Another has the common flags, then
// the others by topic.
func flagGroups(cmd *cli.Command) []flagGroup {
	flags := visibleFlags(cmd)
	switch {
	case len(flags) == 0:
		return nil
	case len(flags) < manyFlags:
		return []flagGroup{{title: "Flags", flags: flags, common: true}}
	}
	rest := slices.Clone(flags)
	take := func(names []string, most int) []cli.Flag {
		var taken []cli.Flag
		for _, name := range names {
			at := slices.IndexFunc(rest, func(f cli.Flag) bool { return f.Names()[0] == name })
			if at >= 0 && len(taken) < most {
				taken = append(taken, rest[at])
				rest = slices.Delete(rest, at, at+1)
			}
		}
		return taken
	}
	groups := []flagGroup{{title: "Common flags", flags: take(commonFlags(), mostCommon), common: true}}
	for _, topic := range flagTopics() {
		groups = append(groups, flagGroup{title: topic.title, flags: take(topic.names, len(flags))})
	}
	groups = append(groups, flagGroup{title: "Other flags", flags: rest})
	return slices.DeleteFunc(groups, func(g flagGroup) bool { return len(g.flags) == 0 })
}

// hiddenFlags counts the flags that the short help of a command leaves out.
func hiddenFlags(cmd *cli.Command) int {
	n := 0
	for _, g := range flagGroups(cmd) {
		if !g.common {
			n += len(g.flags)
		}
	}
	return n
}

// visibleFlags are the flags that a user is to know of.
func visibleFlags(cmd *cli.Command) []cli.Flag {
	return slices.DeleteFunc(slices.Clone(cmd.Flags), func(f cli.Flag) bool {
		v, ok := f.(cli.VisibleFlag)
		return ok && !v.IsVisible()
	})
}
