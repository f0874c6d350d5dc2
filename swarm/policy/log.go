package policy

import (
	"encoding/json"
	"errors"
	"os"
	"sync"
	"time"

	"agentswarm/risk"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// logFile is a record of a run, with a line for each entry. The first entry creates
// it.
type logFile struct {
	run  *store.Run
	path string
	mu   sync.Mutex // guards writing
}

// record is swarm.risk/1, described in docs/json.md: a decision about an action.
type record struct {
	Time    time.Time `json:"t"`
	Run     string    `json:"run"`
	Agent   task.ID   `json:"agent"`
	Attempt int       `json:"attempt"`

	Action json.RawMessage `json:"action"` // without secrets
	Place  recordPlace     `json:"place"`

	Tier    risk.Tier    `json:"tier"`
	Verdict risk.Verdict `json:"verdict"`
	Allow   bool         `json:"allow"`
	Opaque  bool         `json:"opaque,omitempty"`
	Blocked bool         `json:"blocked,omitempty"`
	Rules   []string     `json:"rules,omitempty"`
	Parts   []recordPart `json:"parts,omitempty"`

	Grants   []recordGrant `json:"grants,omitempty"`
	AgentsMD string        `json:"agents_md,omitempty"` // sha256 of the file at the base
	Ruleset  string        `json:"ruleset,omitempty"`

	By       task.By `json:"by"`
	Question string  `json:"question,omitempty"`
	Snapshot string  `json:"snapshot,omitempty"` // the commit of the files captured before
	Reason   string  `json:"reason,omitempty"`
}

// recordPlace is the place of an action.
type recordPlace struct {
	Root    string `json:"root"`
	Backend string `json:"backend,omitempty"`
	Shared  bool   `json:"shared"`
	Branch  string `json:"branch,omitempty"`
}

// recordPart is a part of an action.
type recordPart struct {
	Rule string    `json:"rule"`
	Tier risk.Tier `json:"tier"`
	Argv []string  `json:"argv,omitempty"`
	Via  []string  `json:"via,omitempty"`
}

// recordGrant is a grant that let an action proceed.
type recordGrant struct {
	Where string `json:"where"`
	Text  string `json:"text"`
}

// Record writes the decision about an action to the record of the run. SAFE actions
// that proceed are left out, unless the run audits all.
func (j *Judge) Record(r *engine.Ruling, s engine.Settlement) {
	if err := j.recordUnknown(r); err != nil {
		j.Warn("the record of programs without a rule", err)
	}
	if r.Tier == risk.Safe && r.Verdict == risk.Proceed && s.Allow && !j.Policy.Audit {
		return
	}
	if err := j.log.append(j.record(r, s)); err != nil {
		j.Warn("the record of risks", err)
	}
}

// record returns the entry for an action.
func (j *Judge) record(r *engine.Ruling, s engine.Settlement) *record {
	q := r.Request
	out := &record{
		Time: j.Now().UTC(), Run: j.Run.ID, Agent: q.Agent, Attempt: q.Attempt,
		Place: recordPlace{Root: q.Workspace.Path(), Backend: string(q.Workspace.Backend)},
		Tier:  r.Tier, Verdict: r.Verdict, Allow: s.Allow, Rules: r.Rules,
		By: s.By, Question: s.Question, Snapshot: s.Snapshot, Reason: s.Reason,
	}
	shown := q.Action
	shown.Command, shown.Target = risk.Redact(shown.Command), risk.Redact(shown.Target)
	shown.Git = redacted(shown.Git)
	out.Action, _ = json.Marshal(shown) // texts always can be
	found, ok := r.Detail.(*judgement)
	if !ok {
		return out
	}
	out.Opaque, out.Blocked = found.finding.Opaque, found.finding.Blocked
	out.Place.Shared, out.Place.Branch = found.place.Shared, found.place.Branch
	for _, p := range found.finding.Parts {
		out.Parts = append(out.Parts, recordPart{Rule: p.Rule, Tier: max(p.Tier, risk.Safe), Argv: redacted(p.Argv), Via: p.Via})
	}
	for _, use := range found.decision.Used {
		out.Grants = append(out.Grants, recordGrant{Where: use.Grant.Where, Text: use.Grant.Text})
	}
	if root := found.law.Authority.Root; root != nil {
		out.AgentsMD = root.Hash
	}
	out.Ruleset = found.law.Rules.Hash()
	return out
}

// redacted returns words without secrets. A word may mark the next as a secret.
func redacted(words []string) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = risk.Redact(w)
		if i > 0 && risk.Redact(words[i-1]+" "+w) != risk.Redact(words[i-1])+" "+risk.Redact(w) {
			all[i] = "[redacted]"
		}
	}
	return all
}

// append writes an entry in a single call.
func (l *logFile) append(r any) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := l.run.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}
