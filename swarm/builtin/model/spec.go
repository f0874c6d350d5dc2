package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"agentswarm/roles"
	"agentswarm/swarm/nearest"
	"agentswarm/swarm/provider"
)

// These types belong to the table of providers.
type (
	// API is a protocol that models are asked by.
	API = provider.API
	// Provider is where models are.
	Provider = provider.Provider
	// Facts are the facts that requests need of a model.
	Facts = provider.Facts
)

// The APIs.
const (
	Chat      = provider.Chat
	Responses = provider.Responses
	Anthropic = provider.Anthropic
)

// Search is a search for a provider.
type Search struct {
	Spec   roles.Spec
	Getenv func(string) string
	// More are providers beside the known ones, and before them.
	More map[string]Provider
	// Endpoint, API and KeyEnv replace the provider's values.
	Endpoint string
	API      API
	KeyEnv   string
}

// Endpoint is the address and the way to ask a model.
type Endpoint struct {
	Spec  roles.Spec
	API   API
	URL   string
	Key   string // never printed
	Facts Facts
	// Thinking is how many tokens the model may think for each answer; 0 is as
	// its provider has it.
	Thinking int64
	// Secrets are the variables that hold keys: no tool is to see them.
	Secrets []string
}

// leastThinking is the least that the API takes.
const leastThinking = 1024

// Think bounds how much the model thinks for each answer. It is refused where
// the API has words for more and less only, or the number does not fit.
func (e *Endpoint) Think(tokens int64) error {
	if e.API != Anthropic {
		return fmt.Errorf("model %s is asked by the API %s, which has no number of tokens for that; say how much it is to think by an effort",
			e.Spec, e.API)
	}
	if most := cmp.Or(e.Facts.MaxOutput, defaultOutput); tokens < leastThinking || tokens >= most {
		return fmt.Errorf("%d: model %s takes from %d to %d", tokens, e.Spec, leastThinking, most-1)
	}
	e.Thinking = tokens
	return nil
}

// Find finds the endpoint of a model. Its errors name the setting to give.
func (s Search) Find() (*Endpoint, error) {
	all := provider.Over(s.Getenv, s.More)
	secrets := []string{s.KeyEnv}
	for _, p := range provider.Known(s.Getenv) {
		secrets = append(secrets, p.KeyEnv)
	}
	for _, p := range all {
		secrets = append(secrets, p.KeyEnv)
	}
	name := cmp.Or(s.Spec.Provider, s.guess())
	p, ok := all[name]
	switch {
	case !ok && s.Endpoint == "" && name == "":
		return nil, fmt.Errorf("model %s: it names no provider; want one of %s before a slash, or an endpoint",
			s.Spec, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	case !ok && s.Endpoint == "":
		known, hint := slices.Sorted(maps.Keys(all)), ""
		if near := nearest.Word(name, known); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		return nil, fmt.Errorf("model %s: unknown provider %q; want one of %s, or an endpoint%s",
			s.Spec, name, strings.Join(known, ", "), hint)
	case !ok:
		p = Provider{API: Chat}
	}
	ours := p.BaseURL
	p.BaseURL, p.API, p.KeyEnv = cmp.Or(s.Endpoint, p.BaseURL), cmp.Or(s.API, p.API), cmp.Or(s.KeyEnv, p.KeyEnv)
	if err := provider.CheckURL(p.BaseURL); err != nil {
		return nil, fmt.Errorf("model %s: the endpoint %w", s.Spec, err)
	}
	if err := p.API.UnmarshalText([]byte(p.API)); err != nil {
		return nil, fmt.Errorf("model %s: %w", s.Spec, err)
	}
	slices.Sort(secrets)
	e := &Endpoint{
		Spec: s.Spec, API: p.API, URL: p.BaseURL, Facts: s.facts(p),
		Secrets: slices.DeleteFunc(slices.Compact(secrets), func(name string) bool { return name == "" }),
	}
	if s.Endpoint != "" && s.KeyEnv == "" && s.Endpoint != ours {
		p.KeyEnv = "" // a key is for where it was given for
	}
	if p.KeyEnv != "" {
		e.Key = s.Getenv(p.KeyEnv)
	}
	if e.Key == "" && (s.KeyEnv != "" || provider.Keyed(p.BaseURL)) {
		return nil, &KeyError{Spec: s.Spec, Variable: cmp.Or(p.KeyEnv, "the variable of --key-env")}
	}
	return e, nil
}

// guess is the provider of a model that names none: the only provider with a
// key.
func (s Search) guess() string {
	if s.Endpoint != "" {
		return ""
	}
	return provider.Guess(s.Getenv, s.More)
}

// KeyError is a key that is missing.
type KeyError struct {
	Spec     roles.Spec
	Variable string
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("model %s: no key: the variable %s is not set", e.Spec, e.Variable)
}

// defaultWindow is the context window of an unknown model.
const defaultWindow = 128_000

// facts are the facts of a model: its provider's, else published ones, else
// those of models with such a name.
func (s Search) facts(p Provider) Facts {
	f := p.Models[s.Spec.Model]
	if f.ContextWindow == 0 {
		f.ContextWindow = published(s.Spec.Model)
	}
	// A provider that sells models of others puts their maker first.
	made := s.Spec.Model[strings.LastIndexByte(s.Spec.Model, '/')+1:]
	for _, row := range []struct {
		begins         string
		window, output int64
	}{
		{"claude-3-haiku", 200_000, 4096},
		{"claude-3-opus", 200_000, 4096},
		{"claude-3-5", 200_000, 8192},
		{"claude", 200_000, 32_000},
		{"gpt-4.1", 1_000_000, 0},
		{"gpt-4", 128_000, 0},
		{"gpt-5", 272_000, 0},
		{"gpt", 272_000, 0},
		{"o3", 200_000, 0},
		{"o4", 200_000, 0},
		{"", defaultWindow, 0},
	} {
		if strings.HasPrefix(made, row.begins) {
			f.ContextWindow = cmp.Or(f.ContextWindow, row.window)
			f.MaxOutput = cmp.Or(f.MaxOutput, row.output)
			break
		}
	}
	return f
}

// published is the context window that is published of a model; 0: none is.
func published(model string) int64 {
	table, err := roles.LoadWindows()
	if err != nil {
		return 0 // its test says so
	}
	window, _, _ := table.Of(model)
	return window.Context
}
