package box

import "encoding/json"

// wirePiece is a piece on its way to a supervisor. Its paths are bytes, which
// JSON text would not keep as they are.
type wirePiece struct {
	At       []byte   `json:"at"`
	Optional bool     `json:"optional,omitempty"`
	From     []byte   `json:"from,omitempty"`
	Write    bool     `json:"write,omitempty"`
	Lower    [][]byte `json:"lower,omitempty"`
	Upper    []byte   `json:"upper,omitempty"`
	Work     []byte   `json:"work,omitempty"`
	Sealed   bool     `json:"sealed,omitempty"`
	Scratch  bool     `json:"scratch,omitempty"`
	Empty    bool     `json:"empty,omitempty"`
}

// MarshalJSON writes a piece with its paths byte for byte.
func (p Piece) MarshalJSON() ([]byte, error) {
	w := wirePiece{
		At: []byte(p.At), Optional: p.Optional, From: []byte(p.From), Write: p.Write,
		Upper: []byte(p.Upper), Work: []byte(p.Work), Sealed: p.Sealed, Scratch: p.Scratch, Empty: p.Empty,
	}
	for _, dir := range p.Lower {
		w.Lower = append(w.Lower, []byte(dir))
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Piece) UnmarshalJSON(text []byte) error {
	var w wirePiece
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	*p = Piece{
		At: string(w.At), Optional: w.Optional, From: string(w.From), Write: w.Write,
		Upper: string(w.Upper), Work: string(w.Work), Sealed: w.Sealed, Scratch: w.Scratch, Empty: w.Empty,
	}
	for _, dir := range w.Lower {
		p.Lower = append(p.Lower, string(dir))
	}
	return nil
}
