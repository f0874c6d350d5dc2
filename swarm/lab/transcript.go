package lab

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/swarm/event"
	"agentswarm/swarm/lab/measure"
	"agentswarm/swarm/task"
)

// TranscriptSchema is the schema's name in the first line of a transcript.
const TranscriptSchema = "swarm.transcript/1"

// Arm is a side of the comparison. The zero value is none.
type Arm string

// The arms: without the variants of the family, and with them.
const (
	Off Arm = "off"
	On  Arm = "on"
)

// Head is the first line of a transcript: the task, the agent, and the result.
type Head struct {
	Schema string `json:"schema"`
	// Synthetic is set where no model wrote this: somebody made it by hand.
	Synthetic bool     `json:"synthetic,omitempty"`
	Family    string   `json:"family"`
	Mode      string   `json:"mode"`
	Task      string   `json:"task"`
	Arm       Arm      `json:"arm"`
	Repeat    int      `json:"repeat"` // from 1
	Agent     string   `json:"agent,omitempty"`
	Model     string   `json:"model,omitempty"`
	Prompt    string   `json:"prompt"`
	Check     string   `json:"check,omitempty"`
	Phantom   string   `json:"phantom,omitempty"`
	Paths     []string `json:"paths"` // of the files that were there
	Roots     []string `json:"roots,omitempty"`
	Patch     string   `json:"patch,omitempty"`
	Answer    string   `json:"answer,omitempty"`

	Usage *task.Usage `json:"usage,omitempty"`
}

// Transcript is the record of a single agent.
type Transcript struct {
	Head
	Events []event.Event
}

// Work returns the input of the measures.
func (t *Transcript) Work() *measure.Work {
	return &measure.Work{
		Prompt: t.Prompt, Check: t.Check, Phantom: t.Phantom, Paths: t.Paths, Roots: t.Roots,
		Events: t.Events, Patch: t.Patch, Answer: t.Answer,
	}
}

// eventLine is an event as a journal has it, without its time.
type eventLine struct {
	N    int             `json:"n"`
	Type string          `json:"type"`
	Body json.RawMessage `json:"body"`
}

// Write writes the transcript: its head, and an event a line.
func (t *Transcript) Write(to io.Writer) error {
	t.Schema = TranscriptSchema
	w := bufio.NewWriter(to)
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(t.Head); err != nil {
		return err
	}
	for i, e := range t.Events {
		body, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("encode event %d: %w", i+1, err)
		}
		if err := lines.Encode(eventLine{N: i + 1, Type: event.Kind(e), Body: body}); err != nil {
			return err
		}
	}
	return w.Flush()
}

// errForeign says that a file is something else than a transcript.
var errForeign = errors.New("the first line is not a head of a transcript (" + TranscriptSchema + ")")

// Read reads the output of Write. It returns an error for any other text.
func Read(text []byte) (*Transcript, error) {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	t := &Transcript{}
	if err := json.Unmarshal(first, &t.Head); err != nil || t.Schema != TranscriptSchema {
		return nil, errForeign
	}
	switch {
	case t.Arm != Off && t.Arm != On:
		return nil, fmt.Errorf("arm %q: want off or on", t.Arm)
	case t.Family == "" || t.Mode == "" || t.Task == "":
		return nil, errors.New("the head wants family, mode and task")
	case t.Repeat < 1:
		return nil, fmt.Errorf("repeat %d: want 1 or more", t.Repeat)
	}
	n := 1
	for line := range bytes.Lines(rest) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		record, err := event.Unmarshal(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		t.Events = append(t.Events, record.Event)
	}
	return t, nil
}

// maxTranscript is how long a transcript may be, in bytes: it is held whole.
const maxTranscript = 256 << 20

// readFile reads a regular file, and refuses a link or a pipe.
func readFile(name string, e fs.DirEntry) ([]byte, error) {
	info, err := e.Info()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &TranscriptError{File: name, Err: errors.New("is not a file")}
	case info.Size() > maxTranscript:
		return nil, &TranscriptError{File: name, Err: fmt.Errorf("has %d bytes; a transcript may have %d", info.Size(), maxTranscript)}
	}
	return os.ReadFile(name)
}

// Load reads all transcripts below a folder: every file NAME.jsonl in it. Two of
// the same task, arm and repeat are refused.
func Load(dir string) ([]*Transcript, error) {
	var all []*Transcript
	seen := map[string]string{}
	dir, err := filepath.EvalSymlinks(dir) // a link is not walked into
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(name) != ".jsonl" {
			return err
		}
		text, err := readFile(name, e)
		if err != nil {
			return err
		}
		t, err := Read(text)
		if err != nil {
			return &TranscriptError{File: name, Err: err}
		}
		if other := seen[t.file()+t.Model+t.Agent]; other != "" {
			return &TranscriptError{File: name, Err: fmt.Errorf("is of the same task, arm and repeat as %s", other)}
		}
		seen[t.file()+t.Model+t.Agent] = name
		all = append(all, t)
		return nil
	})
	slices.SortStableFunc(all, func(a, b *Transcript) int { return strings.Compare(a.file(), b.file()) })
	return all, err
}

// file is where a transcript is kept below the folder of all.
func (h *Head) file() string {
	return path.Join(h.Family, h.Mode, fmt.Sprintf("%s.%s.%d.jsonl", h.Task, h.Arm, h.Repeat))
}

// TranscriptError names a file that is no transcript.
type TranscriptError struct {
	File string
	Err  error
}

func (e *TranscriptError) Error() string { return e.File + ": " + e.Err.Error() }
func (e *TranscriptError) Unwrap() error { return e.Err }
