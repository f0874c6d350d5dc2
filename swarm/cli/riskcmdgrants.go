package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/risk"
	"agentswarm/worktree/git"
)

func newRiskGrantsCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:  "grants",
		Usage: "list grants of AGENTS.md, and items that grant nothing",
		Flags: []cli.Flag{riskBaseFlag(), jsonFlag()},
		Description: `Lists the items under "## Pre-Authorized Actions" in AGENTS.md of the commit that
a run here would start from, each with what it comes to: granted, forbidden, void
(it is not understood and grants nothing), suspended (something that forbids is
not understood, so nothing is granted) or ignored (an AGENTS.md below the top may
only forbid). Items of the work tree that are not committed are uncommitted: they
do not count yet.

Examples:
  swarm risk grants
  swarm risk grants --base main --json`,
		Action: func(c *cli.Context) error { return riskGrantsAction(c, env) },
	}
}

// riskGrantsObject is swarm.riskgrants/1, described in docs/json.md.
type riskGrantsObject struct {
	Schema      string                `json:"schema"`
	Base        string                `json:"base,omitempty"`
	AgentsMD    string                `json:"agents_md,omitempty"`
	Items       []riskItemObject      `json:"items"`
	Suspended   []riskSuspendedObject `json:"suspended,omitempty"`
	Uncommitted bool                  `json:"uncommitted"`
}

type riskItemObject struct {
	Where  string    `json:"where"`
	Text   string    `json:"text"`
	Status grantWord `json:"status"`
	Why    string    `json:"why,omitempty"`
}

type riskSuspendedObject struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// grantWord is what an item of AGENTS.md comes to.
type grantWord string

const (
	grantHolds       grantWord = "granted"
	grantForbids     grantWord = "forbidden"
	grantVoid        grantWord = "void"
	grantSuspended   grantWord = "suspended"
	grantIgnored     grantWord = "ignored"
	grantUncommitted grantWord = "uncommitted"
)

func riskGrantsAction(c *cli.Context, env Env) error {
	if _, err := arguments(c, 0, 0); err != nil {
		return err
	}
	p, err := openPlace(c, env)
	if err != nil {
		return err
	}
	base, err := p.riskBase(c)
	if err != nil {
		return err
	}
	o, err := p.listGrants(c.Context, base)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(env.Stdout, o)
	}
	return o.print(env)
}

// listGrants lists the grants of a commit, and those of the work tree that it
// has not.
func (p *place) listGrants(ctx context.Context, base git.Hash) (*riskGrantsObject, error) {
	a := &risk.Authority{}
	var err error
	if base != "" {
		if a, err = p.authority(ctx, base); err != nil {
			return nil, err
		}
	}
	o := &riskGrantsObject{Schema: "swarm.riskgrants/1", Base: string(base), Items: []riskItemObject{}}
	root := &risk.Grants{Path: agentsFile}
	if a.Root != nil {
		root = a.Root
		o.AgentsMD = root.Hash
	}
	all := append([]*risk.Grants{root}, a.Nested...)
	for _, g := range all {
		if g.Suspended != "" {
			o.Suspended = append(o.Suspended, riskSuspendedObject{g.Path, g.Suspended})
		}
	}
	for i, g := range all {
		o.add(g, i > 0)
	}
	defer o.sort()
	if p.repo.Bare() {
		return o, nil
	}
	here, err := p.grantsHere()
	if err != nil {
		return nil, err
	}
	o.compare(here, root)
	return o, nil
}

// onlyTop is why an item of another file grants nothing.
const onlyTop = "only " + agentsFile + " at the top of the repository grants"

// add lists the items of one file.
func (o *riskGrantsObject) add(g *risk.Grants, nested bool) {
	for _, item := range g.Items {
		line := riskItemObject{Where: item.Where, Text: item.Text, Status: grantHolds}
		switch {
		case item.Never:
			line.Status = grantForbids
		case nested:
			line.Status, line.Why = grantIgnored, onlyTop
		case len(o.Suspended) > 0:
			line.Status, line.Why = grantSuspended, "nothing is granted while an item that forbids is void"
		}
		o.Items = append(o.Items, line)
	}
	for _, item := range g.Void {
		o.Items = append(o.Items, riskItemObject{Where: voidWhere(g.Path, item.Line), Text: item.Text, Status: grantVoid, Why: item.Why})
	}
}

// sort puts the items of each file in the order of its lines.
func (o *riskGrantsObject) sort() {
	place := func(item riskItemObject) (file string, line int) {
		file, digits, _ := cutLast(item.Where, ":")
		line, _ = strconv.Atoi(digits) // none is a whole file
		return file, line
	}
	slices.SortStableFunc(o.Items, func(a, b riskItemObject) int {
		file, line := place(a)
		other, after := place(b)
		return cmp.Or(strings.Compare(file, other), cmp.Compare(line, after))
	})
}

// voidWhere is the place of an item that is void; some are of a whole file.
func voidWhere(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// compare tells what the file in the work tree has otherwise.
func (o *riskGrantsObject) compare(here, there *risk.Grants) {
	for _, item := range here.Items {
		if !slices.ContainsFunc(there.Items, func(g risk.Grant) bool { return sameGrant(g, item) }) {
			o.Items = append(o.Items, riskItemObject{
				Where: item.Where, Text: item.Text, Status: grantUncommitted, Why: "it counts once it is committed",
			})
			o.Uncommitted = true
		}
	}
	for i, item := range there.Items {
		if !slices.ContainsFunc(here.Items, func(g risk.Grant) bool { return sameGrant(g, item) }) {
			// Items of the file at the top are listed first.
			if line := &o.Items[i]; line.Why == "" {
				line.Why = "it counts, but is not in the work tree"
			}
			o.Uncommitted = true
		}
	}
	o.Uncommitted = o.Uncommitted || (here.Suspended != "") != (there.Suspended != "")
}

func (o *riskGrantsObject) print(env Env) error {
	if len(o.Items) > 0 {
		t := &Table{Columns: []Column{{Title: "WHERE", Flex: true}, {Title: "ITEM", Flex: true}, {Title: "STATUS"}, {Title: "WHY", Flex: true}}}
		for _, item := range o.Items {
			t.Row(item.Where, item.Text, string(item.Status), item.Why)
		}
		width, _ := detect(env.Stdout, env.Getenv).Size()
		if err := t.Print(env.Stdout, width); err != nil {
			return err
		}
	}
	base := git.Hash(o.Base).Short()
	switch {
	case o.Base == "":
		fmt.Fprintln(env.Stderr, "nothing is granted: there is no commit yet")
	case len(o.Items) == 0 && len(o.Suspended) == 0:
		fmt.Fprintf(env.Stderr, "nothing is granted: commit %s has no item under \"## Pre-Authorized Actions\"\n", base)
	case o.Uncommitted:
		fmt.Fprintf(env.Stderr, "%s of the work tree says other things than that of commit %s, which counts\n", agentsFile, base)
	}
	for _, s := range o.Suspended {
		fmt.Fprintf(env.Stderr, "nothing is granted: %s: %s\n", Printable(s.File), Printable(s.Why))
	}
	return nil
}
