package script

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// desk is a host whose agents follow their prompts, on a clock that only its
// deliveries move:
//
//	@40         it takes 40 ms, 10 where nothing is said
//	fail:KIND   it fails; the rest is the message
//	json:{…}    it gives the rest as a structured answer
//	change      it leaves a patch
//	spend:N     it is paid for N tokens
//	deaf        it ignores that it is cancelled, and completes
type desk struct {
	now   int64
	seq   int
	due   []event
	calls []*Call
	// asked are the requests so far, each as a line.
	asked []string
	// texts are the sources of workflows, by name or path.
	texts map[string]string
	// refuse and answer go first where they are set.
	refuse func(Request) error
	answer func(Request) *Delivery
	// next replaces the waiting for due deliveries.
	next func(context.Context) (Delivery, error)
}

// event is something that is delivered at a time.
type event struct {
	at    int64
	seq   int
	id    string // of an agent
	timer int
	Delivery
}

var (
	duration = regexp.MustCompile(`@(\d+)`)
	price    = regexp.MustCompile(`spend:(\d+)`)
	failing  = regexp.MustCompile(`fail:(\w+) ?(.*)`)
	jsonText = regexp.MustCompile(`json:(.*)`)
)

func (d *desk) plan(after int64, e event) {
	d.seq++
	e.at, e.seq = d.now+after, d.seq
	d.due = append(d.due, e)
}

func (d *desk) note(r Request) {
	body, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	d.asked = append(d.asked, Verb(r)+" "+string(body))
}

func (d *desk) Do(_ context.Context, r Request) (json.RawMessage, error) {
	d.note(r)
	if d.refuse != nil {
		if err := d.refuse(r); err != nil {
			return nil, err
		}
	}
	if d.answer != nil {
		if a := d.answer(r); a != nil {
			return a.Value, nil
		}
	}
	switch r := r.(type) {
	case *Call:
		d.calls = append(d.calls, r)
		id := fmt.Sprintf("a%d", len(d.calls))
		after := int64(10)
		if m := duration.FindStringSubmatch(r.Prompt); m != nil {
			after, _ = strconv.ParseInt(m[1], 10, 64)
		}
		d.plan(after, event{id: id, Delivery: Delivery{Result: reply(id, r)}})
		return json.RawMessage(`{"id":"` + id + `"}`), nil
	case *Nested:
		for name, text := range d.texts {
			if name == r.Name || name == r.Path {
				return json.Marshal(Source{Name: name, Text: text})
			}
		}
		return nil, &Error{Name: "Error", Code: CodeUnknown, Message: "there is no workflow " + r.Name + r.Path}
	case *PatchText:
		return json.Marshal("diff of " + r.ID + "\n")
	case *Merge:
		return json.Marshal(Merged{Tree: "tree-" + strings.Join(r.Patches, "+"), Applied: r.Patches, Conflicts: []Conflict{}})
	case *Repo:
		return json.RawMessage(`["` + r.Verb + `"]`), nil
	}
	return nil, fmt.Errorf("%T is not asked for at once", r)
}

func reply(id string, c *Call) *Result {
	r := &Result{ID: id, Status: "completed", Label: c.Label, Phase: c.Phase}
	if m := price.FindStringSubmatch(c.Prompt); m != nil {
		n, _ := strconv.ParseInt(m[1], 10, 64)
		r.Usage = &Usage{Output: n}
	}
	if m := failing.FindStringSubmatch(c.Prompt); m != nil {
		r.Status, r.Error = "failed", &Failure{Kind: m[1], Message: m[2]}
		return r
	}
	output := "did " + c.Prompt
	r.Output = &output
	if m := jsonText.FindStringSubmatch(c.Prompt); m != nil {
		r.Structured = json.RawMessage(m[1])
	}
	if strings.Contains(c.Prompt, "change") {
		r.Patch = &Patch{ID: "p" + id, Base: "b0", Files: []string{"f"}, Stat: Stat{1, 2, 3}}
	}
	return r
}

func (d *desk) Post(n int, r Request) error {
	d.note(r)
	if d.refuse != nil {
		if err := d.refuse(r); err != nil {
			return err
		}
	}
	if d.answer != nil {
		if a := d.answer(r); a != nil {
			a.N = n
			d.plan(5, event{Delivery: *a})
			return nil
		}
	}
	switch r := r.(type) {
	case *Timer:
		d.plan(r.MS, event{timer: n, Delivery: Delivery{N: n}})
	case *Untimer:
		d.due = slices.DeleteFunc(d.due, func(e event) bool { return e.timer == r.N })
	case *Cancel:
		d.cancel(r.ID)
	case *Check:
		d.plan(5, event{Delivery: Delivery{N: n, Value: json.RawMessage(`{"ok":true,"exitCode":0,"stdout":"","stderr":""}`)}})
	case *Land:
		d.plan(5, event{Delivery: Delivery{N: n, Value: json.RawMessage(`{"landed":true,"ref":"main","applied":[],"conflicts":[]}`)}})
	case *Question:
		d.plan(5, event{Delivery: Delivery{N: n, Value: json.RawMessage(`"yes"`)}})
	case *Send:
		d.plan(5, event{Delivery: Delivery{N: n, Value: json.RawMessage(`{"delivered":true}`)}})
	}
	return nil
}

// cancel ends an agent that has not, after the time that takes.
func (d *desk) cancel(id string) {
	for i, e := range d.due {
		if e.id != id || e.Result.Status == "cancelled" || strings.Contains(*cmp.Or(e.Result.Output, new(string)), "deaf") {
			continue
		}
		d.due = slices.Delete(d.due, i, i+1)
		d.plan(7, event{id: id, Delivery: Delivery{Result: &Result{
			ID: id, Status: "cancelled", Error: &Failure{Kind: "cancelled", Message: "cancelled by the script"},
		}}})
		return
	}
}

func (d *desk) Next(ctx context.Context) (Delivery, error) {
	if d.next != nil {
		return d.next(ctx)
	}
	if err := ctx.Err(); err != nil {
		return Delivery{}, err
	}
	if len(d.due) == 0 {
		return Delivery{}, errors.New("nothing is due")
	}
	first := 0
	for i, e := range d.due {
		if c := cmp.Or(cmp.Compare(e.at, d.due[first].at), cmp.Compare(e.seq, d.due[first].seq)); c < 0 {
			first = i
		}
	}
	e := d.due[first]
	d.due = slices.Delete(d.due, first, first+1)
	d.now = e.at
	return e.Delivery, nil
}

// lines returns the requests of a verb.
func (d *desk) lines(verb string) []string {
	var out []string
	for _, l := range d.asked {
		if v, rest, _ := strings.Cut(l, " "); v == verb {
			out = append(out, rest)
		}
	}
	return out
}

// perform runs a script on a desk.
func perform(t *testing.T, d *desk, text string) Outcome {
	t.Helper()
	return Run(t.Context(), Start{Source: Source{Name: "plan.js", Text: text}}, d)
}

// performs is a script and its expected outcome.
type performs struct {
	name  string
	give  string
	want  string // the value
	error string // or a part of the error, its code before it
	start Start
	asked []string // the requests, in order; all where it is set
}

func (p performs) run(t *testing.T) {
	t.Helper()
	d := &desk{}
	start := p.start
	start.Source = Source{Name: "plan.js", Text: p.give}
	out := Run(t.Context(), start, d)
	if p.error != "" {
		if out.Error == nil {
			t.Fatalf("Run gave %s, want an error with %q", out.Value, p.error)
		}
		got := fmt.Sprintf("%s %s: %s", out.Error.Code, out.Error.Name, out.Error.Message)
		if !strings.Contains(got, p.error) {
			t.Errorf("error = %q, want it to have %q", got, p.error)
		}
	} else if out.Error != nil {
		t.Fatalf("Run ended with %v (%s), want %s", out.Error, out.Error.Code, p.want)
	} else if string(out.Value) != p.want {
		t.Errorf("Run gave %s, want %s", out.Value, p.want)
	}
	if p.asked != nil && !slices.Equal(d.asked, p.asked) {
		t.Errorf("asked\n%s\nwant\n%s", strings.Join(d.asked, "\n"), strings.Join(p.asked, "\n"))
	}
}

func each(t *testing.T, cases []performs) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

// newBound ends a script that does not end itself.
func newBound(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), 200*time.Millisecond)
}
