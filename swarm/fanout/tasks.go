package fanout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"agentswarm/swarm/task"
)

// Limits of a list of tasks.
const (
	MaxTasks     = 100_000
	MaxTasksText = 64 << 20 // bytes of the whole
	MaxTaskText  = 1 << 20  // bytes of a line, or of a table in TOML
	// MaxItem is the longest item in bytes: each becomes a variable of an
	// environment, which on Linux holds 128 KiB.
	MaxItem = 64 << 10
)

// Task is a record of a list of tasks.
type Task struct {
	Line int // where it stands, from 1
	// ID is the label of its agent; empty for none. Beside a command for all
	// tasks it is the item.
	ID string
	// Prompt or Command is the work; neither beside a command for all tasks.
	Prompt  string
	Command []string
	// Plain is a prompt that is taken as it is, without placeholders.
	Plain bool
	// Title is the name, in lists and commits, of a task that was made of a
	// ticket, and Ticket are the ticket's fields as a JSON object; empty for
	// other tasks.
	Title     string
	Ticket    json.RawMessage
	Agent     string // a configured agent; empty for that of the workflow
	Role      string // empty for that of the workflow
	Paths     []string
	DependsOn []string      // ids
	Timeout   time.Duration // 0: none of its own
	// Allow are items, by the grammar of AGENTS.md, for actions that its agent
	// may take without asking.
	Allow []string
	// Options are the settings of its agent; not beside a command.
	task.Options
}

// TaskFormat is the syntax of a list of tasks. The zero value is refused.
type TaskFormat uint8

// The formats.
const (
	FormatUnset TaskFormat = iota
	FormatJSONL            // an object a line
	FormatTOML             // tables [[tasks]]
	FormatPlain            // a prompt a line, or an item
)

// String is the word for the format.
func (f TaskFormat) String() string {
	switch f {
	case FormatJSONL:
		return "JSONL"
	case FormatTOML:
		return "TOML"
	case FormatPlain:
		return "plain text"
	default:
		return "unset"
	}
}

// FileFormat is the format of a file by its name; unset for no list of tasks.
func FileFormat(name string) TaskFormat {
	switch strings.ToLower(path.Ext(name)) {
	case ".jsonl":
		return FormatJSONL
	case ".toml":
		return FormatTOML
	default:
		return FormatUnset
	}
}

// InputFormat is the format of standard input, found from its content.
func InputFormat(text []byte) TaskFormat {
	if bytes.HasPrefix(bytes.TrimLeft(withoutMark(text), " \t\r\n"), []byte("{")) {
		return FormatJSONL
	}
	return FormatPlain
}

// withoutMark drops the byte order mark that some editors put first.
func withoutMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }

// TasksRequest is a list of tasks as it was given.
type TasksRequest struct {
	Source string     // required: how messages call it; safe to print
	Format TaskFormat // required
	Text   []byte
	// Items says that a command for all tasks was given: a plain line is an
	// item for it, and a record its id.
	Items bool
}

// TaskError is a fault at a place of a list of tasks.
type TaskError struct {
	Source string
	Line   int    // from 1; 0: the list as a whole
	Field  string // empty where none is to blame
	Reason string // the fault and its correction
	Tip    string
}

// Error is a single line: the place, the field, the reason.
func (e *TaskError) Error() string {
	text := e.Source
	if e.Line > 0 {
		text += ":" + strconv.Itoa(e.Line)
	}
	if e.Field != "" {
		text += ": " + e.Field
	}
	return text + ": " + e.Reason
}

// Hint returns the way out; it may be empty.
func (e *TaskError) Hint() string { return e.Tip }

// wrong blames a line, and a field unless it is empty.
func (r *TasksRequest) wrong(line int, field, reason string) *TaskError {
	return &TaskError{Source: r.Source, Line: line, Field: field, Reason: reason}
}

// ReadTasks reads a list of tasks, and checks all that can be known before a
// run. A fault is a [*TaskError].
func ReadTasks(r TasksRequest) ([]Task, error) {
	if len(r.Text) > MaxTasksText {
		return nil, r.wrong(0, "", fmt.Sprintf("is longer than %d MiB", MaxTasksText>>20))
	}
	r.Text = withoutMark(r.Text)
	if err := r.checkText(); err != nil {
		return nil, err
	}
	var tasks []Task
	var places []places
	var err *TaskError
	switch r.Format {
	case FormatPlain:
		tasks, err = r.plain()
	case FormatJSONL:
		tasks, places, err = r.narrow(r.jsonl)
	case FormatTOML:
		tasks, places, err = r.narrow(r.toml)
	default:
		err = r.wrong(0, "", "is not a list of tasks")
		err.Tip = "a list is called NAME.jsonl or NAME.toml, or comes on standard input"
	}
	if err == nil && len(tasks) == 0 {
		err = r.wrong(1, "", "holds no task")
	}
	if err == nil {
		err = r.checkNames(tasks, places)
	}
	if err != nil { // not as it is: a nil in an interface is not nil
		return nil, err
	}
	return tasks, nil
}

// checkText refuses bytes that no list may hold. Names of files may be any
// other bytes.
func (r *TasksRequest) checkText() *TaskError {
	for n, line := range r.lines() {
		switch {
		case bytes.IndexByte(line, 0) >= 0:
			return r.wrong(n, "", "holds a NUL byte")
		case !utf8.Valid(line) && !(r.Items && r.Format == FormatPlain):
			return r.wrong(n, "", "is not valid UTF-8")
		case len(line) > MaxTaskText && r.Format != FormatTOML:
			return r.wrong(n, "", fmt.Sprintf("is longer than %d MiB", MaxTaskText>>20))
		}
	}
	return nil
}

// lines are the lines of the text by their number, without their ends.
func (r *TasksRequest) lines() func(yield func(int, []byte) bool) {
	return func(yield func(int, []byte) bool) {
		n := 0
		for line := range bytes.Lines(r.Text) {
			n++
			line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			if !yield(n, line) {
				return
			}
		}
	}
}

// plain reads a prompt or an item from each line that is not blank.
func (r *TasksRequest) plain() ([]Task, *TaskError) {
	var tasks []Task
	for n, line := range r.lines() {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if len(tasks) == MaxTasks {
			return nil, r.tooMany(n)
		}
		t := Task{Line: n}
		switch {
		case !r.Items:
			t.Prompt, t.Plain = string(line), true
		case len(line) > MaxItem:
			return nil, r.wrong(n, "", fmt.Sprintf("is longer than the %d KiB of an item", MaxItem>>10))
		default:
			t.ID = string(line)
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

func (r *TasksRequest) tooMany(line int) *TaskError {
	return r.wrong(line, "", fmt.Sprintf("is one task more than the %d of a list", MaxTasks))
}

// quoted shows foreign text in a message: on a single line, and clipped, as it
// may be a megabyte.
func quoted(text string) string { return strconv.Quote(clipped(text)) }

// clipped shortens text that a message repeats.
func clipped(text string) string {
	const longest = 60
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return text
}
