package engine

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"agentswarm/internal/statefile"
	"agentswarm/swarm/environ"
	"agentswarm/swarm/event"
	"agentswarm/swarm/fault"
	"agentswarm/swarm/task"
)

// Limits of the note about variables that were held back.
const (
	maxHeldNamed = 8       // names in one note
	saidMuch     = 4 << 10 // bytes of output; a program that failed early printed less
	heldRead     = 64 << 10
)

// sawTool notes that the agent got as far as using a tool.
func (t *attempt) sawTool(ev event.Event) {
	if _, ok := ev.(*event.ToolStart); ok {
		t.acted = true
	}
}

// noteHeld adds a note about variables that were held back to an attempt whose
// agent failed early, or whose output names such a variable. The note has names
// and never values. Notes of different agents are often equal: a person is told
// each text once.
func (t *attempt) noteHeld(end *ending) {
	failed, ok := end.result.(*task.Failed)
	if !ok || end.retry || end.held || end.stumbled || t.gotRun == nil {
		return
	}
	switch failed.Kind {
	case task.Other, task.NoResult, task.Auth, task.StartFailed, task.Invalid:
	default:
		return
	}
	// A request that a server answered, or that no server received, had its
	// variables.
	_, unreachable := fault.Unreachable(failed.Reason)
	caused := failed.Kind == task.Invalid || unreachable
	t.noteHeldOf(t.gotRun.held, t.acted || caused, t.gotRun.files...)
}

// ranWith is the start of the latest program of an attempt.
type ranWith struct {
	held  []string // the caller's variables that it did not get
	files []string // its output
}

// noteHeldOf adds the note to those of the attempt. late is set where the
// program got too far for a missing variable to be the likely cause.
func (t *attempt) noteHeldOf(held []string, late bool, files ...string) {
	text, size := outputEnd(files)
	named := slices.DeleteFunc(slices.Clone(held), func(name string) bool { return !hasWord(text, name) })
	var note string
	switch {
	case len(named) > 0:
		note = "its output names " + someNames(named) + " of your environment, which agents do not get"
	case len(held) > 0 && !late && size < saidMuch && (strings.TrimSpace(text) == "" || asksForVariable().MatchString(text)):
		note = "perhaps it needs a variable of your environment that agents do not get: " + someNames(held)
	default:
		return
	}
	note += "; `pass_env` of [sandbox] in your own configuration, or --pass-env NAME, passes them"
	t.notes = append(t.notes, note)
	// A program that printed nothing gives no reason for the guess: `show` has it.
	if strings.TrimSpace(text) == "" {
		return
	}
	if _, told := t.engine.heldReported.LoadOrStore(note, true); !told {
		t.engine.deps.Warn(fmt.Sprintf("%s failed: %s", t.id, note))
	}
}

// asksForVariable finds words by which a program asks for a variable or a credential.
var asksForVariable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(environment|env|variables?|credentials?|api[ _-]?key|token|password|passphrase|secret|not set|unset|` +
		`unauthori[sz]ed|unauthenticated|authenticat\w+|log(ged)? ?in|login)\b`)
})

// someNames lists names, those that look most like a credential first.
func someNames(names []string) string {
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return likeliness(b) - likeliness(a) })
	return listed(names, maxHeldNamed)
}

// listed joins names, and counts those beyond the first most.
func listed(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// likeliness is 1 for a name that looks like that of a credential, else 0.
func likeliness(name string) int {
	if environ.Credential(name, "") {
		return 1
	}
	return 0
}

// outputEnd is the last part of each of some files, and the size of all. Files
// that cannot be read are left out.
func outputEnd(files []string) (text string, size int64) {
	for _, name := range files {
		if part, end, err := statefile.Tail(name, heldRead); err == nil {
			text, size = text+"\n"+string(part), size+end
		}
	}
	return text, size
}

// hasWord reports whether a text holds a name that is no part of a longer name.
func hasWord(text, name string) bool {
	part := func(b byte) bool {
		return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
	}
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(name)
		if (from == 0 || !part(text[from-1])) && (to == len(text) || !part(text[to])) {
			return true
		}
		at = to
	}
}
