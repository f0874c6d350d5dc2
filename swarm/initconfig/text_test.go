package initconfig

import (
	"strings"
	"testing"

	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/config"
)

func loadText(t *testing.T, text string) *config.Config {
	t.Helper()
	c, err := config.Load(config.Source{Layer: config.Project, Name: "c", Text: []byte(text)})
	if err != nil {
		t.Fatalf("Load: %v\n%s", err, text)
	}
	return c
}

func TestInitText(t *testing.T) {
	t.Parallel()
	npm := ecosystem{mark: "package.json and package-lock.json", setup: "npm ci", verify: "npm test", makes: "node_modules"}
	goMod := ecosystem{mark: "go.mod", verify: "go test ./..."}
	doubtful := npm
	doubtful.doubt = "there is no lockfile"
	tests := []struct {
		name          string
		give          Survey
		setup, verify string // the values in force
		has           []string
	}{
		{"nothing", Survey{}, "", "", []string{
			"\n# setup = \"make deps\"\n", "\n# verify = \"make test\"\n", "\n# [agents.mine]\n# command = [", "\n# default_agent = \"mine\"\n",
		}},
		{"one", Survey{ecosystems: []ecosystem{npm}}, "npm ci", "npm test", nil},
		{"one without setup", Survey{ecosystems: []ecosystem{goMod}}, "", "go test ./...", []string{"\n# setup = \"make deps\"\n"}},
		{"one and make", Survey{ecosystems: []ecosystem{goMod}, makefile: "Makefile"}, "", "go test ./...", []string{"\n# verify = \"make test\" # Makefile\n"}},
		{"make alone", Survey{makefile: "GNUmakefile"}, "", "make test", []string{"\nverify = \"make test\" # GNUmakefile\n"}},
		{"doubt", Survey{ecosystems: []ecosystem{doubtful}}, "", "", []string{
			"\n# setup = \"npm ci\" # package", "\n# verify = \"npm test\" # package", "only proposed: there is no lockfile.",
		}},
		{"two", Survey{ecosystems: []ecosystem{npm, goMod}}, "", "", []string{
			"\n# setup = \"npm ci\" #", "\n# verify = \"npm test\" #", "\n# verify = \"go test ./...\" # go.mod\n",
		}},
		{"two and make", Survey{ecosystems: []ecosystem{npm, goMod}, makefile: "Makefile"}, "", "", []string{"\n# verify = \"make test\" # Makefile\n"}},
		{"ignored folders", Survey{absent: []string{"node_modules", ".env"}}, "", "", []string{"node_modules, .env.\n", ".worktreeinclude"}},
		{"an agent without a command", Survey{agents: []agentCLI{{program: "goose"}}}, "", "", []string{"\n# [agents.goose]\n# command = [", "\n# default_agent = \"mine\"\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := tt.give.Text()
			c := loadText(t, text)
			if c.Setup != tt.setup || c.Verify != tt.verify || len(c.AgentNames()) > 0 || c.DefaultAgent != "" {
				t.Errorf("setup %q, verify %q, agents %q in\n%s", c.Setup, c.Verify, c.AgentNames(), text)
			}
			for _, want := range tt.has {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in\n%s", want, text)
				}
			}
			for line := range strings.Lines(text) {
				if len(strings.TrimRight(line, "\n")) > 88 && strings.HasPrefix(line, "# ") && !strings.HasPrefix(line, "# setup") {
					t.Errorf("a remark is too wide: %s", line)
				}
			}
		})
	}
}

// TestInitAgents checks that the proposed default is a kind that swarm drives, and
// that a program which it drives gets no table.
func TestInitAgents(t *testing.T) {
	t.Parallel()
	known := 0
	for _, cli := range agentCLIs() {
		text := Survey{agents: []agentCLI{{program: "goose"}, cli}}.Text()
		c := loadText(t, strings.ReplaceAll(text, "# default_agent = ", "default_agent = "))
		if _, is := kinds.All().Find(cli.program); !is {
			continue
		}
		known++
		if c.DefaultAgent != cli.program || strings.Contains(text, "[agents."+cli.program+"]") {
			t.Errorf("of %s the default agent = %q in\n%s", cli.program, c.DefaultAgent, text)
		}
	}
	if known < 6 {
		t.Errorf("%d programs are of a kind, want 6 and more", known)
	}
}
