package pi

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
)

// listRequest asks pi for its table of models, with their prices and windows.
const listRequest = `{"id":"models","type":"get_available_models"}`

// askModels starts pi to list the models that it has logins for. It sends no
// request to a provider. pi reads the request from a pipe and ends after its
// answer.
func askModels(r agent.Request) (agent.Launch, error) {
	files, err := state(&r, nil)
	if err != nil {
		return agent.Launch{}, fmt.Errorf("list the models of pi: %w", err)
	}
	return agent.Launch{
		Argv: slices.Concat([]string{"/bin/sh", "-c", `printf '%s\n' "$0" | "$@"`, listRequest}, r.Spec.Command,
			[]string{"--mode", "rpc", "--no-extensions"}),
		Env: environment(r.State), Unset: inherited(), Files: files,
	}, nil
}

// readModels reads the response. pi may print warnings before it.
func readModels(said string) []agent.Listed {
	var all []agent.Listed
	for line := range strings.Lines(said) {
		var response struct {
			Command string `json:"command"`
			Data    struct {
				Models []json.RawMessage `json:"models"`
			} `json:"data"`
		}
		if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &response) != nil || response.Command != "get_available_models" {
			continue
		}
		for _, text := range response.Data.Models {
			var m modelEntry
			if json.Unmarshal(text, &m) == nil && m.ID != "" && m.Provider != "" {
				all = append(all, agent.Listed{Name: m.Provider + "/" + m.ID, Window: m.window(), Price: m.Cost.price()})
			}
		}
	}
	return all
}

// modelEntry is a model in the table of pi.
type modelEntry struct {
	ID       string  `json:"id"`
	Provider string  `json:"provider"`
	Context  float64 `json:"contextWindow"` // tokens
	Output   float64 `json:"maxTokens"`
	Cost     cost    `json:"cost"`
}

// cost has prices in dollars a million tokens. All of them are 0 where pi does not
// know the price.
type cost struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	// Tiers are other prices for requests with more tokens.
	Tiers []struct {
		Above float64 `json:"inputTokensAbove"`
	} `json:"tiers"`
}

func (m *modelEntry) window() roles.Window {
	return roles.Window{Context: tokens(m.Context), Output: tokens(m.Output)}
}

// price returns nil for an unknown or impossible price.
func (c *cost) price() *roles.Price {
	const most = 1e6 // dollars
	for _, usd := range []float64{c.Input, c.Output, c.CacheRead, c.CacheWrite} {
		if usd < 0 || usd > most {
			return nil
		}
	}
	if c.Input == 0 && c.Output == 0 {
		return nil
	}
	p := &roles.Price{Input: c.Input, Output: c.Output}
	if c.CacheRead > 0 {
		p.CacheRead = &c.CacheRead
	}
	if c.CacheWrite > 0 {
		p.CacheWrite = &c.CacheWrite
	}
	for _, tier := range c.Tiers {
		if n := tokens(tier.Above); n > 0 && (p.MostInput == 0 || n < p.MostInput) {
			p.MostInput = n
		}
	}
	return p
}

// tokens is a count; 0 for a number that is none.
func tokens(n float64) int64 {
	if !(n >= 0) || n > 1<<40 {
		return 0
	}
	return int64(math.Round(n))
}
