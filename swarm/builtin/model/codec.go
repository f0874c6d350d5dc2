package model

import (
	"encoding/json"
	"fmt"
)

// wirePart is every part, flat.
type wirePart struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
	Bad  bool   `json:"bad,omitempty"`
	API  API    `json:"api,omitempty"`
	Raw  string `json:"raw,omitempty"` // a string: its bytes are to stay as they are
}

type wireMessage struct {
	Role  Role       `json:"role"`
	Parts []wirePart `json:"parts"`
}

// MarshalJSON writes a message such that it is read back byte for byte.
func (m Message) MarshalJSON() ([]byte, error) {
	w := wireMessage{Role: m.Role, Parts: []wirePart{}}
	for _, p := range m.Parts {
		out := wirePart{Type: p.part()}
		switch p := p.(type) {
		case *Text:
			out.Text = p.Text
		case *Note:
			out.Text = p.Text
		case *Call:
			out.ID, out.Name, out.Raw = p.ID, p.Name, string(p.Input)
		case *Result:
			out.ID, out.Text, out.Bad = p.ID, p.Text, p.Bad
		case *Kept:
			out.API, out.Raw = p.API, string(p.JSON)
		case *Thought:
			continue
		default:
			panic(fmt.Sprintf("unhandled %T", p))
		}
		w.Parts = append(w.Parts, out)
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads a message, and refuses a part of an unknown type.
func (m *Message) UnmarshalJSON(text []byte) error {
	var w wireMessage
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	if w.Role != User && w.Role != Assistant {
		return fmt.Errorf("unknown role %q", w.Role)
	}
	read := Message{Role: w.Role}
	for _, p := range w.Parts {
		part, err := p.narrow()
		if err != nil {
			return err
		}
		read.Parts = append(read.Parts, part)
	}
	*m = read
	return nil
}

func (w wirePart) narrow() (Part, error) {
	switch w.Type {
	case "text":
		return &Text{w.Text}, nil
	case "note":
		return &Note{w.Text}, nil
	case "call":
		return &Call{ID: w.ID, Name: w.Name, Input: object(w.Raw)}, nil
	case "result":
		return &Result{ID: w.ID, Text: w.Text, Bad: w.Bad}, nil
	case "kept":
		if !json.Valid([]byte(w.Raw)) {
			return nil, fmt.Errorf("what %s gave is not JSON", w.API)
		}
		return &Kept{API: w.API, JSON: json.RawMessage(w.Raw)}, nil
	default:
		return nil, fmt.Errorf("unknown part %q", w.Type)
	}
}
