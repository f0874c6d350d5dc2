package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/review"
	"agentswarm/swarm/review/mark"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// hostile is text that would leave its place in a page, in Markdown or in a
// terminal if it were not escaped.
const hostile = "</pre></title><script>alert(1)</script><img src=x onerror=y> \"'`; ```\n# head\n[l](http://evil) @everyone \u202eTXT\x1b[31m\xff {{.}}"

// ran is the state of a run with three agents: a1 completed, a2 failed its check,
// a3 was refused. All foreign text is hostile.
func ran(t *testing.T) Input {
	t.Helper()
	at := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
	no, yes := false, true
	events := []event.Event{&event.Opened{}}
	for i := range 3 {
		id := task.ID(fmt.Sprintf("a%d", i+1))
		events = append(events,
			&event.Called{Agent: id, Call: &task.Call{Label: hostile, Input: &task.TypedAgentInput{Prompt: hostile}}},
			&event.Leased{Agent: id, Attempt: 1}, &event.Started{Agent: id, Attempt: 1, Step: "agent"},
			&event.Checked{Agent: id, Attempt: 1, OK: i != 1, Output: "check.out"},
			&event.Settled{Agent: id, Attempt: 1, Result: &task.Completed{Verified: map[bool]*bool{true: &no, false: &yes}[i == 1], Work: task.Work{
				Attempts: 1, Model: hostile, Patch: &task.Patch{Commit: "c", Files: 1}, Usage: task.Usage{Input: 10, Output: 5, CostUSD: 0.25},
			}}})
	}
	events = append(events,
		&event.Reviewed{Agent: "a1", Attempt: 1, Verdict: task.Rejected, Reason: hostile},
		&event.Refused{Ref: "refs/heads/main", Refused: []event.Refusal{{Agent: "a3", Kind: "interaction", Command: hostile, On: []task.ID{"a1"}, Outputs: []string{"landing.out"}}}},
		&event.Closed{Status: "degraded", Reason: hostile})
	var records []event.Record
	for i, e := range events {
		records = append(records, event.Record{N: int64(i + 1), Time: at.Add(time.Duration(i) * time.Minute), Event: e})
	}
	name := `"b/` + `\\\"<x>` + `"`
	patch := "diff --git " + `"a/\\\"<x>" ` + name + "\nnew file mode 100644\n--- /dev/null\n+++ " + name + "\n@@ -0,0 +1,2 @@\n"
	for line := range strings.SplitSeq(strings.Replace(hostile, "\n", "\t", 1), "\n") {
		patch += "+" + line + "\n"
	}
	patch = strings.Replace(patch, "+1,2 @@", fmt.Sprintf("+1,%d @@", strings.Count(patch, "\n+")-1), 1)
	files, err := review.Read(patch)
	if err != nil {
		t.Fatal(err)
	}
	x := &review.Index{}
	x.Put(&review.Patch{ID: "a1", Files: files})
	r := x.Report(review.ReportRequest{})
	return Input{
		View: store.Fold(store.Identity{Run: "k3x9q2", Workflow: store.Workflow{Text: hostile}, Base: store.Base{Commit: "0123456789abcdef"}}, records), Review: r,
		Marks:   map[*review.Edit][]mark.Mark{r.Classes[0].Example: {{ID: "m", Weight: 8, Reason: "a reason", Detail: hostile}}},
		Verdict: func(*review.Edit) task.Verdict { return task.Rejected },
		Skipped: map[string]string{"a2": hostile},
		Tail:    func(file string) string { return file + " says " + hostile },
	}
}

// TestHTML: the page has its parts, and no text of agents is markup in it.
func TestHTML(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := New(ran(t)).HTML(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{
		"<title>swarm run k3x9q2</title>", "degraded", "Base 0123456789.", "Cost $0.75.", "45 tokens", "Timeline", `class="completed"`,
		"a2: its check failed", "check.out says", "a3: the check of the merge: interaction: the check passed on main with a1, and failed in 2 runs with this patch added", "landing.out says", "landing.err says",
		"a1: a person rejected it", "a2: its patch could not be read", "C1: 1 edit, code, 1 rejected", "<li>a reason: ", `class="added"`,
		"&lt;script&gt;alert(1)", `\u202eTXT\x1b[31m\xff {{.}}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, bad := range []string{"<script", "<img", "<a ", "href", "src=x o>", "\u202e", "\x1b", "http://evil\"", "ZgotmplZ"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	onlyOurElements(t, text)
}

// onlyOurElements reads a page and fails on elements or attributes that it is not
// made of.
func onlyOurElements(t *testing.T, text string) {
	t.Helper()
	elements := strings.Fields("html head meta title style body h1 h2 h3 p pre span svg text rect table tr th td ul li code")
	attributes := strings.Fields("lang charset http-equiv content name role aria-label viewBox width height x y class")
	d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(text, "<!DOCTYPE html>")))
	d.Strict, d.AutoClose, d.Entity = false, []string{"meta"}, xml.HTMLEntity
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if !contains(elements, start.Name.Local) {
			t.Errorf("the page has an element %s", start.Name.Local)
		}
		for _, a := range start.Attr {
			if !contains(attributes, a.Name.Local) {
				t.Errorf("the page has an attribute %s of %s", a.Name.Local, start.Name.Local)
			}
		}
	}
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}

// TestMarkdown: foreign text stands in code that it does not end, and the text is
// short enough for a forge.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	in := ran(t)
	var b strings.Builder
	if err := New(in).Markdown(&b); err != nil {
		t.Fatal(err)
	}
	fence := ""
	for line := range strings.SplitSeq(b.String(), "\n") {
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3 && !strings.Contains(line, " "):
			fence = ticks
		case fence != "" && line == fence:
			fence = ""
		case fence == "":
			if rest := withoutCode(line); strings.ContainsAny(rest, "<>@[]`") || strings.Contains(rest, "evil") {
				t.Errorf("outside of code: %q", line)
			}
		}
	}
	if fence != "" {
		t.Errorf("a block of code has no end: %s", fence)
	}
	for _, want := range []string{"## swarm run ` k3x9q2 `", "#### C1: 1 in 1 patches, code", "- 3 completed", "#### Not taken: ` a3 `", "- 0 accepted, 1 rejected"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, b.String())
		}
	}
	r := New(in)
	r.Classes = append(r.Classes, r.Classes[0])
	// A section that is too long hides no other, and a prompt is cut.
	r.Workflow = strings.Repeat("prompt ", mostMarkdown)
	r.Classes[1].Lines = []Line{{"+", strings.Repeat("long ", mostMarkdown)}}
	r.Classes = append(r.Classes[:2], Class{ID: "Last"})
	r.Agents = append(r.Agents, Agent{ID: "a9", Status: "waiting"})
	b.Reset()
	err := r.Markdown(&b)
	for _, want := range []string{"#### Last: 0", "- 1 waiting", "#### Not taken: ` a3 `", "… and 1 more sections"} {
		if err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("beside a long section it lacks %q: %d bytes, %v", want, b.Len(), err)
		}
	}
	for range 3000 {
		r.Classes = append(r.Classes, r.Classes[0])
	}
	b.Reset()
	if err := r.Markdown(&b); err != nil || b.Len() > mostMarkdown+200 || !strings.Contains(b.String(), "more sections, which the HTML report has") {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
}

// withoutCode is a line without its spans of code.
func withoutCode(line string) string {
	var out strings.Builder
	for line != "" {
		at := strings.IndexByte(line, '`')
		if at < 0 {
			return out.String() + line
		}
		out.WriteString(line[:at])
		line = line[at:]
		fence := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		_, rest, ok := strings.Cut(line[len(fence):], " "+fence)
		if !ok {
			return out.String() + line
		}
		line = rest
	}
	return out.String()
}

// TestTimeline: bars lie within the picture and begin where the agents did.
func TestTimeline(t *testing.T) {
	t.Parallel()
	tl := New(ran(t)).Timeline
	if len(tl.Rows) != 3 || tl.Height != 3*rowHeight {
		t.Fatalf("%+v", tl)
	}
	last := 0
	for _, r := range tl.Rows {
		if r.X <= last || r.X < labelWidth || r.X+r.Width > timelineWidth || r.Width < 1 || r.Took != "3m0s" {
			t.Errorf("a bar is %+v", r)
		}
		last = r.X
	}
}

// TestLong: long examples and lists are cut, and say so.
func TestLong(t *testing.T) {
	t.Parallel()
	patch := fmt.Sprintf("diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,%d @@\n", mostLines+5) + strings.Repeat("+l\n", mostLines+5)
	files, err := review.Read(patch)
	if err != nil {
		t.Fatal(err)
	}
	x := &review.Index{}
	for i := range mostNames + 3 {
		x.Put(&review.Patch{ID: fmt.Sprintf("a%d", i+1), Files: files})
	}
	in := ran(t)
	in.Review = x.Report(review.ReportRequest{})
	c := New(in).Classes[0]
	if len(c.Lines) != mostLines || c.MoreLines != 5 || len(c.Patches) != mostNames || c.MorePatches != 3 {
		t.Errorf("%d lines and %d, %d patches and %d", len(c.Lines), c.MoreLines, len(c.Patches), c.MorePatches)
	}
}

// TestRefusedByCheck: a patch that only builds on a refused patch is not said to fail
// the check. Refused copies have their own names.
func TestRefusedByCheck(t *testing.T) {
	t.Parallel()
	in := ran(t)
	in.View.Apply(event.Record{Event: &event.Refused{Ref: "refs/heads/main", Refused: []event.Refusal{
		{Agent: "a2", Kind: "dependency", Command: "make", Needs: []task.ID{"a3"}},
		{Agent: "a3", Copy: "a3-2", Kind: "failed", Command: "make", Outputs: []string{"copy.out"}},
	}}})
	all := map[string]Refused{}
	for _, a := range in.View.Agents {
		for _, r := range in.refused(a) {
			all[r.ID+": "+r.Why] = r
		}
	}
	depends, ok := all["a2: the check of the merge: depends on a3, which was refused"]
	if !ok || depends.Command != "" || depends.Evidence != "" {
		t.Errorf("the dependency is told as %+v", depends)
	}
	copied, ok := all["a3-2: the check of the merge: failed: the check passed on main, and failed in 2 runs with this patch alone"]
	if !ok || copied.Command != "make" || !strings.Contains(copied.Evidence, "copy.out says") {
		t.Errorf("the copy is told as %+v", copied)
	}
}

// TestQueued: an agent that waits for its turn is not shown as running.
func TestQueued(t *testing.T) {
	t.Parallel()
	a := &store.Agent{ID: "a1", Call: &task.Call{Input: &task.TypedAgentInput{Prompt: "p"}}, Status: &task.Running{State: task.Queued}}
	if got := agentOf(a, time.Time{}).Status; got != "queued" {
		t.Errorf("its status is %q", got)
	}
}
