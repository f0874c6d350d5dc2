package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// failing is a plan whose agents all fail in the same way. before runs before
// the agents of a task count as failed.
func failing(t *testing.T, r Request, kind string, before func(place string)) *Plan {
	t.Helper()
	r.Swarm = func(_ context.Context, c Typed) int {
		if c.Args[0] == "ls" {
			fmt.Fprint(c.Stdout, `{"runs":[]}`)
			return 0
		}
		before(c.Dir)
		fmt.Fprintf(c.Stdout, `{"schema":"swarm.run/1","agents":[{"label":"w1","status":"failed","error":{"kind":%q,"message":"no"}}]}`, kind)
		return 3
	}
	p, err := NewPlan(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	for i := range p.jobs { // their repositories are of no interest
		dir := p.bay(&p.jobs[i]).dir
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "whole"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// After an agent is refused access no further task begins, however many wait.
// The test repeats it often: a wrong select would begin another task every
// other time.
func TestRunBeginsNothingOnceHalted(t *testing.T) {
	t.Parallel()
	for range 20 {
		ran, said := 0, []string{}
		r := request(t)
		r.Tasks, r.Say = 5, func(text string) { said = append(said, text) }
		p := failing(t, r, "auth", func(string) { ran++ })
		failures, err := p.Run(t.Context())
		stopped, ok := errors.AsType[*StoppedError](err)
		if !ok || stopped.Code != 6 || stopped.Missing != 10 || len(failures) != 1 || ran != 1 || len(said) != 1 {
			t.Fatalf("%d runs, failures %v, %v, and it was said %q: want one, and no further", ran, failures, err, said)
		}
	}
}

// Failures are reported in the order of tasks, whichever ended first.
func TestRunTellsFailuresInOrder(t *testing.T) {
	t.Parallel()
	r := request(t)
	second := make(chan struct{})
	r.Tasks, r.Jobs, r.Say = 2, 4, func(text string) {
		if strings.HasPrefix(text, "qwen/over-comments/02: ") {
			close(second)
		}
	}
	var p *Plan
	p = failing(t, r, "other", func(place string) {
		if place == p.bay(&p.jobs[0]).repo {
			<-second
		}
	})
	failures, err := p.Run(t.Context())
	if err != nil || len(failures) != 2 || failures[0].Agent != "qwen/over-comments/01 off 1" || failures[1].Agent != "qwen/over-comments/02 off 1" {
		t.Errorf("Run = %+v, %v, want that of the first task first", failures, err)
	}
}
