package plan

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
)

// stagesSource is the script behind run --stages.
//
//go:embed stages.js
var stagesSource string

// stagesName is how messages call it.
const stagesName = "(stages)"

// How often work may go back to its implementer.
const (
	defaultRounds = 2
	maxRounds     = 99
)

// StageFlags are the flags of run that are about stages and reviews.
func StageFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "stages", Usage: "run a planner, an implementer and a reviewer, each in its own conversation"},
		&cli.IntFlag{Name: "rounds", Usage: "with --stages: send work that failed its check or review back up to `N` times (default 2)"},
		&cli.StringFlag{Name: "review", Usage: "`MODE` auto: review each patch by an agent that only reads; off (default)"},
	}
}

// readStages makes the script of --stages out of the task that is given.
func (pl *Plan) readStages(c *cli.Context, p *cmdline.Place, args []string) (found bool, err error) {
	if !c.Bool("stages") {
		if c.IsSet("rounds") {
			return false, exit.Usagef("run: --rounds is about --stages; give --stages too")
		}
		return false, nil
	}
	switch {
	case c.IsSet("eval"), c.IsSet("workflow"):
		return false, exit.Usagef("run: --stages excludes -e and -w: it is a script of its own")
	case len(pl.workflow.Command) > 0:
		return false, exit.Usagef("run: --stages is for agents that take a prompt, not for a command after --")
	case c.IsSet("args"), c.IsSet("review"):
		return false, exit.Usagef("run: --stages excludes --args and --review: it has a task and a reviewer of its own")
	case len(args) == 0 || strings.TrimSpace(args[0]) == "":
		return false, exit.Usagef("run: --stages needs the task in words, or - to read it from standard input")
	}
	task := args[0]
	if path, err := taskFile(p.Dir, task); err != nil {
		return false, err
	} else if path != "" || namesFile(p.Dir, task) {
		return false, &exit.UsageError{
			Text:   fmt.Sprintf("run: --stages: %s is a file, and a task is given in words", task),
			Advice: "to have the file read as one task, give - and the file as standard input",
		}
	}
	if task == "-" {
		sayTyped(p)
		if pl.Input, err = readAll(cmdline.Input(p.Env)); err != nil {
			return false, fmt.Errorf("read standard input: %w", err)
		}
		if task = string(pl.Input); strings.TrimSpace(task) == "" || !utf8.ValidString(task) {
			return false, exit.Usagef("run: --stages: standard input holds no task in words")
		}
	}
	rounds := defaultRounds
	if c.IsSet("rounds") {
		rounds = c.Int("rounds")
	}
	if rounds < 0 || rounds > maxRounds {
		return false, exit.Usagef("run: --rounds %d: want 0 to %d", rounds, maxRounds)
	}
	// The number stands in the text, so that how many agents it starts at most
	// can be told by that.
	text := strings.Replace(stagesSource, "ROUNDS", strconv.Itoa(rounds), 1)
	if err := pl.takeScript(stagesName, text); err != nil {
		return false, err
	}
	pl.Script.Args, err = json.Marshal(map[string]string{"task": task})
	return true, err
}

// Can returns the abilities of a run's configured agents.
func Can(known map[string]agent.Kind, c engine.Config) func(string) agent.Abilities {
	return func(name string) agent.Abilities {
		if spec := c.Agents[name]; spec != nil {
			return known[spec.Kind].Can
		}
		return agent.Abilities{}
	}
}

// namesFile reports whether a task is a single word that is the path of a file,
// of whatever kind. Three agents would be paid for a guess at its meaning.
func namesFile(dir, task string) bool {
	if strings.ContainsAny(task, " \t\n") {
		return false
	}
	if !filepath.IsAbs(task) {
		task = filepath.Join(dir, task)
	}
	stat, err := os.Stat(task)
	return err == nil && stat.Mode().IsRegular()
}
