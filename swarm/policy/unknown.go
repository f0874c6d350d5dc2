package policy

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"agentswarm/risk"
	"agentswarm/risk/verb"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// unknownRecord is swarm.unknown/1, described in docs/json.md: an agent ran a program
// without a rule.
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
func (j *Judge) recordUnknown(r *engine.Ruling) error {
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

// UnknownProgram is a program without a rule, with the verdicts on the actions that
// would run it.
type UnknownProgram struct {
	Program string `json:"program"`
	Runs    int    `json:"runs"`
	Proceed int    `json:"proceed"`
	Ask     int    `json:"ask"`
	Deny    int    `json:"deny"`
	// Verbs are the words that made an action ask, each once.
	Verbs []string `json:"verbs,omitempty"`
	// Settle is the text for risk.toml that would settle the program.
	Settle string `json:"settle"`

	classes map[string]bool
}

// ReadUnknown returns the programs without a rule that the agents of a run ran, or
// an agent of it, the most frequent first. It skips a damaged line and tells damaged.
// The error says that the record cannot be read.
func ReadUnknown(at store.Address, damaged func(line int, err error)) ([]*UnknownProgram, error) {
	byName := map[string]*UnknownProgram{}
	err := eachLine(at.Run, at.Run.UnknownLog(), damaged, func(line []byte) error {
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
			u = &UnknownProgram{Program: r.Program, classes: map[string]bool{}}
			byName[r.Program] = u
		}
		u.count(&r)
		return nil
	})
	all := make([]*UnknownProgram, 0, len(byName))
	for _, u := range byName {
		slices.Sort(u.Verbs)
		u.Settle = u.settle()
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b *UnknownProgram) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), strings.Compare(a.Program, b.Program))
	})
	return all, err
}

func (u *UnknownProgram) count(r *unknownRecord) {
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

// settle returns the line of risk.toml, below [verbs], that would settle the
// program. For a program that only destroys, the line says that its removals can be
// restored: its other verbs still ask.
func (u *UnknownProgram) settle() string {
	key := "harmless"
	if len(u.classes) == 1 && (u.classes[verb.Destruction.String()] || u.classes[verb.Removal.String()]) {
		key = "restorable"
	}
	return fmt.Sprintf("%s = [%q]", key, u.Program)
}
