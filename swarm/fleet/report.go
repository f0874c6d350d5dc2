package fleet

import (
	"fmt"
	"io"
)

// Report holds the results of the cases of a script.
type Report struct {
	Script string       `json:"script"`
	Suite  string       `json:"suite"`
	Cases  []CaseReport `json:"cases"`
	Worst  Worst        `json:"worst"`
}

// CaseReport is the result of a case.
type CaseReport struct {
	Name   string   `json:"name"`
	Line   int      `json:"line"`
	Agents int      `json:"agents"` // started
	Wrong  []string `json:"wrong"`  // empty: it passed
	// Unused are the entries of the case that answered nothing. They are no
	// mistake: an event that never happened needs no answer.
	Unused []string `json:"unused,omitempty"`
}

// Worst is the largest number of agents that a script starts.
type Worst struct {
	// Static is the number that follows from the text; nil: that has no bound.
	Static *int `json:"static,omitempty"`
	Limit  int  `json:"limit"` // --max-agents
	Seen   int  `json:"seen"`  // by the case that started most
}

// Passed reports whether all cases came out as expected.
func (r *Report) Passed() bool { return r.Failed() == 0 }

// Failed is the number of cases that did not.
func (r *Report) Failed() int {
	n := 0
	for _, c := range r.Cases {
		if len(c.Wrong) > 0 {
			n++
		}
	}
	return n
}

// String is the worst case in words.
func (w Worst) String() string {
	if w.Static != nil {
		return fmt.Sprintf("at most %d by the text; %d seen", min(*w.Static, w.Limit), w.Seen)
	}
	return fmt.Sprintf("unbounded by the script; at most --max-agents %d; %d seen", w.Limit, w.Seen)
}

// WriteTo writes the report for people.
func (r *Report) WriteTo(w io.Writer) (int64, error) {
	out := &counted{w: w}
	for _, c := range r.Cases {
		word := "ok    "
		if len(c.Wrong) > 0 {
			word = "FAILED"
		}
		out.printf("%s  %s  (%s)\n", word, c.Name, agents(c.Agents))
		for _, line := range c.Wrong {
			out.printf("        %s\n", line)
		}
		for _, line := range c.Unused {
			if len(c.Wrong) > 0 {
				out.printf("        not used: %s\n", line)
			}
		}
	}
	out.printf("%s: %d of %d cases passed; agents: %s\n",
		r.Script, len(r.Cases)-r.Failed(), len(r.Cases), r.Worst)
	return out.n, out.err
}

func agents(n int) string {
	if n == 1 {
		return "1 agent"
	}
	return fmt.Sprintf("%d agents", n)
}

// counted keeps the first error of a writer.
type counted struct {
	w   io.Writer
	n   int64
	err error
}

func (c *counted) printf(format string, args ...any) {
	if c.err != nil {
		return
	}
	n, err := fmt.Fprintf(c.w, format, args...)
	c.n, c.err = c.n+int64(n), err
}
