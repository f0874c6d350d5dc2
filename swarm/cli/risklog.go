package cli

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

// riskLog is the record of a run: a line for each decision. It is made with
// the first.
type riskLog struct {
	run  *store.Run
	path string
	mu   sync.Mutex // guards writing
}

// riskRecord is swarm.risk/1, described in docs/json.md.
type riskRecord struct {
	Time    time.Time `json:"t"`
	Run     string    `json:"run"`
	Agent   task.ID   `json:"agent"`
	Attempt int       `json:"attempt"`

	Action json.RawMessage `json:"action"` // without secrets
	Place  riskWhere       `json:"place"`

	Tier    risk.Tier    `json:"tier"`
	Verdict risk.Verdict `json:"verdict"`
	Allow   bool         `json:"allow"`
	Opaque  bool         `json:"opaque,omitempty"`
	Blocked bool         `json:"blocked,omitempty"`
	Rules   []string     `json:"rules,omitempty"`
	Parts   []riskPart   `json:"parts,omitempty"`

	Grants   []riskGrant `json:"grants,omitempty"`
	AgentsMD string      `json:"agents_md,omitempty"` // sha256 of the file at the base
	Ruleset  string      `json:"ruleset,omitempty"`

	By       task.By `json:"by"`
	Question string  `json:"question,omitempty"`
	Snapshot string  `json:"snapshot,omitempty"` // the commit of what was captured before
	Reason   string  `json:"reason,omitempty"`
}

// riskWhere is where an action would have happened.
type riskWhere struct {
	Root    string `json:"root"`
	Backend string `json:"backend,omitempty"`
	Shared  bool   `json:"shared"`
	Branch  string `json:"branch,omitempty"`
}

// riskPart is one thing that an action would do.
type riskPart struct {
	Rule string    `json:"rule"`
	Tier risk.Tier `json:"tier"`
	Argv []string  `json:"argv,omitempty"`
	Via  []string  `json:"via,omitempty"`
}

// riskGrant is a grant that an action proceeded by.
type riskGrant struct {
	Where string `json:"where"`
	Text  string `json:"text"`
}

// Record keeps what became of an action: of all that are above SAFE, or of all.
func (j *judge) Record(r *engine.Ruling, s engine.Settlement) {
	if err := j.recordUnknown(r); err != nil {
		j.bench.deps.Warn("the record of programs without a rule: " + oneLine(err))
	}
	if r.Tier == risk.Safe && r.Verdict == risk.Proceed && s.Allow && !j.bench.caution.Audit {
		return
	}
	record := j.record(r, s)
	if err := j.log.append(record); err != nil {
		j.bench.deps.Warn("the record of risks: " + oneLine(err))
	}
}

// record is the line of an action.
func (j *judge) record(r *engine.Ruling, s engine.Settlement) *riskRecord {
	q := r.Request
	out := &riskRecord{
		Time: j.bench.deps.Now().UTC(), Run: j.bench.run.ID, Agent: q.Agent, Attempt: q.Attempt,
		Place: riskWhere{Root: q.Workspace.Path(), Backend: string(q.Workspace.Backend)},
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
		out.Parts = append(out.Parts, riskPart{Rule: p.Rule, Tier: max(p.Tier, risk.Safe), Argv: redacted(p.Argv), Via: p.Via})
	}
	for _, use := range found.decision.Used {
		out.Grants = append(out.Grants, riskGrant{Where: use.Grant.Where, Text: use.Grant.Text})
	}
	if root := found.law.authority.Root; root != nil {
		out.AgentsMD = root.Hash
	}
	out.Ruleset = found.law.rules.Hash()
	return out
}

// redacted are words without secrets: one may give the next one away.
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

// append adds a line, whole or not at all.
func (l *riskLog) append(r any) error {
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
