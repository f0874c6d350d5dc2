package policy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"agentswarm/risk"
	"agentswarm/risk/repository"
	"agentswarm/worktree/git"
)

// GrantStatus is the effect of an item of AGENTS.md.
type GrantStatus string

// The effects of items.
const (
	Granted     GrantStatus = "granted"
	Forbidden   GrantStatus = "forbidden"
	Void        GrantStatus = "void"        // it is not understood
	Suspended   GrantStatus = "suspended"   // another item is not understood
	Ignored     GrantStatus = "ignored"     // it grants, in a file below the top
	Uncommitted GrantStatus = "uncommitted" // only the work tree has it
)

// OnlyTop is the reason why an item of a file below the top grants nothing.
const OnlyTop = "only " + repository.AgentsFile + " at the top of the repository grants"

// GrantList lists the items of a commit's AGENTS.md files, and those of the work tree
// that differ.
type GrantList struct {
	AgentsMD    string          `json:"agents_md,omitempty"` // digest of the file at the top
	Items       []GrantItem     `json:"items"`
	Suspended   []SuspendedFile `json:"suspended,omitempty"`
	Uncommitted bool            `json:"uncommitted"` // the work tree differs
}

// GrantItem is an item of AGENTS.md and its effect.
type GrantItem struct {
	Where  string      `json:"where"`
	Text   string      `json:"text"`
	Status GrantStatus `json:"status"`
	Why    string      `json:"why,omitempty"`
}

// SuspendedFile is a file that suspends all grants, and the reason.
type SuspendedFile struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// ListGrants lists the grants of the commit base, and those that only the work tree
// has. base is empty if there is no commit yet. The error is that of git, or says that
// the work tree cannot be read.
func ListGrants(ctx context.Context, repo *git.Repo, base git.Hash) (*GrantList, error) {
	a := &risk.Authority{}
	var err error
	if base != "" {
		if a, err = repository.Authority(ctx, repo, base); err != nil {
			return nil, err
		}
	}
	l := &GrantList{Items: []GrantItem{}}
	root := &risk.Grants{Path: repository.AgentsFile}
	if a.Root != nil {
		root = a.Root
		l.AgentsMD = root.Hash
	}
	all := append([]*risk.Grants{root}, a.Nested...)
	for _, g := range all {
		if g.Suspended != "" {
			l.Suspended = append(l.Suspended, SuspendedFile{g.Path, g.Suspended})
		}
	}
	for i, g := range all {
		l.add(g, i > 0)
	}
	defer l.sort()
	if repo.Bare() {
		return l, nil
	}
	here, err := repository.WorkTreeGrants(repo)
	if err != nil {
		return nil, err
	}
	l.compare(here, root)
	return l, nil
}

// add lists the items of a file.
func (l *GrantList) add(g *risk.Grants, nested bool) {
	for _, item := range g.Items {
		line := GrantItem{Where: item.Where, Text: item.Text, Status: Granted}
		switch {
		case item.Never:
			line.Status = Forbidden
		case nested:
			line.Status, line.Why = Ignored, OnlyTop
		case len(l.Suspended) > 0:
			line.Status, line.Why = Suspended, "no grant holds while a forbidding item is invalid"
		}
		l.Items = append(l.Items, line)
	}
	for _, item := range g.Void {
		l.Items = append(l.Items, GrantItem{Where: VoidWhere(g.Path, item.Line), Text: item.Text, Status: Void, Why: item.Why})
	}
}

// VoidWhere returns the place of a void item. Line 0 stands for the whole file.
func VoidWhere(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// sort orders the items by file and line.
func (l *GrantList) sort() {
	place := func(item GrantItem) (file string, line int) {
		file = item.Where
		if i := strings.LastIndexByte(file, ':'); i >= 0 {
			line, _ = strconv.Atoi(file[i+1:]) // without a number it is a whole file
			file = file[:i]
		}
		return file, line
	}
	slices.SortStableFunc(l.Items, func(a, b GrantItem) int {
		file, line := place(a)
		other, after := place(b)
		return cmp.Or(strings.Compare(file, other), cmp.Compare(line, after))
	})
}

// compare adds the differences between the file of the work tree and that of the
// commit.
func (l *GrantList) compare(here, there *risk.Grants) {
	for _, item := range here.Items {
		if !slices.ContainsFunc(there.Items, func(g risk.Grant) bool { return repository.SameGrant(g, item) }) {
			l.Items = append(l.Items, GrantItem{
				Where: item.Where, Text: item.Text, Status: Uncommitted, Why: "it counts once it is committed",
			})
			l.Uncommitted = true
		}
	}
	for i, item := range there.Items {
		if !slices.ContainsFunc(here.Items, func(g risk.Grant) bool { return repository.SameGrant(g, item) }) {
			// The items of the file at the top come first.
			if line := &l.Items[i]; line.Why == "" {
				line.Why = "it counts, but is not in the work tree"
			}
			l.Uncommitted = true
		}
	}
	l.Uncommitted = l.Uncommitted || (here.Suspended != "") != (there.Suspended != "")
}
