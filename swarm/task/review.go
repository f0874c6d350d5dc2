package task

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Verdict is a person's opinion of an agent's work. The zero value: there is
// none.
type Verdict string

// The verdicts.
const (
	Accepted Verdict = "accepted" // merge takes it, whatever its check said
	Rejected Verdict = "rejected" // merge leaves it out
)

// UnmarshalText refuses a word that is none.
func (v *Verdict) UnmarshalText(text []byte) error {
	return oneOf(v, text, "verdict", Accepted, Rejected)
}

// Fell reports whether a try ended without good enough work, by its own fault.
// A refusal by its provider or a hook, a failure of its machine or a stop says
// nothing about it.
func Fell(r Result) bool {
	switch r := r.(type) {
	case *Completed:
		return r.Verified != nil && !*r.Verified
	case *Cancelled:
		return false
	case *Failed:
		switch r.Kind {
		case NoResult, Timeout, IdleTimeout, OutputExceeded, SchemaMismatch, Other:
			return true
		default:
			return false
		}
	default:
		panic(fmt.Sprintf("unhandled %T", r))
	}
}

// SentBack reports whether a request for another try says that the work was not
// good enough, because the result itself did not say so.
func SentBack(r Result) bool {
	_, completed := r.(*Completed)
	return completed && !Fell(r)
}

// Span is the validity of an answer to a question. The zero value is once.
type Span string

// The spans of answers.
const (
	Once      Span = "once" // for this question
	ForTheRun Span = "run"  // for the same action of any agent of the run
)

// UnmarshalText refuses a word that is none.
func (s *Span) UnmarshalText(text []byte) error {
	return oneOf(s, text, "span", Once, ForTheRun)
}

// By names the answerer of a question. The zero value is none.
type By string

// The possible answerers.
const (
	ByPerson By = "person"
	ByRule   By = "rule"   // an earlier answer that holds for the run
	ByPolicy By = "policy" // nobody could be asked
	ByEnd    By = "end"    // the agent ended first
	ByScript By = "script" // the onTool of its call, which can only deny
	ByRisk   By = "risk"   // its action is refused, or granted, without a question
	ByTime   By = "time"   // no answer came in time
)

// UnmarshalText refuses a word that is none.
func (b *By) UnmarshalText(text []byte) error {
	return oneOf(b, text, "answerer", ByPerson, ByRule, ByPolicy, ByEnd, ByScript, ByRisk, ByTime)
}

// oneOf reads a word of a closed set.
func oneOf[W ~string](into *W, text []byte, what string, set ...W) error {
	if w := W(text); slices.Contains(set, w) {
		*into = w
		return nil
	}
	return fmt.Errorf("unknown %s %q", what, text)
}

// EditKey identifies an edit of a patch by its content, so that a verdict on it
// holds for the same edit of a later attempt. Package review makes it.
type EditKey struct {
	Path string
	// Exact is the fingerprint of the words that change, Sum that of all lines.
	Exact, Sum string
	// Nth counts equal edits of the file, from 1.
	Nth int
}

// editKeyJSON is an EditKey whose path keeps its bytes: paths that are not UTF-8
// would be equal otherwise.
type editKeyJSON struct {
	Path  Verbatim `json:"path"`
	Exact string   `json:"exact"`
	Sum   string   `json:"sum"`
	Nth   int      `json:"nth"`
}

// MarshalJSON writes the key without the loss of a byte of its path.
func (k EditKey) MarshalJSON() ([]byte, error) {
	return json.Marshal(editKeyJSON{Verbatim(k.Path), k.Exact, k.Sum, k.Nth})
}

// UnmarshalJSON is the reverse of MarshalJSON.
func (k *EditKey) UnmarshalJSON(text []byte) error {
	var f editKeyJSON
	err := json.Unmarshal(text, &f)
	*k = EditKey{Path: string(f.Path), Exact: f.Exact, Sum: f.Sum, Nth: f.Nth}
	return err
}
