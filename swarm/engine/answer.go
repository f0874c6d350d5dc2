package engine

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"agentswarm/internal/statefile"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/fault"
	"agentswarm/swarm/schema"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// maxWhole bounds an answer that is all of an agent's output: its end is
// taken.
const maxWhole = 16 << 20

// maxWholeFile is more than such an answer takes as JSON, where a byte may
// become six.
const maxWholeFile = 8 * maxWhole

// wholeFile is the file of an answer that is too long for a result, beside the
// output of its attempt.
const wholeFile = "answer.json"

// whole is such an answer.
type whole struct {
	Text       string          `json:"text"`
	Structured json.RawMessage `json:"structured,omitempty"`
}

// WholeAnswer returns the answer of a completed agent, however long it is. It
// returns an error if the file of the answer cannot be read, or if its sum has
// changed.
func WholeAnswer(c *task.Completed) (text string, structured json.RawMessage, err error) {
	if c.Whole == nil {
		return c.Answer, c.Structured, nil
	}
	f, err := statefile.OpenOutput(c.Whole.File)
	if err != nil {
		return "", nil, fmt.Errorf("read an answer: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxWholeFile+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return "", nil, fmt.Errorf("read an answer: %w", err)
	}
	if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != c.Whole.Sum {
		return "", nil, fmt.Errorf("read an answer: %s is not the answer: its checksum has changed", c.Whole.File)
	}
	var kept whole
	if err := json.Unmarshal(raw, &kept); err != nil {
		return "", nil, fmt.Errorf("read an answer: %w", err)
	}
	return kept.Text, kept.Structured, nil
}

// verdict decides how an attempt ended, for its owner and for a later owner
// that reads it again.
type verdict struct {
	call    *task.Call
	spec    *agent.Spec
	schema  *schema.Schema // nil: any answer will do
	dir     string         // of the attempt's files
	round   int            // of its last process
	answers int            // that it gave, in all its rounds
	outcome *agent.Outcome
	changed bool
	work    task.Work
	outside func(string) string // see [lastLine]; nil without the sandbox
	address func() string       // of its model's server, as its login names it; required
}

// result is how the attempt ended, before its check. The error is swarm's own:
// an answer could not be read or kept.
func (v verdict) result() (task.Result, error) {
	o := v.outcome
	note(&v.work, v.spec, o)
	var satisfied *enough
	if o.Stopped != nil && !errors.As(o.Stopped, &satisfied) {
		h := haltBy(o.Stopped)
		return &task.Cancelled{Work: v.work, Cause: h.Cause, Reason: h.Reason}, nil
	}
	if satisfied == nil {
		// An answer that is to match a schema is not made good by a change.
		ok, kind, reason := o.Judge(v.spec, v.changed || v.schema != nil)
		if !ok {
			if o.Error == nil { // the agent did not say why itself
				reason = because(roundFile(v.dir, "stderr", v.round), kind, reason, v.outside)
			}
			if kind == task.Invalid || kind == task.Refused {
				v.work.SessionAttempt = 0 // the same conversation would be refused again
			}
			if kind == task.Overloaded {
				reason = fault.Nobody(reason, v.address)
			}
			return &task.Failed{Work: v.work, Kind: kind, Reason: reason}, nil
		}
	}
	if o.Answer != nil && o.Answer.Joined {
		v.work.Notes = append(slices.Clone(v.work.Notes), "a stream of its model broke and was joined with the next: part of its answer may be there twice")
	}
	text, err := v.text(satisfied != nil)
	if err != nil {
		return nil, err
	}
	v.work.Output = tail(text, task.OutputLimit)
	if satisfied != nil && text == "" && !v.changed {
		return &task.Cancelled{
			Work: v.work, Cause: task.CauseCancelled,
			Reason: "its stopWhen ended it before it said or changed anything",
		}, nil
	}
	var structured json.RawMessage
	if v.schema != nil {
		if structured, err = fit(v.schema, text, o); err != nil {
			return &task.Failed{Work: v.work, Kind: task.SchemaMismatch, Reason: v.mismatch(err)}, nil
		}
	}
	return v.completed(text, structured)
}

// note adds the output of an agent's process to its work: its answer, the model
// that gave it, and the conversation.
func note(work *task.Work, spec *agent.Spec, o *agent.Outcome) {
	work.Output = answerOf(o)
	work.Model = cmp.Or(o.Model, work.Model)
	if o.Session != "" && (o.Worked || work.Session == "") {
		work.Session, work.SessionAttempt = o.Session, 0
		if o.Worked {
			work.SessionAttempt = work.Attempts
		}
	}
	work.Conversation = spec.Prior
	work.Conversation.Add(o.Usage)
}

// text is the whole answer. Of an agent that was ended because it had done
// enough it is the last it said, where it had not answered yet.
func (v verdict) text(satisfied bool) (string, error) {
	o := v.outcome
	text := textOf(o)
	if text == "" && satisfied {
		text = o.Said
	}
	ends := !v.call.Script && v.schema == nil // no reader needs more than the end
	if v.spec.Format != agent.FormatText || o.Exit.StdoutBytes <= task.OutputLimit || ends {
		return text, nil
	}
	// Its parser keeps no more than the end of it.
	return readEnd(roundFile(v.dir, "stdout", v.round), o.Exit.StdoutBytes)
}

// mismatch returns the message that no answer matched, with the error of the
// last.
func (v verdict) mismatch(why error) string {
	if v.answers > 1 {
		return fmt.Sprintf("none of its %d answers matches the schema; of the last: %v", v.answers, why)
	}
	return fmt.Sprintf("its answer does not match the schema: %v", why)
}

// completed keeps an answer that a result cannot carry along. Only scripts
// and schemas ask for more than its end.
func (v verdict) completed(text string, structured json.RawMessage) (task.Result, error) {
	done := &task.Completed{Work: v.work, Answer: v.work.Output}
	if len(structured) <= task.OutputLimit {
		done.Structured = structured
	}
	long := max(len(text), len(structured)) > task.OutputLimit
	if !long || !v.call.Script && v.schema == nil {
		return done, nil
	}
	raw, err := json.Marshal(whole{text, structured})
	if err != nil {
		return nil, fmt.Errorf("keep its answer: %w", err)
	}
	sum := sha256.Sum256(raw)
	done.Whole = &task.Whole{File: filepath.Join(v.dir, wholeFile), Sum: hex.EncodeToString(sum[:])}
	if err := store.WriteFile(done.Whole.File, raw); err != nil {
		return nil, fmt.Errorf("keep its answer: %w", err)
	}
	return done, nil
}

// answerOf is the text of an outcome that a result carries along.
func answerOf(o *agent.Outcome) string { return tail(textOf(o), task.OutputLimit) }

// textOf returns an agent's answer as a text: where it has none, the JSON of
// its structured answer.
func textOf(o *agent.Outcome) string {
	switch {
	case o.Answer == nil:
		return ""
	case o.Answer.Text == "":
		return string(given(o.Answer.Structured))
	default:
		return o.Answer.Text
	}
}

// given returns a structured answer, where there is one.
func given(structured json.RawMessage) json.RawMessage {
	if string(structured) == "null" {
		return nil
	}
	return structured
}

// fit is the structured answer of an outcome, without blanks, if it matches a
// schema. text is the whole of its text.
func fit(s *schema.Schema, text string, o *agent.Outcome) (json.RawMessage, error) {
	var structured json.RawMessage
	if o.Answer != nil {
		structured = given(o.Answer.Structured)
	}
	if structured == nil {
		var err error
		if structured, err = schema.Extract(text); err != nil {
			return nil, err
		}
	}
	if err := s.Validate(structured); err != nil {
		return nil, err
	}
	var plain bytes.Buffer
	if err := json.Compact(&plain, structured); err != nil {
		return nil, err
	}
	return plain.Bytes(), nil
}

// readEnd is the end of the first size bytes of a file, as text.
func readEnd(path string, size int64) (string, error) {
	f, err := statefile.OpenOutput(path)
	if err != nil {
		return "", fmt.Errorf("read an answer: %w", err)
	}
	text := make([]byte, min(size, maxWhole))
	n, err := io.ReadFull(io.NewSectionReader(f, size-int64(len(text)), int64(len(text))), text)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // another process cut it short since
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("read an answer: %w", err)
	}
	text = text[:n]
	for size > maxWhole && len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return strings.ToValidUTF8(string(text), "\uFFFD"), nil
}

// head is the beginning of a text, at most limit bytes, cut at a rune.
func head(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
