package follow

import (
	"fmt"
	"io"
	"strings"
	"time"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/risk"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/inbox/waiting"
)

// groupFrom names the asking agent, or the number and the ids of several.
func groupFrom(g waiting.Group) string {
	if len(g) == 1 {
		return g[0].From()
	}
	return fmt.Sprintf("%s: %s/%s", termtext.Count(len(g), "question", "questions"), g[0].Run, waiting.Ranges(g.Agents()))
}

// groupHint explains how to answer several questions; empty for a single
// question.
func groupHint(g waiting.Group) string {
	if len(g) == 1 {
		return ""
	}
	var ids []string
	for _, q := range g {
		ids = append(ids, q.ID)
	}
	named := strings.Join(ids, " ")
	if g[0].Risk != nil && g[0].Risk.Tier == risk.Destructive.String() {
		return fmt.Sprintf("each of these is allowed on its own, or all of them by --all; a no is for all: %s", named)
	}
	if g[0].Risk != nil {
		return fmt.Sprintf("an answer to one of these is for all of them: %s", named)
	}
	return fmt.Sprintf("these ask the same; answer one by its id, or all: %s approve %s", cmdline.Program, named)
}

// printHints prints hints beside the questions.
func printHints(w io.Writer, all []waiting.Question) {
	for _, g := range waiting.Groups(all) {
		if hint := groupHint(g); hint != "" {
			fmt.Fprintln(w, "hint: "+termtext.Line(hint))
		}
		if q := g[0]; q.Risk != nil && q.Risk.Hint != "" {
			fmt.Fprintln(w, "hint: "+termtext.Line(q.Risk.Hint))
		}
	}
}

func inboxTable(all []waiting.Question) *terminal.Table {
	groups := waiting.Groups(all)
	t := &terminal.Table{Columns: []terminal.Column{
		{Title: "ID"}, {Title: "AGENT", Flex: len(groups) < len(all)}, {Title: "LABEL", Flex: true},
		{Title: "AGE", Right: true}, {Title: "WANTS", Flex: true},
	}}
	now := time.Now()
	for _, g := range groups {
		t.Row(g[0].ID, groupFrom(g), strings.Join(g.Labels(), ", "), termtext.Duration(now.Sub(g[0].Time)), questionText(g[0].Question))
	}
	return t
}
