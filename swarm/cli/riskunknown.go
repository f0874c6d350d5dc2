package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/risk"
	"agentswarm/risk/verb"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// unknownRecord is swarm.unknown/1, described in docs/json.md: an agent ran a
// program without a rule.
type unknownRecord struct {
	Agent   task.ID      `json:"agent"`
	Program string       `json:"program"`
	Verb    string       `json:"verb,omitempty"`
	Class   string       `json:"class,omitempty"`
	Verdict risk.Verdict `json:"verdict"` // of the whole action
}

// maxProgramName is the longest name of a program that is recorded, in bytes.
const maxProgramName = 128

// recordUnknown records the programs without a rule that an action would run.
func (j *judge) recordUnknown(r *engine.Ruling) error {
	found, ok := r.Detail.(*judgement)
	if !ok {
		return nil
	}
	var err error
	for _, name := range found.finding.Unlisted {
		if name == "" || len(name) > maxProgramName {
			continue
		}
		line := &unknownRecord{Agent: r.Request.Agent, Program: risk.Redact(name), Verdict: r.Verdict}
		for _, read := range found.finding.Readings {
			if read.Program == name && read.Class != verb.None {
				line.Verb, line.Class = risk.Redact(read.Verb), read.Class.String()
			}
		}
		err = errors.Join(err, j.unknown.append(line))
	}
	return err
}

// unknownProgram is a program without a rule, with what became of the actions
// that would run it.
type unknownProgram struct {
	Program string `json:"program"`
	Runs    int    `json:"runs"`
	Proceed int    `json:"proceed"`
	Ask     int    `json:"ask"`
	Deny    int    `json:"deny"`
	// Verbs are the words that asked, each once.
	Verbs []string `json:"verbs,omitempty"`
	// Settle is the text for risk.toml that would settle the program.
	Settle string `json:"settle"`

	classes map[string]bool
}

// unknownObject is swarm.riskunknown/1, described in docs/json.md.
type unknownObject struct {
	Schema   string            `json:"schema"`
	Run      string            `json:"run"`
	Programs []*unknownProgram `json:"programs"`
}

// unknownPrograms reads the record of a run, or of one of its agents: the most
// frequent program comes first.
func (p *place) unknownPrograms(at store.Address) ([]*unknownProgram, error) {
	byName := map[string]*unknownProgram{}
	err := p.eachRecord(at.Run.UnknownLog(), func(line []byte) error {
		var r unknownRecord
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		if r.Program == "" {
			return errors.New("it names no program")
		}
		if at.Agent != "" && at.Agent != r.Agent {
			return nil
		}
		u := byName[r.Program]
		if u == nil {
			u = &unknownProgram{Program: r.Program, classes: map[string]bool{}}
			byName[r.Program] = u
		}
		u.count(&r)
		return nil
	})
	all := make([]*unknownProgram, 0, len(byName))
	for _, u := range byName {
		slices.Sort(u.Verbs)
		u.Settle = u.settle()
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b *unknownProgram) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), strings.Compare(a.Program, b.Program))
	})
	return all, err
}

func (u *unknownProgram) count(r *unknownRecord) {
	u.Runs++
	switch r.Verdict {
	case risk.Proceed:
		u.Proceed++
	case risk.Ask:
		u.Ask++
	case risk.Deny:
		u.Deny++
	}
	if r.Verb != "" && !slices.Contains(u.Verbs, r.Verb) {
		u.Verbs = append(u.Verbs, r.Verb)
	}
	if r.Class != "" {
		u.classes[r.Class] = true
	}
}

// settle is the line of risk.toml, below [verbs], that would settle the
// program. Of one that only destroys it says that its removals can be restored,
// so that what it publishes still asks.
func (u *unknownProgram) settle() string {
	key := "harmless"
	if len(u.classes) == 1 && (u.classes[verb.Destruction.String()] || u.classes[verb.Removal.String()]) {
		key = "restorable"
	}
	return fmt.Sprintf("%s = [%q]", key, u.Program)
}

// printUnknown prints the programs without a rule that agents ran.
func printUnknown(c *cli.Context, env Env, run string, all []*unknownProgram) error {
	if c.Bool("json") {
		return printJSON(env.Stdout, unknownObject{Schema: "swarm.riskunknown/1", Run: run, Programs: all})
	}
	if len(all) == 0 {
		_, err := fmt.Fprintf(env.Stderr, "run %s: no program without a rule is on record\n", run)
		return err
	}
	t := &Table{Columns: []Column{
		{Title: "PROGRAM"}, {Title: "RUNS"}, {Title: "PROCEED"}, {Title: "ASK"}, {Title: "DENY"}, {Title: "VERBS", Flex: true}, {Title: "SETTLED BY, IN [verbs] OF risk.toml", Flex: true},
	}}
	for _, u := range all {
		t.Row(Printable(u.Program), fmt.Sprint(u.Runs), fmt.Sprint(u.Proceed), fmt.Sprint(u.Ask), fmt.Sprint(u.Deny),
			Printable(strings.Join(u.Verbs, ", ")), Printable(u.Settle))
	}
	width, _ := detect(env.Stdout, env.Getenv).Size()
	return t.Print(env.Stdout, width)
}
