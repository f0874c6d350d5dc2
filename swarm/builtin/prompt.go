package builtin

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"agentswarm/swarm/builtin/model"
	"agentswarm/swarm/builtin/tool"
	"agentswarm/swarm/prompt"
	"agentswarm/variants"
)

//go:embed core.md
var core string

const (
	agentsName = "AGENTS.md"
	maxTop     = 100 // entries that are listed
)

// newHeader lays the prompt out. For all agents with the same model and tools
// on the same base the text before the role is the same, byte for byte. A
// provider then reads it once. The text holds no path, no date and no name.
func newHeader(o Options, tools []*tool.Tool) header {
	p := parts(o, tools)
	h := header{
		Type: "session", Version: sessionVersion, ID: idOf(o.Session),
		Provider: o.Endpoint.Spec.Provider, Model: o.Endpoint.Spec.Model, API: o.Endpoint.API,
		Shared: p.Shared(), Own: p.Own(), Contract: o.Contract, Part: p.Part(),
	}
	for _, t := range tools {
		h.Tools = append(h.Tools, model.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	return h
}

// parts are the parts that open the prompt. o.Opening has those that the
// process that started the agent knows better: the base's words for all, the
// stage, and the variants.
func parts(o Options, tools []*tool.Tool) prompt.Parts {
	var p prompt.Parts
	if o.Opening != nil {
		p = *o.Opening
	} else {
		p.Variants = o.Variants
		if text := agentsFile(o.Root); text != "" {
			p.Memory = []prompt.File{{Name: agentsName, Text: text}}
		}
	}
	p.Core, p.Contract, p.Role, p.Tools.All = core, o.Contract, o.Role, true
	for _, t := range tools {
		p.Tools.Names = append(p.Tools.Names, t.Name)
	}
	p.Variants = variants.Treat(variants.Of(o.Endpoint.Spec.Model), p.Variants)
	return p
}

// agentsFile is the project's text for all agents.
func agentsFile(root string) string {
	file := filepath.Join(root, agentsName)
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close() // nothing was written
	// A byte more than the limit: then the prompt says that there is more.
	text, err := io.ReadAll(io.LimitReader(f, prompt.MaxMemory+1))
	if err != nil {
		return ""
	}
	return string(text)
}

// repository lists the top of the repository. It comes with the first task,
// since the bases of stages differ.
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
