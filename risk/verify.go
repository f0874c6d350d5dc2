package risk

import "fmt"

// verify tries every rule on its own examples.
func (r *Rules) verify() error {
	for _, one := range r.all {
		for _, text := range one.Examples {
			if !r.finds(one, text) {
				return one.blamed(&RuleError{Line: one.line, ID: one.ID, Why: fmt.Sprintf("does not match its example %q", text)})
			}
		}
		for _, text := range one.Counterexamples {
			if r.finds(one, text) {
				return one.blamed(&RuleError{Line: one.line, ID: one.ID, Why: fmt.Sprintf("matches its counterexample %q", text)})
			}
		}
	}
	return nil
}

// finds reports whether a rule is in the finding of a text, at the place where
// examples are judged.
func (r *Rules) finds(one *rule, text string) bool {
	return has(r.Classify(&Shell{Text: text}, examplePlace(one.Filter)).Parts, one.ID)
}

// examplePlace is where the examples of rules are judged.
func examplePlace(shared bool) Place {
	p := Place{
		Root: "/repo", Home: "/home/user", Tmp: []string{"/tmp"}, GitDir: "/repo/.git", CommonDir: "/repo/.git",
		Branch: "topic", Upstream: "origin/topic", Remotes: []Remote{{Name: "origin", Plain: true}}, Facts: exampleFacts{},
	}
	if shared {
		p.Shared, p.Others = true, []string{"/other", "/main"}
		p.GitDir, p.CommonDir = "/main/.git/worktrees/repo", "/main/.git"
	}
	return p
}

// exampleFacts are the facts of the place where examples are judged. Version
// 2.0.0 of a package named "package" is locked, "missing" does not exist, and
// "main.go" does. "main" and "topic" are branches. Nothing else is known.
type exampleFacts struct{}

func (exampleFacts) Published(string) (published, known bool) { return true, true }

func (exampleFacts) Path(path string) PathKind {
	switch path {
	case "/repo/missing", "/home/user/missing":
		return PathMissing
	case "/repo/main.go":
		return PathFile
	}
	return PathUnknown
}

func (exampleFacts) Link(string) string { return "" }

func (exampleFacts) Tracked(path string) bool { return path == "/repo/main.go" }

func (exampleFacts) Locked(_, _, name string) (version string, known bool) {
	if name == "package" {
		return "2.0.0", true
	}
	return "", true
}

func (exampleFacts) Ref(name string) bool { return name == "main" || name == "topic" }
