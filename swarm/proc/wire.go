package proc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"
)

// The supervisor finds its pipes at these descriptors.
const (
	controlFD = 3
	reportFD  = 4
	stdinFD   = 5 // only with Spec.Pipe or Spec.Terminal
	doorFD    = 6 // only with Spec.Door
)

// exact is a string of the operating system. JSON knows only UTF-8 and would
// change other bytes of an argument or a path, so it travels as base64.
type exact string

func (e exact) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, []byte(e)), nil
}

func (e *exact) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.AppendDecode(nil, text)
	*e = exact(raw)
	return err
}

// wireSpec is a Spec as it travels: the first line of the control pipe.
type wireSpec struct {
	Tag         uint64          `json:"tag"`
	Argv        []exact         `json:"argv"`
	Env         []exact         `json:"env"`
	Dir         exact           `json:"dir"`
	Stdin       exact           `json:"stdin"`
	Pipe        bool            `json:"pipe"`
	Terminal    *Size           `json:"terminal,omitempty"`
	Stdout      exact           `json:"stdout"`
	Stderr      exact           `json:"stderr"`
	Merge       bool            `json:"merge,omitempty"`
	OutputLimit int64           `json:"output_limit"`
	Grace       time.Duration   `json:"grace_ns"`
	Low         bool            `json:"low,omitempty"`
	Walls       json.RawMessage `json:"walls,omitempty"`
	Door        exact           `json:"door,omitempty"`
	Outside     namespace       `json:"outside"` // where visitors come from
}

// convert changes a list of strings to another string type.
func convert[To, From ~string](list []From) []To {
	out := make([]To, len(list))
	for i, s := range list {
		out[i] = To(s)
	}
	return out
}

// encodeSpec writes a spec as a single line, its defaults filled in.
func encodeSpec(s *Spec, tag uint64) ([]byte, error) {
	w := wireSpec{
		Tag: tag, Argv: convert[exact](s.Argv), Env: convert[exact](s.Env),
		Dir: exact(s.Dir), Stdin: exact(s.Stdin), Pipe: s.Pipe, Terminal: s.Terminal,
		Stdout: exact(s.Stdout), Stderr: exact(s.Stderr), Merge: s.Merge,
		OutputLimit: s.OutputLimit, Grace: s.Grace, Low: s.Low, Walls: s.Sandbox, Door: exact(s.Door),
	}
	if s.Door != "" {
		w.Outside = ownNamespace()
	}
	if w.OutputLimit == 0 {
		w.OutputLimit = DefaultOutputLimit
	}
	if w.Grace == 0 {
		w.Grace = DefaultGrace
	}
	line, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("encode the command: %w", err)
	}
	return append(line, '\n'), nil
}

// origin identifies a supervisor: its tag, and the namespace outside of it.
type origin struct {
	tag     uint64
	outside namespace
}

// decodeSpec reads the line of encodeSpec.
func decodeSpec(line []byte) (Spec, origin, error) {
	var w wireSpec
	if err := json.Unmarshal(line, &w); err != nil {
		return Spec{}, origin{}, fmt.Errorf("decode the command: %w", err)
	}
	s := Spec{
		Argv: convert[string](w.Argv), Env: convert[string](w.Env),
		Dir: string(w.Dir), Stdin: string(w.Stdin), Pipe: w.Pipe, Terminal: w.Terminal,
		Stdout: string(w.Stdout), Stderr: string(w.Stderr), Merge: w.Merge,
		OutputLimit: w.OutputLimit, Grace: w.Grace, Low: w.Low, Sandbox: w.Walls, Door: string(w.Door),
	}
	return s, origin{tag: w.Tag, outside: w.Outside}, s.check()
}

// order is any later line of the control pipe. A line that is no order to stop
// kills: both ends are the same binary, so a senseless line means that the
// engine is no longer itself.
type order struct {
	Stop bool `json:"stop"`
}

func encodeStop() []byte { return []byte("{\"stop\":true}\n") }

// asksToStop reports whether a line of the control pipe orders a polite end.
func asksToStop(line []byte) bool {
	var o order
	return json.Unmarshal(line, &o) == nil && o.Stop
}

// report is a line of the report pipe; exactly one field is set.
type report struct {
	Output *Progress `json:"output,omitempty"`
	Exit   *Exit     `json:"exit,omitempty"`
}

// parseReport reads a line of the report pipe. Any other line is the last
// output of a supervisor that crashed, whose stderr is the same pipe; then it
// returns false.
func parseReport(line []byte) (report, bool) {
	if !bytes.HasPrefix(line, []byte("{")) {
		return report{}, false
	}
	var r report
	if err := json.Unmarshal(line, &r); err != nil {
		return report{}, false
	}
	return r, (r.Output == nil) != (r.Exit == nil)
}
