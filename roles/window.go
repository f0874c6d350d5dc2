package roles

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Window is how much a model takes and says, in tokens; 0: not known.
type Window struct {
	Context int64 `toml:"context" json:"context,omitempty"` // of a request, with the earlier conversation
	Output  int64 `toml:"output" json:"output,omitempty"`   // of an answer
}

// Published are the windows of a provider's models, and where that was read.
type Published struct {
	Name   string            `toml:"name"`
	Source string            `toml:"source"`
	Date   string            `toml:"date"` // of the source, as YYYY-MM-DD
	Models map[string]Window `toml:"models"`
}

//go:embed windows.toml
var windowTable []byte

// Windows are how much models take.
type Windows struct{ providers []Published }

// LoadWindows reads the table that this program brings.
func LoadWindows() (*Windows, error) {
	var read struct {
		Providers []Published `toml:"providers"`
	}
	d := toml.NewDecoder(bytes.NewReader(windowTable)).DisallowUnknownFields()
	if err := d.Decode(&read); err != nil {
		return nil, fmt.Errorf("read the table of windows: %w", err)
	}
	return &Windows{providers: read.Providers}, nil
}

// Providers are those of the table.
func (w *Windows) Providers() []Published { return slices.Clone(w.providers) }

// Of returns the window of a model, which it finds by the name as [Prices.Of]
// does, and the date of the source. The seller of a model does not matter here:
// Of looks up the last part of a name, too.
func (w *Windows) Of(model string) (_ Window, date string, ok bool) {
	m := suffixes().FindStringSubmatch(strings.ToLower(model))
	if m == nil {
		return Window{}, "", false
	}
	name := m[1][strings.LastIndexByte(m[1], '/')+1:]
	for _, by := range w.providers {
		if is, ok := by.Models[name]; ok {
			return is, by.Date, true
		}
	}
	return Window{}, "", false
}

// Aside reports whether the price of a model is from a table that is aside: such
// models are never suggested.
func (p *Prices) Aside(model string) bool {
	if _, own := p.set(model); own {
		return false
	}
	by, found := p.table(model)
	return found && by.Aside
}

// table is the first table with a model of this name.
func (p *Prices) table(model string) (Provider, bool) {
	m := suffixes().FindStringSubmatch(strings.ToLower(model))
	if m == nil {
		return Provider{}, false
	}
	name := m[1][strings.LastIndexByte(m[1], '/')+1:]
	for _, by := range p.providers {
		if _, here := by.Models[name]; here {
			return by, true
		}
	}
	return Provider{}, false
}

// Priced is [Prices.Of] with the date of the price's table, which is empty for
// a price that somebody set.
func (p *Prices) Priced(model string) (_ Price, date string, ok bool) {
	price, ok := p.Of(model)
	if _, own := p.set(model); own || !ok {
		return price, "", ok
	}
	by, _ := p.table(model)
	return price, by.Date, true
}
