package pi

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
)

// askModels starts pi to list the models that it has logins for. It asks nobody
// for them.
func askModels(r agent.Request) (agent.Launch, error) {
	files, err := state(&r, nil)
	if err != nil {
		return agent.Launch{}, fmt.Errorf("list the models of pi: %w", err)
	}
	return agent.Launch{
		Argv: append(slices.Clone(r.Spec.Command), "--no-extensions", "--list-models"),
		Env:  environment(r.State), Unset: inherited(), Files: files,
	}, nil
}

// readModels reads the table that it prints: its first line names the columns.
func readModels(said string) []agent.Listed {
	var all []agent.Listed
	var columns []string
	for line := range strings.Lines(said) {
		cells := strings.Fields(line)
		if len(columns) == 0 {
			if slices.Contains(cells, "provider") && slices.Contains(cells, "model") {
				columns = cells
			}
			continue
		}
		if len(cells) != len(columns) {
			continue // no row
		}
		cell := func(name string) string {
			if at := slices.Index(columns, name); at >= 0 {
				return cells[at]
			}
			return ""
		}
		all = append(all, agent.Listed{
			Name:   cell("provider") + "/" + cell("model"),
			Window: roles.Window{Context: count(cell("context")), Output: count(cell("max-out"))},
		})
	}
	return all
}

// count reads tokens as pi rounds them for people: 512, 32.8K, 1M; 0 where they
// are none.
func count(text string) int64 {
	unit := 1.0
	for suffix, is := range map[string]float64{"K": 1e3, "M": 1e6} {
		if number, ok := strings.CutSuffix(text, suffix); ok {
			text, unit = number, is
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0) || n*unit > 1<<40 {
		return 0
	}
	return int64(math.Round(n * unit))
}
