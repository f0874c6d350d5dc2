package risk

import "testing"

func TestMarked(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{
		"AGENTS.md": true, "a/agents.md": true, ".swarm/config.toml": true, ".claude/settings.json": true, ".worktreeinclude": true,
		".github/workflows/ci.yml": true, ".gitlab-ci.yml": true, "Jenkinsfile": true, ".gitattributes": true, "a/.gitmodules": true,
		".husky/pre-commit": true, "src/hooks/use.ts": false, ".githooks/x": true, ".pre-commit-config.yaml": true, "CLAUDE.md": true,
		"main.go": false, "docs/agents.md.txt": false, "git/x.go": false, "hooks.go": false, "src/swarm/a": false, "": false,
	} {
		if got := Marked(file); got != want {
			t.Errorf("Marked(%q) = %v", file, got)
		}
	}
}
