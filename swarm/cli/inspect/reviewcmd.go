package inspect

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/follow"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/review"
	"agentswarm/swarm/review/collect"
	"agentswarm/swarm/review/mark"
	"agentswarm/swarm/review/verdict"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// NewReviewCommand returns the command `swarm review`.
func NewReviewCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "review",
		Usage:     "group equal edits of patches, unusual ones first",
		ArgsUsage: "[RUN | AGENT… | -]",
		Flags: append([]cli.Flag{
			&cli.StringSliceFlag{Name: "class", Usage: "print class `C` with its members"},
			&cli.BoolFlag{Name: "all", Usage: "leave nothing out"},
			&cli.BoolFlag{Name: "plain", Usage: "ask about each class in lines, for screen readers"},
			cmdline.JSONFlag(),
		}, selection.EndedFlags()...),
		Description: `Groups the edits of all patches of a run into classes of equal edits, and prints
one edit of each class with its marks: edits that steer agents or CI, switch a test
off, add a dependency, and so on come first, then those that differ from the rest.
If agents are named, it prints the classes that contain their edits.

On a terminal, without a flag, it opens the review on the whole terminal: keys accept
and reject classes or single edits, note remarks, and open an editor or a shell; ?
lists them. Verdicts are kept when you leave.

review.toml beside your configuration, and the committed .swarm/review.toml, add
marks.

Examples:
  swarm review
  swarm review --class C3 --all
  swarm review --plain
  swarm review k3x9q2 --json
  swarm accept k3x9q2 --class C3`,
		Action: func(c *cli.Context) error { return reviewClassesAction(c, env) },
	}
}

func reviewClassesAction(c *cli.Context, env cmdline.Env) error {
	lines := c.Bool("json") || c.Bool("all") || len(c.StringSlice("class")) > 0
	if lines && c.Bool("plain") {
		return exit.Usagef("review: --plain goes with neither --json nor --all nor --class")
	}
	p, s, err := selection.Open(c, env, 0, -1)
	if err != nil {
		return err
	}
	if c.Bool("plain") || !lines && follow.HasScreen(p) {
		return reviewAsked(p, c, env, s)
	}
	return printClasses(p, c, s, false)
}

// printClasses prints the classes of a run. Brief leaves out the members and
// their marks.
func printClasses(p *cmdline.Place, c *cli.Context, s *selection.Selection, brief bool) error {
	r, err := ReviewOfRun(c.Context, p, s)
	if err != nil {
		return err
	}
	if !brief {
		if err := r.FindLeftovers(c.Context, reviewRequest(p, s.View)); c.Context.Err() != nil {
			return context.Cause(c.Context)
		} else if err != nil {
			fmt.Fprintf(p.Env.Stderr, "%s: places that still have removed words are not known: %s\n", cmdline.Program, termtext.Line(err.Error()))
		}
	}
	var named []*review.Class
	for _, name := range c.StringSlice("class") {
		class, err := findClass(r, s, c.Command.Name, name)
		if err != nil {
			return err
		}
		named = append(named, class)
	}
	if c.Bool("json") {
		return cmdline.PrintJSON(p.Env.Stdout, newClassesObject(s, r, named))
	}
	if err := cmdline.Page(p, c); err != nil {
		return err
	}
	t := &reviewText{
		Review: r, s: s, term: terminal.Detect(p.Env.Stdout, p.Env.Getenv), brief: brief, all: c.Bool("all"), named: named, stderr: p.Env.Stderr,
	}
	return t.print(p.Env.Stdout)
}

// classesObject is swarm.review/1, described in docs/json.md.
type classesObject struct {
	Schema  string            `json:"schema"`
	Run     string            `json:"run"`
	Patches int               `json:"patches"`
	Edits   int               `json:"edits"`
	Lines   int               `json:"lines"`
	ToRead  int               `json:"to_read"`
	Left    int               `json:"left"`
	Classes []classObject     `json:"classes"`
	Skipped []collect.Skipped `json:"skipped"`
	// Outdated are verdicts on edits that are no longer there.
	Outdated []outdatedObject `json:"outdated"`
	Progress progressObject   `json:"progress"`
	// Remarks are those that no edit has any more.
	Remarks []remarkObject `json:"outdated_remarks,omitempty"`
}

type progressObject struct {
	Classes     int `json:"classes"`
	ClassesDone int `json:"classes_done"`
	EditsDone   int `json:"edits_done"`
	PatchesDone int `json:"patches_done"`
	MinutesLeft int `json:"minutes_left"`
}

// remarkObject is a remark on an edit.
type remarkObject struct {
	ID      string   `json:"id"` // of the agent
	N       int      `json:"n"`
	Attempt int      `json:"attempt"`
	Path    string   `json:"path"`
	Line    int      `json:"line"`
	Quote   []string `json:"quote"`
	Text    string   `json:"text"`
	Sent    int      `json:"sent,omitempty"` // the attempt for which it was sent
}

func newRemarkObject(r *store.EditRemark) remarkObject {
	return remarkObject{
		ID: string(r.Agent), N: r.ID, Attempt: r.Attempt, Path: r.Edit.Path, Line: r.Line, Quote: listOf(r.Quote), Text: r.Text, Sent: r.Sent,
	}
}

type outdatedObject struct {
	ID      string       `json:"id"`
	Attempt int          `json:"attempt"`
	Path    string       `json:"path"`
	Verdict task.Verdict `json:"verdict"`
	Reason  string       `json:"reason,omitempty"`
}

type classObject struct {
	ID       string         `json:"id"`
	Exact    string         `json:"exact"`
	Shape    string         `json:"shape"`
	Kind     string         `json:"kind"`
	Language string         `json:"language,omitempty"`
	Space    bool           `json:"space,omitempty"`
	Weight   int            `json:"weight"`
	Follows  string         `json:"follows,omitempty"`
	Missing  []string       `json:"missing,omitempty"`
	Alike    []string       `json:"alike,omitempty"`
	Changed  bool           `json:"changed,omitempty"` // has an edit that is new since a person looked
	Left     *leftObject    `json:"left,omitempty"`
	Changes  []changeObject `json:"changes,omitempty"`
	Example  exampleObject  `json:"example"`
	Members  []memberObject `json:"members"`
}

// leftObject are the places of the base that still have the removed words.
type leftObject struct {
	Lines  int           `json:"lines"`
	Places []placeObject `json:"places"`
}

type placeObject struct {
	Path string `json:"path"`
	Line int    `json:"line"`
}

type changeObject struct {
	Removed []string `json:"removed"`
	Added   []string `json:"added"`
}

type exampleObject struct {
	ID      string   `json:"id"`
	Path    string   `json:"path"`
	Line    int      `json:"line"`
	About   string   `json:"about,omitempty"`
	Before  []string `json:"before"`
	Removed []string `json:"removed"`
	Added   []string `json:"added"`
	After   []string `json:"after"`
}

type memberObject struct {
	ID        string       `json:"id"`
	Attempt   int          `json:"attempt"`
	Path      string       `json:"path"`
	Line      int          `json:"line"`
	Verdict   task.Verdict `json:"verdict,omitempty"`
	Landed    bool         `json:"landed,omitempty"`
	Withheld  bool         `json:"withheld,omitempty"` // a verdict on the class does not cover it
	Elsewhere bool         `json:"elsewhere,omitempty"`
	Changed   bool         `json:"changed,omitempty"`
	Odd       string       `json:"odd,omitempty"`
	Marks     []mark.Mark  `json:"marks,omitempty"`
	// Remarks are those of people, drafts included.
	Remarks []remarkObject `json:"remarks,omitempty"`
}

func newClassesObject(s *selection.Selection, r *collect.Review, named []*review.Class) *classesObject {
	o := &classesObject{
		Schema: "swarm.review/1", Run: s.Run.ID, Patches: r.Patches, Edits: r.Edits, Lines: r.Lines, ToRead: r.ToRead,
		Left: r.LinesLeft(), Classes: []classObject{}, Skipped: r.Skipped, Outdated: []outdatedObject{},
	}
	p := r.Progress()
	o.Progress = progressObject{p.Classes, p.ClassesDone, p.EditsDone, p.PatchesDone, p.MinutesLeft}
	if named == nil {
		named = r.ClassesOf(s.Agents())
	}
	for _, class := range named {
		o.Classes = append(o.Classes, newClassObject(r, class))
	}
	for _, a := range s.Agents() {
		for _, d := range r.Outdated(a.ID) {
			o.Outdated = append(o.Outdated, outdatedObject{
				ID: string(a.ID), Attempt: d.Attempt, Path: d.Edit.Path, Verdict: d.Verdict, Reason: d.Reason,
			})
		}
		for _, remark := range r.OutdatedRemarks(a.ID) {
			o.Remarks = append(o.Remarks, newRemarkObject(remark))
		}
	}
	return o
}

func newClassObject(r *collect.Review, class *review.Class) classObject {
	e := class.Example
	o := classObject{
		ID: class.ID, Exact: string(class.Exact), Shape: string(class.Shape), Kind: string(class.Kind), Language: class.Language,
		Space: class.Space, Weight: class.Weight, Follows: class.Follows, Missing: class.Missing, Alike: class.Alike, Changed: class.Changed,
		Example: exampleObject{
			ID: e.Patch, Path: e.Path, Line: e.NewLine, About: e.About,
			Before: listOf(e.Before), Removed: listOf(e.Removed), Added: listOf(e.Added), After: listOf(e.After),
		},
		Members: []memberObject{},
	}
	for _, change := range e.Changes() {
		o.Changes = append(o.Changes, changeObject{Removed: listOf(change.Removed), Added: listOf(change.Added)})
	}
	if left := r.Left.Class(class); left != nil {
		o.Left = &leftObject{Lines: left.Lines, Places: []placeObject{}}
		for _, place := range left.Places {
			o.Left.Places = append(o.Left.Places, placeObject(place))
		}
	}
	for _, m := range class.Members {
		a := r.Agents[m.Patch]
		member := memberObject{
			ID: m.Patch, Attempt: a.Attempt, Path: m.Path, Line: m.NewLine, Verdict: r.Verdict(m), Landed: a.Landed(), Changed: r.Changed(m),
			Withheld: r.Withheld(m), Elsewhere: slices.Contains(class.Elsewhere, m), Odd: r.Odd[m], Marks: r.Marks[m],
		}
		for _, remark := range r.Remarks(m) {
			member.Remarks = append(member.Remarks, newRemarkObject(remark))
		}
		o.Members = append(o.Members, member)
	}
	return o
}

// listOf is a list that JSON shows as [] if it is empty.
func listOf(lines []string) []string {
	if lines == nil {
		return []string{}
	}
	return lines
}

// findClass is the class of a name. While agents work the number of a class
// can change between two commands; its fingerprint cannot.
func findClass(r *collect.Review, s *selection.Selection, verb, name string) (*review.Class, error) {
	class := r.Find(name)
	switch {
	case class == nil:
		return nil, exit.Usagef("%s: run %s has no class %q; `%s review %s` prints the classes", verb, s.Run.ID, name, cmdline.Program, s.Run.ID)
	case name == class.ID && s.View.Status == store.RunRunning:
		return nil, exit.Usagef("%s: run %s is still running, so numbers of classes can change; name it %s", verb, s.Run.ID, class.Exact.Short())
	}
	return class, nil
}

// requestOf is the verdict that a command line asks for.
func requestOf(c *cli.Context, s *selection.Selection, v task.Verdict) verdict.Request {
	req := verdict.Request{Verdict: v, Reason: c.String("reason"), Files: c.StringSlice("file")}
	req.Picked = !s.Chosen.Empty()
	for _, a := range s.Named {
		req.Only = append(req.Only, a.ID)
	}
	return req
}
