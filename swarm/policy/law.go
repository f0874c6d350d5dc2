package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/risk"
	"agentswarm/risk/repository"
	"agentswarm/swarm/ask"
	"agentswarm/swarm/hook"
	"agentswarm/worktree/git"
)

// Law holds the rules, the grants and the place by which actions are judged.
type Law struct {
	Rules     *risk.Rules
	Authority *risk.Authority
	Place     *risk.Place
}

// LawRequest names a place outside of a run, and the commit whose grants count.
type LawRequest struct {
	Place     repository.Request
	UserRules string   // file with the user's rules; empty: none
	Commit    git.Hash // empty: nothing is granted
}

// NewLaw reads the law of a place. The error is a [*RulesError], or that of git.
func NewLaw(ctx context.Context, r LawRequest) (*Law, error) {
	place, err := repository.Place(ctx, r.Place)
	if err != nil {
		return nil, err
	}
	l := &Law{Place: place, Authority: &risk.Authority{}}
	if l.Rules, err = Rules(ctx, RulesRequest{UserFile: r.UserRules, Repo: r.Place.Repo, Commit: r.Commit}); err != nil || r.Commit == "" {
		return l, err
	}
	l.Authority, err = repository.Authority(ctx, r.Place.Repo, r.Commit)
	return l, err
}

// Ruling is the judgement of an action outside of a run.
type Ruling struct {
	*risk.Finding
	*risk.Decision
	Cwd string
}

// Judge judges an action in a folder.
func (l *Law) Judge(a *ask.Action, cwd string) Ruling {
	r := Ruling{Cwd: cwd}
	r.Finding = l.Rules.Classify(riskAction(a, cwd), *l.Place)
	r.Decision = l.Authority.Decide(r.Finding, l.Place)
	return r
}

// riskAction converts an action to the form of the rules.
func riskAction(a *ask.Action, cwd string) risk.Action {
	switch {
	case a.Write != "":
		return &risk.FileWrite{Path: a.Write, Cwd: cwd, Removes: a.Removes}
	case len(a.Git) > 0:
		return &risk.Git{Args: a.Git, Cwd: cwd}
	case a.Tool != "":
		return &risk.Outward{Tool: a.Tool, Method: a.Method, Target: a.Target}
	default:
		return &risk.Shell{Text: a.Command, Cwd: cwd}
	}
}

// Suspended returns the reason why no grant holds for an action that asks; empty if
// grants can hold.
func (l *Law) Suspended(r Ruling) string {
	if len(r.Missing) == 0 || r.Opaque || r.Tier > risk.HardToReverse {
		return ""
	}
	var why []string
	for _, file := range append([]*risk.Grants{l.Authority.Root}, l.Authority.Nested...) {
		if file != nil && file.Suspended != "" {
			why = append(why, file.Path+": "+file.Suspended)
		}
	}
	if len(why) == 0 {
		return ""
	}
	return "none hold: " + strings.Join(why, "; ")
}

// Unmatched returns a line for each grant that does not hold for a part that asks,
// with the reason.
func (l *Law) Unmatched(r Ruling) []string {
	var lines []string
	for _, i := range r.Missing {
		all, why := l.Authority.Mismatches(&r.Parts[i], l.Place)
		for _, m := range all {
			lines = append(lines, fmt.Sprintf("%s does not hold: %s: %s", m.Grant.Where, m.Grant.Text, m.Why))
		}
		if len(all) == 0 && why != "" && r.Parts[i].Kind != "" {
			lines = append(lines, "none can hold: "+why)
		}
	}
	return lines
}

// NamedUnlisted returns the names of the programs that no rule is about.
func (r Ruling) NamedUnlisted() []string {
	return slices.DeleteFunc(slices.Clone(r.Unlisted), func(name string) bool { return name == "" })
}

// RuleIDs returns the rules that found the parts, each once.
func (r Ruling) RuleIDs() []string {
	ids := []string{}
	for _, part := range r.Parts {
		if !slices.Contains(ids, part.Rule) {
			ids = append(ids, part.Rule)
		}
	}
	return ids
}

// Becomes returns the decision about a part by itself.
func (r Ruling) Becomes(part int) string {
	var by []string
	for _, use := range r.Used {
		if use.Part == part {
			by = append(by, fmt.Sprintf("granted by %s: %s", use.Grant.Where, use.Grant.Text))
		}
	}
	switch {
	case r.Parts[part].Blocked:
		return "denied"
	case len(by) > 0:
		return strings.Join(by, "; ")
	case slices.Contains(r.Missing, part):
		return "asks"
	default:
		return "not looked at" // the action is denied already
	}
}

// PartText returns the text of a part in a command. A part within another program has
// no text of its own there: its words are returned.
func PartText(command string, part *risk.Part) string {
	inner := len(part.Via) > 0 && len(part.Argv) > 0
	if s := part.Span; !inner && 0 <= s.Start && s.Start < s.End && s.End <= len(command) {
		return command[s.Start:s.End]
	}
	return strings.Join(part.Argv, " ")
}

// RealFolder returns the real path of cwd, which is relative to dir. The part of a
// path that does not exist stays as it is.
func RealFolder(dir, cwd string) string {
	// A ".." behind a symlink leads elsewhere than cleaning the path would.
	path := cwd
	if !filepath.IsAbs(cwd) {
		path = dir + "/" + cwd
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	path, rest := filepath.Clean(path), ""
	for at := path; at != filepath.Dir(at); at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
	return path
}

// ParseAction parses an action from a line. It returns an error with the fault
// of the line.
func ParseAction(line []byte) (*ask.Action, error) {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil, errors.New("the line is empty")
	}
	if err := hook.Strict(line); err != nil {
		return nil, err
	}
	var told struct {
		ask.Action
		Command *string `json:"command"`
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&told); err != nil {
		return nil, err
	}
	a := told.Action
	if told.Command != nil {
		// An empty text is a command that does nothing, like a blank text.
		if a.Command = *told.Command; a.Command == "" {
			a.Command = " "
		}
	}
	if !a.Whole() {
		return nil, errors.New("it names not one action: want command or write")
	}
	return &a, nil
}
