package models

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"agentswarm/roles"
)

// page is a part of a list, and the token for the next part; empty: it was the
// last.
type page struct {
	models []Model
	next   string
}

// readOpenAI reads the list of a server that speaks as OpenAI does. Its own says
// no more than names; others say how much their models take and cost, each in
// its own words.
func readOpenAI(text []byte) (page, error) {
	var list struct {
		Data *[]struct {
			ID            string
			ContextLength number  `json:"context_length"` // OpenRouter, Together
			ContextWindow number  `json:"context_window"` // Groq
			MaxModelLen   number  `json:"max_model_len"`  // vLLM
			MaxOutput     number  `json:"max_completion_tokens"`
			Pricing       pricing `json:"pricing"`
			Top           struct {
				MaxOutput number `json:"max_completion_tokens"`
			} `json:"top_provider"`
		}
	}
	whole := any(&list)
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		whole = &list.Data // Together
	}
	if err := json.Unmarshal(text, whole); err != nil || list.Data == nil {
		return page{}, errNoList
	}
	var p page
	for _, m := range *list.Data {
		p.models = append(p.models, Model{
			Name:   m.ID,
			Window: roles.Window{Context: first(m.ContextLength, m.ContextWindow, m.MaxModelLen), Output: first(m.MaxOutput, m.Top.MaxOutput)},
			Price:  m.Pricing.price(),
		})
	}
	return p, nil
}

// readAnthropic reads a page of Anthropic's list.
func readAnthropic(text []byte) (page, error) {
	var list struct {
		Data *[]struct {
			ID        string
			MaxInput  number `json:"max_input_tokens"`
			MaxOutput number `json:"max_tokens"`
		}
		More bool   `json:"has_more"`
		Last string `json:"last_id"`
	}
	if err := json.Unmarshal(text, &list); err != nil || list.Data == nil {
		return page{}, errNoList
	}
	var p page
	for _, m := range *list.Data {
		p.models = append(p.models, Model{Name: m.ID, Window: roles.Window{Context: int64(m.MaxInput), Output: int64(m.MaxOutput)}})
	}
	if list.More {
		p.next = list.Last
	}
	return p, nil
}

// readGemini reads a page of Gemini's list. Models that only embed, or draw, are
// none that an agent can use.
func readGemini(text []byte) (page, error) {
	var list struct {
		Models *[]struct {
			Name    string
			Input   number   `json:"inputTokenLimit"`
			Output  number   `json:"outputTokenLimit"`
			Methods []string `json:"supportedGenerationMethods"`
		}
		Next string `json:"nextPageToken"`
	}
	if err := json.Unmarshal(text, &list); err != nil || list.Models == nil {
		return page{}, errNoList
	}
	p := page{next: list.Next}
	for _, m := range *list.Models {
		if len(m.Methods) > 0 && !slices.Contains(m.Methods, "generateContent") {
			continue
		}
		p.models = append(p.models, Model{
			Name: strings.TrimPrefix(m.Name, "models/"), Window: roles.Window{Context: int64(m.Input), Output: int64(m.Output)},
		})
	}
	return p, nil
}

// readOllama reads the list of models on the disk of an Ollama.
func readOllama(text []byte) (page, error) {
	var list struct {
		Models *[]struct{ Name string }
	}
	if err := json.Unmarshal(text, &list); err != nil || list.Models == nil {
		return page{}, errNoList
	}
	var p page
	for _, m := range *list.Models {
		p.models = append(p.models, Model{Name: m.Name})
	}
	return p, nil
}

// number is a count of tokens. An impossible count is 0: it is not known.
type number int64

// UnmarshalJSON takes numbers, and texts of numbers. It returns no error.
func (n *number) UnmarshalJSON(text []byte) error {
	f, ok := decimal(text)
	if ok && f >= 1 && f < 1<<40 {
		*n = number(f)
	}
	return nil
}

// decimal reads a number that may stand in quotes.
func decimal(text []byte) (float64, bool) {
	f, err := strconv.ParseFloat(strings.Trim(string(text), `"`), 64)
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

func first(all ...number) int64 {
	for _, n := range all {
		if n > 0 {
			return int64(n)
		}
	}
	return 0
}

// pricing is the price of a model, in dollars for a token, as OpenRouter writes
// it: in texts. Values of others under this name are in units of their own, and
// do not count.
type pricing map[string]json.RawMessage

// UnmarshalJSON takes no object for nothing said.
func (p *pricing) UnmarshalJSON(text []byte) error {
	var all map[string]json.RawMessage
	if json.Unmarshal(text, &all) == nil {
		*p = all
	}
	return nil
}

// price is that of a million tokens; nil where it is not said.
func (p pricing) price() *roles.Price {
	amount := func(name string) (float64, bool) {
		text := p[name]
		if len(text) == 0 || text[0] != '"' {
			return 0, false
		}
		f, ok := decimal(text)
		// A thousand dollars for a million tokens is no price, but a mistake in
		// its unit.
		return math.Round(f*1e12) / 1e6, ok && f >= 0 && f < 1e-3
	}
	input, ok := amount("prompt")
	output, also := amount("completion")
	if !ok || !also {
		return nil
	}
	price := &roles.Price{Input: input, Output: output}
	for name, into := range map[string]**float64{"input_cache_read": &price.CacheRead, "input_cache_write": &price.CacheWrite} {
		if f, ok := amount(name); ok {
			*into = &f
		}
	}
	return price
}

// errNoList is the error for an answer that is not a list of models.
var errNoList = errors.New("its answer is not a list of models")
