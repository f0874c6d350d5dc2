package task

import (
	"encoding/json"
	"fmt"
	"time"
)

// inputJSON is every input, flat.
type inputJSON struct {
	Is     string `json:"is"`
	Type   string `json:"type,omitempty"`
	Role   string `json:"role,omitempty"`
	Parent ID     `json:"parent,omitempty"`
	Prompt string `json:"prompt,omitempty"`
}

func flattenInput(in AgentInput) inputJSON {
	switch in := in.(type) {
	case *TypedAgentInput:
		return inputJSON{Is: in.input(), Type: in.Type, Role: in.Role, Prompt: in.Prompt}
	case *ForkAgentInput:
		return inputJSON{Is: in.input(), Parent: in.Parent, Prompt: in.Prompt}
	default:
		panic(fmt.Sprintf("unhandled %T", in))
	}
}

func (f inputJSON) narrow() (AgentInput, error) {
	switch f.Is {
	case "typed":
		return &TypedAgentInput{Type: f.Type, Role: f.Role, Prompt: f.Prompt}, nil
	case "fork":
		return &ForkAgentInput{Parent: f.Parent, Prompt: f.Prompt}, nil
	default:
		return nil, fmt.Errorf("unknown agent input %q", f.Is)
	}
}

type callJSON struct {
	Key        string     `json:"key"`
	Occurrence int        `json:"occurrence,omitempty"`
	Input      inputJSON  `json:"input"`
	Agent      string     `json:"agent,omitempty"`
	Command    []Verbatim `json:"command,omitempty"`
	Label      Verbatim   `json:"label,omitzero"`
	Title      Verbatim   `json:"title,omitzero"`
	Item       Verbatim   `json:"item,omitzero"`
	Name       Verbatim   `json:"name,omitzero"`
	Index      int        `json:"index,omitempty"`
	Count      int        `json:"count,omitempty"`
	Group      Verbatim   `json:"group,omitzero"`
	Phase      string     `json:"phase,omitempty"`

	Paths     []string      `json:"paths,omitempty"`
	DependsOn []string      `json:"depends_on,omitempty"`
	After     []string      `json:"after,omitempty"`
	Timeout   time.Duration `json:"timeout_ns,omitempty"`

	Script   bool            `json:"script,omitempty"`
	Identity string          `json:"identity,omitempty"`
	Uncached bool            `json:"uncached,omitempty"`
	Schema   json.RawMessage `json:"schema,omitempty"`
	Shared   bool            `json:"shared,omitempty"`
	Limits   Limits          `json:"limits,omitzero"`
	StopWhen string          `json:"stop_when,omitempty"`
	OnTool   string          `json:"on_tool,omitempty"`
	Allow    []string        `json:"allow,omitempty"`
	Retries  *int            `json:"retries,omitempty"`
	Options
	Stage     *Stage          `json:"stage,omitempty"`
	Ticket    json.RawMessage `json:"ticket,omitempty"`
	SubjectOf string          `json:"subject_of,omitempty"`
	Fallbacks []Choice        `json:"fallbacks,omitempty"`
	Slow      *Choice         `json:"slow,omitempty"`

	Base     string `json:"base"`
	BaseTree string `json:"base_tree"`
}

// MarshalJSON writes the input with its tag.
func (c *Call) MarshalJSON() ([]byte, error) {
	return json.Marshal(callJSON{
		c.Key, c.Occurrence, flattenInput(c.Input), c.Agent, Verbatims(c.Command), Verbatim(c.Label), Verbatim(c.Title),
		Verbatim(c.Item), Verbatim(c.Name), c.Index, c.Count, Verbatim(c.Group), c.Phase,
		c.Paths, c.DependsOn, c.After, c.Timeout,
		c.Script, c.Identity, c.Uncached, c.Schema, c.Shared, c.Limits,
		c.StopWhen, c.OnTool, c.Allow, c.Retries, c.Options, c.Stage, c.Ticket, c.SubjectOf, c.Fallbacks, c.Slow, c.Base, c.BaseTree,
	})
}

// UnmarshalJSON refuses an input with an unknown tag.
func (c *Call) UnmarshalJSON(text []byte) error {
	var f callJSON
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	in, err := f.Input.narrow()
	if err != nil {
		return err
	}
	*c = Call{
		f.Key, f.Occurrence, in, f.Agent, Strings(f.Command), string(f.Label), string(f.Title),
		string(f.Item), string(f.Name), f.Index, f.Count, string(f.Group), f.Phase,
		f.Paths, f.DependsOn, f.After, f.Timeout,
		f.Script, f.Identity, f.Uncached, f.Schema, f.Shared, f.Limits,
		f.StopWhen, f.OnTool, f.Allow, f.Retries, f.Options, f.Stage, f.Ticket, f.SubjectOf, f.Fallbacks, f.Slow, f.Base, f.BaseTree,
	}
	return nil
}

// statusJSON is every status, flat.
type statusJSON struct {
	Status string `json:"status"`
	*Work
	State    State      `json:"state,omitempty"`
	Attempt  int        `json:"attempt,omitempty"`
	Since    *time.Time `json:"since,omitempty"`
	Answer   string     `json:"answer,omitempty"`
	Verified *bool      `json:"verified,omitempty"`

	Structured json.RawMessage `json:"structured,omitempty"`
	Whole      *Whole          `json:"whole,omitempty"`

	Kind   ErrorKind `json:"kind,omitempty"`
	Reason string    `json:"reason,omitempty"`
}

// MarshalStatus writes a status with its tag.
func MarshalStatus(s Status) ([]byte, error) {
	f := statusJSON{Status: s.status()}
	switch s := s.(type) {
	case *Running:
		f.State, f.Attempt, f.Since = s.State, s.Attempt, &s.Since
	case *Completed:
		f.Work, f.Answer, f.Verified = &s.Work, s.Answer, s.Verified
		f.Structured, f.Whole = s.Structured, s.Whole
	case *Failed:
		f.Work, f.Kind, f.Reason = &s.Work, s.Kind, s.Reason
	case *Cancelled:
		f.Work, f.Kind, f.Reason = &s.Work, s.Cause, s.Reason
	default:
		panic(fmt.Sprintf("unhandled %T", s))
	}
	return json.Marshal(f)
}

// UnmarshalStatus reads the JSON of [MarshalStatus]. It returns an error for an
// unknown status.
func UnmarshalStatus(text []byte) (Status, error) {
	f := statusJSON{Work: &Work{}}
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, err
	}
	switch f.Status {
	case "running":
		r := &Running{State: f.State, Attempt: f.Attempt}
		if f.Since != nil {
			r.Since = *f.Since
		}
		return r, nil
	case "completed":
		return &Completed{
			Work: *f.Work, Answer: f.Answer, Verified: f.Verified,
			Structured: f.Structured, Whole: f.Whole,
		}, nil
	case "failed":
		return &Failed{Work: *f.Work, Kind: f.Kind, Reason: f.Reason}, nil
	case "cancelled":
		return &Cancelled{Work: *f.Work, Cause: f.Kind, Reason: f.Reason}, nil
	default:
		return nil, fmt.Errorf("unknown status %q", f.Status)
	}
}

// UnmarshalResult reads a status that must be a result.
func UnmarshalResult(text []byte) (Result, error) {
	s, err := UnmarshalStatus(text)
	if err != nil {
		return nil, err
	}
	r, ok := s.(Result)
	if !ok {
		return nil, fmt.Errorf("a %s agent has no result", s.status())
	}
	return r, nil
}
