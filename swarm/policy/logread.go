package policy

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"agentswarm/internal/boundedline"
	"agentswarm/internal/statefile"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Logged is a decision in the record of a run.
type Logged struct {
	Time    time.Time       `json:"t"`
	Agent   task.ID         `json:"agent"`
	Action  json.RawMessage `json:"action"`
	Tier    string          `json:"tier"`
	Verdict string          `json:"verdict"`
	Allow   bool            `json:"allow"`
	By      string          `json:"by"`

	// Line is the whole entry, as it stands in the record.
	Line json.RawMessage `json:"-"`
}

// Outcome returns the verdict, with the answer to a question.
func (d *Logged) Outcome() string {
	switch {
	case d.Verdict != "ask":
		return d.Verdict
	case d.Allow:
		return "ask: yes"
	default:
		return "ask: no"
	}
}

// ReadLog returns the decisions about actions of a run's agents, or of an agent, in
// their order. It skips a damaged line and tells damaged. The error says that the
// record cannot be read.
func ReadLog(at store.Address, damaged func(line int, err error)) (all []Logged, err error) {
	err = eachLine(at.Run, at.Run.RiskLog(), damaged, func(line []byte) error {
		d := Logged{Line: line}
		if err := json.Unmarshal(line, &d); err != nil {
			return err
		}
		if d.Tier == "" {
			return errors.New("it is not a decision: it has no tier")
		}
		if at.Agent == "" || at.Agent == d.Agent {
			all = append(all, d)
		}
		return nil
	})
	return all, err
}

// maxEntry bounds an entry of a record that is read, in bytes.
const maxEntry = 8 << 20

// eachLine reads the lines of a record. It tells damaged of each line that read
// refuses, but not of the last, which may be incomplete yet.
func eachLine(run *store.Run, file string, damaged func(line int, err error), read func(line []byte) error) error {
	f, err := statefile.Open(run.State().Dir, file, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	lines := bufio.NewReaderSize(f, 64<<10)
	var failed error
	for n := 1; ; n++ {
		line, err := boundedline.Read(lines, maxEntry)
		var long *boundedline.LongError
		if err != nil && !errors.As(err, &long) {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
		if failed != nil { // it was not the last line
			damaged(n-1, failed)
		}
		if failed = err; failed == nil {
			failed = read(line)
		}
	}
}
