package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers is the table of packages: each may import only packages of a row above
// its own. docs/architecture.md lists the purpose of each.
func layers() [][]string {
	return [][]string{
		0: {
			"internal/boundedline", "internal/bytesize", "internal/diffcolor", "internal/fspath", "internal/jq",
			"internal/patchpath", "internal/picture", "internal/statefile", "internal/termtext", "internal/testing/campaign", "internal/testing/getenv",
			"internal/testing/nonamespaces", "internal/testprogram", "merge/takeback", "risk/argv", "risk/lockfile", "roles", "swarm/ask",
			"swarm/box", "swarm/cachework", "swarm/environ", "swarm/gocache", "swarm/lab/stat", "swarm/landing/queue", "swarm/modeltest",
			"swarm/nearest", "swarm/proc", "swarm/provider", "swarm/refusal", "swarm/resettime", "swarm/script/regex", "swarm/stage",
			"swarm/strict", "swarm/task", "swarm/thought", "swarm/userns", "variants", "variants/tasks", "worktree/disk", "worktree/git", "worktree/step",
		},
		1: {
			"internal/markdown", "internal/terminal", "internal/testing/nonamespaces/command", "risk/shell", "risk/verb", "swarm/apparmor", "swarm/builtin/tool",
			"swarm/captureref", "swarm/diskwatch", "swarm/asksocket", "swarm/event", "swarm/fault", "swarm/guard", "swarm/hook",
			"swarm/landing/compare", "swarm/limit", "swarm/manifest", "swarm/models", "swarm/modeltest/serve", "swarm/pager",
			"swarm/privatehome", "swarm/prompt", "swarm/review", "swarm/schema", "swarm/scope", "swarm/script/language", "swarm/shim",
			"swarm/ticket", "swarm/toolset", "swarm/tui", "swarm/variantset", "worktree/git/checkout", "worktree/submodule",
		},
		2: {
			"merge", "risk", "swarm/agent", "swarm/builtin/model", "swarm/early", "swarm/governor", "swarm/inbox",
			"swarm/lab/measure", "swarm/quota", "swarm/review/part", "swarm/script", "swarm/store", "swarm/wire",
		},
		3: {
			"risk/repository", "swarm/activity", "swarm/agent/claude", "swarm/agent/codex", "swarm/agent/command",
			"swarm/agent/copilot", "swarm/agent/gemini", "swarm/agent/opencode", "swarm/agent/pi", "swarm/agent/qwen",
			"swarm/builtin", "swarm/engine", "swarm/fleet", "swarm/lab", "swarm/landing", "swarm/landing/attest", "swarm/ledger", "swarm/patch",
			"swarm/review/mark", "swarm/script/process", "swarm/script/repository", "swarm/selector", "swarm/tui/reviewing",
		},
		4: {
			"swarm/agent/agenttest", "swarm/agent/kinds", "swarm/bench", "swarm/config", "swarm/control", "swarm/copies", "swarm/fanout",
			"swarm/inbox/waiting", "swarm/landing/lander", "swarm/mcp", "swarm/pullrequest", "swarm/report", "swarm/review/verdict", "swarm/reviewer", "swarm/spending", "swarm/tui/watching",
			"swarm/workflow",
		},
		5: {
			"swarm/agent/readiness", "swarm/assign", "swarm/confine", "swarm/gc", "swarm/landing/handback", "swarm/models/catalog", "swarm/policy", "swarm/project",
			"swarm/review/collect", "swarm/runhook",
		},
		6: {
			"swarm/cli", "swarm/demo",
		},
		7: {
			".",
		},
	}
}

// rooms are the packages of an area, by the row of [layers] that they lie
// below: each list may import those before it, and the packages of that row
// none of them.
func rooms() map[int][][]string {
	return map[int][][]string{
		1: {
			{"worktree/baseline"},
			{"worktree/include", "worktree/overlay"},
			{"worktree/fill", "worktree/workspace"},
			{"worktree/bases", "worktree/pool", "worktree/precheck", "worktree/survey", "worktree/trash"},
			{"worktree"},
		},
		5: {
			{"swarm/initconfig", "swarm/isolation", "swarm/workflow/library"},
			{"swarm/exit", "swarm/workflow/host"},
			{"swarm/cli/cmdline"},
			{"swarm/cli/argv", "swarm/cli/riskcmd"},
			{"swarm/cli/session"},
			{"swarm/cli/selection"},
			{"swarm/cli/view"},
			{"swarm/cli/enter", "swarm/cli/follow", "swarm/cli/plan"},
			{"swarm/cli/configcmd", "swarm/cli/inspect"},
			{"swarm/cli/cleancmd", "swarm/cli/landcmd"},
			{"swarm/cli/runcmd"},
			{"swarm/cli/agentcmd", "swarm/cli/benchcmd", "swarm/cli/builtincmd", "swarm/cli/variantscmd", "swarm/cli/workflowcmd"},
		},
	}
}

// seams are the packages that alone may import something.
func seams() map[string][]string {
	return map[string][]string{
		"os/exec":                     {"worktree/git", "swarm/proc"},
		"github.com/creack/pty":       {"swarm/proc"},
		"github.com/go-git/go-git/v5": {"worktree/git"},
		"github.com/urfave/cli/v2":    {"swarm/cli", "swarm/cli/cleancmd", "swarm/cli/cmdline", "swarm/cli/riskcmd", "swarm/cli/selection", "swarm/cli/enter", "swarm/cli/follow", "swarm/cli/inspect", "swarm/cli/configcmd", "swarm/cli/landcmd", "swarm/cli/plan", "swarm/cli/runcmd", "swarm/cli/agentcmd", "swarm/cli/argv", "swarm/cli/benchcmd", "swarm/cli/builtincmd", "swarm/cli/variantscmd", "swarm/cli/workflowcmd", "swarm/demo"},
		"github.com/dop251/goja":      {"swarm/script", "swarm/script/language"},
		"github.com/itchyny/gojq":     {"internal/jq"},
		"mvdan.cc/sh/v3/syntax":       {"risk/shell", "swarm/privatehome"},
		"github.com/yuin/goldmark":    {"risk"},

		"charm.land":                      {"swarm/tui"},
		"github.com/charmbracelet":        {"swarm/tui"},
		"github.com/alecthomas/chroma/v2": {"swarm/tui"},

		"github.com/modelcontextprotocol/go-sdk/mcp": {"swarm/mcp"},
		"github.com/openai/openai-go/v3":             {"swarm/builtin/model"},
		"github.com/anthropics/anthropic-sdk-go":     {"swarm/builtin/model"},
	}
}

const module = "agentswarm"

// betweenRows is more than the lists of [rooms] below a row.
const betweenRows = 100

func TestLayers(t *testing.T) {
	t.Parallel()
	rows := map[string]int{}
	for row, packages := range layers() {
		for _, p := range packages {
			rows[p] = row * betweenRows
		}
	}
	for row, lists := range rooms() {
		for i, packages := range lists {
			for _, p := range packages {
				rows[p] = row*betweenRows + i + 1
			}
		}
	}
	seen := map[string]bool{}
	for file, imports := range sources(t) {
		pkg := path.Dir(file)
		row, known := rows[pkg]
		if !known {
			t.Errorf("%s: package %s has no row in layers()", file, pkg)
			continue
		}
		seen[pkg] = true
		for _, imported := range imports {
			checkSeam(t, file, pkg, imported)
			if imported == "regexp" && (pkg == "risk" || strings.HasPrefix(pkg, "risk/")) {
				t.Errorf("%s: actions are parsed: no pattern over their text says what they do", file)
			}
			inner, ours := strings.CutPrefix(imported, module+"/")
			if !ours {
				continue
			}
			if above, ok := rows[inner]; !ok || above >= row {
				t.Errorf("%s: %s (row %d) imports %s (row %d)", file, pkg, row, inner, above)
			}
			if !strings.HasPrefix(pkg, "swarm/") && pkg != "." && strings.HasPrefix(inner, "swarm/") {
				t.Errorf("%s: %s must be useful without swarm, and imports %s", file, pkg, inner)
			}
		}
	}
	for p := range rows {
		if !seen[p] {
			t.Errorf("package %s has a row and no sources", p)
		}
	}
}

func checkSeam(t *testing.T, file, pkg, imported string) {
	t.Helper()
	for seam, allowed := range seams() {
		if imported != seam && !strings.HasPrefix(imported, seam+"/") {
			continue
		}
		if !slices.Contains(allowed, pkg) {
			t.Errorf("%s: only %v may import %s", file, allowed, seam)
		}
	}
}

// sources are the imports of every Go file that is not a test, by its path
// from here with slashes.
func sources(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	err := filepath.WalkDir(".", func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := e.Name()
		if e.IsDir() && file != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin") {
			return filepath.SkipDir
		}
		if e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		file = filepath.ToSlash(file)
		all[file] = []string{}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			all[file] = append(all[file], imported)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
