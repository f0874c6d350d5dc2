package library

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/config"
	"agentswarm/swarm/workflow"
)

// Items are the texts of a script, its functions and its types that came with the
// repository, and that a person has to approve. brought are the files of the repository.
func (f *File) Items(brought []string) []config.Item {
	var items []config.Item
	for _, file := range f.Paths {
		if f.Nested || slices.Contains(brought, file) {
			items = append(items, Item(file, f.Script.Text))
			break
		}
	}
	for _, fn := range f.Script.Lib {
		items = append(items, config.Item{
			Key: "lib", Origin: config.Origin{Layer: config.Project, File: fn.Name}, Text: scriptText(fn.Text),
		})
	}
	for _, name := range slices.Sorted(maps.Keys(f.Script.Types)) {
		// A type that no call may use, or that is built in, needs no approval.
		if t := f.Script.Types[name]; t.File != "" && t.Refused == "" {
			items = append(items, config.Item{
				Key: "type", Origin: config.Origin{Layer: config.Project, File: t.File}, Text: typeText(t),
			})
		}
	}
	return items
}

// Item is the text of a workflow as a person approves it.
func Item(file, text string) config.Item {
	return config.Item{
		Key: "workflow", Origin: config.Origin{Layer: config.Project, File: file}, Text: scriptText(text),
	}
}

// typeText is all of a type that decides about the work and the cost of its agents. The name
// does: a type that is built in is replaced by it.
func typeText(t workflow.Type) string {
	lines := []string{fmt.Sprintf("name = %q", t.Name)}
	for _, option := range []struct{ key, value string }{
		{"model", t.Model}, {"effort", t.Effort}, {"role", t.Role},
		{"tools", strings.Join(t.Tools, ", ")}, {"disallowedTools", strings.Join(t.Without, ", ")},
	} {
		if option.value != "" {
			lines = append(lines, fmt.Sprintf("%s = %q", option.key, option.value))
		}
	}
	return strings.Join(append(lines, scriptText(t.Prompt)), "\n")
}

// scriptText is a script as an approval shows and keeps it: two scripts have
// the same only if they are the same.
func scriptText(text string) string {
	return fmt.Sprintf("sha256 %x\n%s", sha256.Sum256([]byte(text)), termtext.Text(text))
}
