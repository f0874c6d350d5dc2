// Package measure derives from an agent's actions and texts how far it fell
// into the failure modes that variants treat.
//
// Every measure is pure: it sees a piece of work and returns a number. It knows
// neither runs nor statistics, and asks no model.
package measure

import (
	"agentswarm/swarm/event"
)

// Work is the task of an agent, with its actions and texts.
type Work struct {
	Prompt  string
	Check   string   // the command that its task has; empty for none
	Phantom string   // a path that the prompt names and that was not there
	Paths   []string // the files at its beginning
	Roots   []string // folders that its workspace may have stood in
	Events  []event.Event
	Patch   string // its changes, as git writes them
	Answer  string
}

// Measure is a measure of a piece of work.
type Measure struct {
	Name string
	Says string // the meaning of the number, for people
	// Higher says that a larger number is better.
	Higher bool
	// Of returns the number; ok is false if the work gives none.
	Of func(w *Work) (x float64, ok bool)
}

// All are the measures, in the order they are told.
func All() []Measure {
	return []Measure{
		{"comment_density", "lines of comment for each line of code added", false, commentDensity},
		{"foreign_comments", "added lines of comment that are not English", false, foreignComments},
		{"missing_paths", "edits to paths that are not there", false, missingPaths},
		{"verification_rate", "a check ran after the last edit", true, verified},
		{"claim_accuracy", "claims about commands and tests that what ran bears out", true, claimAccuracy},
		{"repeated_question", "how much of the answer's beginning stands in the task", false, repeatedQuestion},
		{"banned_opener", "the answer opens with praise or filler", false, bannedOpener},
		{"announcements", "sentences that announce what comes next", false, announcements},
		{"caveats", "sentences of unrequested advice", false, caveats},
		{"response_length", "words of the answer", false, responseLength},
	}
}

// ForMode are the names of the measures of a failure mode, that which it is
// judged by first. A mode that a user has added is judged by all.
func ForMode(mode string) []string {
	switch mode {
	case "over-comments":
		return []string{"comment_density", "verification_rate", "response_length"}
	case "skips-verification":
		return []string{"verification_rate", "claim_accuracy", "response_length"}
	case "false-claims":
		return []string{"claim_accuracy", "verification_rate", "response_length"}
	case "safety-asides":
		return []string{"caveats", "response_length"}
	case "repeats-question":
		return []string{"repeated_question", "response_length"}
	case "narrates-plan":
		return []string{"announcements", "response_length"}
	case "filler-openers":
		return []string{"banned_opener", "response_length"}
	case "foreign-comments":
		return []string{"foreign_comments", "comment_density", "response_length"}
	case "phantom-paths":
		return []string{"missing_paths", "verification_rate", "response_length"}
	default:
		var names []string
		for _, m := range All() {
			names = append(names, m.Name)
		}
		return names
	}
}

// Find is the measure of a name.
func Find(name string) (Measure, bool) {
	for _, m := range All() {
		if m.Name == name {
			return m, true
		}
	}
	return Measure{}, false
}
