package fleet

import (
	"context"
	"fmt"
	"strings"

	"agentswarm/swarm/script"
)

// Request describes a test, and the runner of its script.
type Request struct {
	Source  script.Source   // required
	Meta    *script.Meta    // the description in the script; nil: it has none
	Lib     []script.Source // a project's own functions
	Suite   *Suite          // required
	Options Options
	// Run runs a script to its end. Its error is the runner's, not the
	// script's; required.
	Run func(context.Context, script.Start, script.Host) (script.Outcome, error)
}

// Test runs a script once for each case. Its error says that it could not be
// tested.
func Test(ctx context.Context, r Request) (*Report, error) {
	args, err := argsSchema(r)
	if err != nil {
		return nil, err
	}
	report := &Report{Script: r.Source.Name, Suite: r.Suite.Name}
	report.Worst.Limit = r.Options.MaxAgents
	if report.Worst.Limit == 0 {
		report.Worst.Limit = DefaultMaxAgents
	}
	if n, bounded := script.CountAgents(r.Source); bounded {
		report.Worst.Static = &n
	}
	for _, c := range r.Suite.Cases {
		t := trial{Request: r, c: c, args: args}
		one, err := t.run(ctx)
		if err != nil {
			return nil, fmt.Errorf("case %q: %w", c.Name, err)
		}
		report.Cases = append(report.Cases, *one)
		report.Worst.Seen = max(report.Worst.Seen, one.Agents)
	}
	return report, nil
}

// argsSchema is the schema that a script gives for its args; nil: it gives
// none.
func argsSchema(r Request) (*schema, error) {
	if r.Meta == nil {
		return nil, nil // no schema is no error
	}
	s, err := compile("meta.args", r.Meta.Args)
	if err != nil {
		return nil, &script.Error{Name: "Error", Code: script.CodeMeta, Message: r.Source.Name + ": " + err.Error()}
	}
	return s, nil
}

// trial is a running case.
type trial struct {
	Request
	c    *Case
	args *schema
	host *Host
}

func (t *trial) run(ctx context.Context) (*CaseReport, error) {
	t.host = NewHost(t.c, t.Options)
	out, err := t.outcome(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && t.host.Err() == nil:
		return nil, err
	}
	report := &CaseReport{Name: t.c.Name, Line: t.c.Line, Agents: t.host.Started(), Wrong: []string{}}
	if err := t.host.Err(); err != nil {
		// The later result of the script has no meaning.
		report.Wrong = append(report.Wrong, err.Error())
		return report, nil
	}
	wrong, err := t.compare(out)
	if err != nil {
		return nil, err
	}
	report.Wrong = append(report.Wrong, wrong...)
	report.Unused = t.host.unused()
	return report, nil
}

// outcome runs the script, unless its args do not match its schema.
func (t *trial) outcome(ctx context.Context) (script.Outcome, error) {
	source := t.Source
	if t.c.Code != "" {
		source = script.Source{Name: fmt.Sprintf("(case %q)", t.c.Name), Text: t.c.Code}
	}
	if t.args != nil && t.c.Code == "" {
		args := t.c.Args
		if len(args) == 0 {
			args = []byte("{}") // the value for the schema if no args were given
		}
		if err := t.args.check(args); err != nil {
			return script.Outcome{Error: &script.Error{
				Name: "TypeError", Code: script.CodeOption, Message: "args: " + err.Error(),
			}}, nil
		}
	}
	return t.Run(ctx, script.Start{
		Source: source, Lib: t.Lib, Args: t.c.Args, BudgetTokens: t.c.Budget,
	}, t.host)
}

// compare lists the differences from the expectation.
func (t *trial) compare(out script.Outcome) ([]string, error) {
	e := t.c.Expect
	var wrong []string
	switch {
	case e.Throws != "" && out.Error == nil:
		wrong = append(wrong, fmt.Sprintf("throws: it returned %s, want an error %q", value(out.Value), e.Throws))
	case e.Throws != "":
		if string(out.Error.Code) != e.Throws && !strings.Contains(out.Error.Message, e.Throws) {
			wrong = append(wrong, fmt.Sprintf("throws: got %s, want %q", spoken(out.Error), e.Throws))
		}
	case out.Error != nil:
		wrong = append(wrong, "it threw: "+spoken(out.Error))
	case e.Result != nil:
		found, err := differences(e.Result, out.Value)
		if err != nil {
			return nil, err
		}
		wrong = append(wrong, found...)
	}
	n := t.host.Started()
	if e.Agents != nil && n != *e.Agents {
		wrong = append(wrong, fmt.Sprintf("agents: %d were started, want %d", n, *e.Agents))
	}
	if e.MaxAgents != nil && n > *e.MaxAgents {
		wrong = append(wrong, fmt.Sprintf("agents: %d were started, want at most %d", n, *e.MaxAgents))
	}
	return append(wrong, logged(e.Logs, t.host.Logs())...), nil
}

// logged looks for parts of lines in their order.
func logged(want, got []string) []string {
	at := 0
	for _, w := range want {
		for at < len(got) && !strings.Contains(got[at], w) {
			at++
		}
		if at == len(got) {
			return []string{fmt.Sprintf("logs: no line with %q where it is expected, in %q", w, got)}
		}
		at++
	}
	return nil
}

func value(text []byte) string {
	if len(text) == 0 {
		return "undefined"
	}
	return clip(text)
}

// spoken formats an error of a script in a single line.
func spoken(e *script.Error) string {
	var b strings.Builder
	if e.Where != "" {
		b.WriteString(e.Where + ": ")
	}
	b.WriteString(e.Name + ": " + e.Message)
	if e.Code != "" {
		fmt.Fprintf(&b, " (code %s)", e.Code)
	}
	return b.String()
}

// Direct runs a script in this process. It serves as [Request.Run] for scripts
// that need no watching. Its error is the cause of an ended ctx.
func Direct(ctx context.Context, start script.Start, host script.Host) (script.Outcome, error) {
	out := script.Run(ctx, start, host)
	if ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	return out, nil
}
