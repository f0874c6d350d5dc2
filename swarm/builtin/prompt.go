package builtin

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"agentswarm/swarm/builtin/model"
	"agentswarm/swarm/builtin/tool"
)

//go:embed core.md
var core string

const (
	maxAgentsFile = 64 << 10
	maxTop        = 100 // entries that are listed
)

// newHeader lays the prompt out. What comes before the role is the same, byte
// for byte, for all agents with the same model and tools that work on the same
// base, so that a provider reads it once: no path, no date and no name is in
// it.
func newHeader(o Options, tools []*tool.Tool) header {
	h := header{
		Type: "session", Version: sessionVersion, ID: idOf(o.Session),
		Provider: o.Endpoint.Spec.Provider, Model: o.Endpoint.Spec.Model, API: o.Endpoint.API,
		Shared:   strings.Join(sections(core, agentsFile(o.Root), repository(o.Root)), "\n\n"),
		Own:      strings.Join(sections(o.Contract, o.Role), "\n\n"),
		Contract: o.Contract,
	}
	for _, t := range tools {
		h.Tools = append(h.Tools, model.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	return h
}

func sections(texts ...string) []string {
	var all []string
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// agentsFile is what the project says to all agents.
func agentsFile(root string) string {
	file := filepath.Join(root, "AGENTS.md")
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, err := os.ReadFile(file)
	if err != nil || strings.TrimSpace(string(text)) == "" {
		return ""
	}
	more := ""
	if len(text) > maxAgentsFile {
		text, more = text[:maxAgentsFile], "\n… (the rest is left out; read the file)"
	}
	return "# AGENTS.md of this repository\n\n" + strings.TrimSpace(strings.ToValidUTF8(string(text), "\uFFFD")) + more
}

// repository is what the repository holds at its top.
func repository(root string) string {
	names := tool.Top(root)
	if len(names) == 0 {
		return ""
	}
	more := ""
	if len(names) > maxTop {
		names, more = names[:maxTop], fmt.Sprintf("\n… and %d more", len(names)-maxTop)
	}
	return "# The top of this repository\n\n" + strings.Join(names, "\n") + more
}

// cacheKey is the same for all whose prefix is.
func (h *header) cacheKey() string {
	sum := sha256.New()
	enc := json.NewEncoder(sum)
	_ = enc.Encode([]any{h.Provider, h.Model, h.Shared, h.Tools}) // strings: it cannot fail
	return "swarm-" + hex.EncodeToString(sum.Sum(nil))[:32]
}

func cutPair(pair string) (name, value string, ok bool) { return strings.Cut(pair, "=") }
