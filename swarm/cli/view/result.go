package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/swarm/workflow/library"
)

// PrintResult prints the result of the run: the answer of a single agent, else
// the id of the run. It returns an error if standard output cannot be written.
func PrintResult(p *cmdline.Place, v *store.View, asJSON bool) error {
	if asJSON {
		return cmdline.PrintJSON(p.Env.Stdout, NewRunObject(v, time.Now()))
	}
	if v.Script != nil {
		return printReturned(p, v)
	}
	only := landing.Workers(v)
	if len(only) != 1 {
		_, err := fmt.Fprintln(p.Env.Stdout, v.Identity.Run)
		return err
	}
	done, ok := only[0].Status.(*task.Completed)
	if !ok || done.Answer == "" {
		return nil
	}
	answer := done.Answer
	if terminal.Detect(p.Env.Stdout, p.Env.Getenv).TTY {
		answer = termtext.Text(answer)
	}
	if answer[len(answer)-1] != '\n' {
		answer += "\n"
	}
	_, err := fmt.Fprint(p.Env.Stdout, answer)
	return err
}

// printReturned prints the value that a script returned: a text as it is,
// anything else as JSON. Without a value it prints nothing.
func printReturned(p *cmdline.Place, v *store.View) error {
	if v.Returned == nil || v.Returned.Value == nil {
		return nil
	}
	var text string
	if v.Returned.Value[0] != '"' || json.Unmarshal(v.Returned.Value, &text) != nil {
		var b bytes.Buffer
		if err := json.Indent(&b, v.Returned.Value, "", "  "); err != nil {
			return err
		}
		text = b.String()
	}
	if terminal.Detect(p.Env.Stdout, p.Env.Getenv).TTY {
		text = termtext.Text(text)
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err := fmt.Fprint(p.Env.Stdout, text)
	return err
}

// Thrown is the error that a run's script threw and the run failed of; nil for
// any other end.
func Thrown(v *store.View) *library.Error {
	if v.Status != store.RunFailed || v.Returned == nil || v.Returned.Error == nil {
		return nil
	}
	return &library.Error{Err: ThrownBy(v.Returned.Error), Thrown: true}
}
