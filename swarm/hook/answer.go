package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Answer is the answer of a command of [hooks] to an event: [*Proceed], [*Veto]
// or [*Note].
//
//sumtype:decl
type Answer interface{ answer() string }

// Proceed lets it go on.
type Proceed struct{}

// Veto forbids it.
type Veto struct{ Reason string }

// Note lets it go on, and is something that people should know.
type Note struct{ Text string }

func (*Proceed) answer() string { return "proceed" }
func (*Veto) answer() string    { return "veto" }
func (*Note) answer() string    { return "note" }

// maxAnswer bounds the answer of a hook, in bytes.
const maxAnswer = 64 << 10

// answerJSON is every answer, flat.
type answerJSON struct {
	Decision *string `json:"decision"`
	Reason   *string `json:"reason"`
	Note     *string `json:"note"`
}

// ReadAnswer reads the answer of an event's hook: an empty text, or a single
// JSON object. It returns an error for any text that is not exactly an answer,
// so that a misspelt veto never counts as no veto.
func ReadAnswer(e Event, text []byte) (Answer, error) {
	if len(text) > maxAnswer {
		return nil, fmt.Errorf("it answered with more than %d bytes", maxAnswer)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return &Proceed{}, nil
	}
	if err := Strict(text); err != nil {
		return nil, fmt.Errorf("its answer is not JSON%s: %s", because(err), printed(text))
	}
	var f answerJSON
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return nil, fmt.Errorf("its answer is none that there is: %s", printed(text))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it answered more than one value")
	}
	return f.narrow(e)
}

// maxPrinted is the number of characters that an error quotes of an invalid
// answer.
const maxPrinted = 60

// printed returns the text about an invalid answer: its beginning, and the
// valid forms. A hook may print anything, so control characters are escaped.
func printed(text []byte) string {
	begins, cut := []rune(string(bytes.TrimSpace(text))), ""
	if len(begins) > maxPrinted {
		begins, cut = begins[:maxPrinted], "…"
	}
	return "it printed " + strconv.QuoteToASCII(string(begins)) + cut + `; want nothing, {"decision": "proceed"}, ` +
		`{"decision": "veto", "reason": "…"} or {"note": "…"}`
}

// because returns the reason that a text is no object, unless only a decoder
// would name it.
func because(err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ""
	}
	return ", " + err.Error()
}

func (f answerJSON) narrow(e Event) (Answer, error) {
	switch {
	case f.Note != nil && (f.Decision != nil || f.Reason != nil):
		return nil, errors.New("its answer has a note and a decision; give one of them")
	case f.Note != nil && strings.TrimSpace(*f.Note) == "":
		return nil, errors.New("its note is empty")
	case f.Note != nil:
		return &Note{Text: *f.Note}, nil
	case f.Decision == nil:
		return nil, errors.New(`its answer has neither "decision" nor "note"`)
	case *f.Decision == "proceed" && f.Reason == nil:
		return &Proceed{}, nil
	case *f.Decision == "proceed":
		return nil, errors.New(`only a veto has a reason; use "note"`)
	case *f.Decision != "veto":
		return nil, fmt.Errorf(`its decision is %q; there is "proceed" and "veto"`, *f.Decision)
	case !e.Vetoes():
		return nil, fmt.Errorf("%s comes too late for a veto", e)
	case f.Reason == nil || strings.TrimSpace(*f.Reason) == "":
		return nil, errors.New("its veto has no reason")
	default:
		return &Veto{Reason: *f.Reason}, nil
	}
}
