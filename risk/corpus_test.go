package risk_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/risk"

	"github.com/pelletier/go-toml/v2"
)

// The place that every case of the corpus is judged in: the work tree
// /repo/tree, on the branch feature/x, which is pushed to origin/feature/x.
// /repo/main is the main checkout and /repo/other a sibling.
func corpusPlace(shared, published bool) risk.Place {
	p := risk.Place{
		Root:      "/repo/tree",
		Home:      "/home/u",
		Tmp:       []string{"/tmp"},
		GitDir:    "/repo/tree/.git",
		CommonDir: "/repo/tree/.git",
		Branch:    "feature/x",
		Upstream:  "origin/feature/x",
		Remotes: []risk.Remote{
			{Name: "origin", Plain: true, URL: "git@github.com:o/r.git"},
			{Name: "upstream", Plain: true, URL: "https://github.com/up/r.git"},
		},
		PushDefault: "origin",
		Facts:       corpusFacts{published: published},
	}
	if shared {
		p.GitDir, p.CommonDir = "/repo/main/.git/worktrees/tree", "/repo/main/.git"
		p.Shared, p.Others = true, []string{"/repo/main", "/repo/other"}
	}
	return p
}

// corpusFacts are the facts of that place. published decides whether HEAD and
// the commits before it are published.
type corpusFacts struct{ published bool }

func (f corpusFacts) Published(rev string) (published, known bool) {
	return f.published, strings.HasPrefix(rev, "HEAD") || rev == "feature/x" || rev == "main"
}

func (corpusFacts) Path(path string) risk.PathKind {
	below, inside := strings.CutPrefix(filepath.Clean(path), "/repo/tree")
	if !inside || below != "" && below[0] != '/' {
		return risk.PathUnknown
	}
	switch strings.TrimPrefix(below, "/") {
	case "", "src", "docs", "scripts", "build", "dist", "node_modules", "migrations", "tests",
		".github", ".github/workflows", ".circleci":
		return risk.PathFolder
	case "README.md", "src/main.go", "src/a.go", "src/old.go", "scripts/check.sh", "scripts/hook.sh",
		"notes.txt", "package.json", "package-lock.json", "requirements.txt", "go.mod", "go.sum",
		"Cargo.toml", "Cargo.lock", "Makefile", "AGENTS.md", ".github/workflows/ci.yml", ".gitlab-ci.yml":
		return risk.PathFile
	}
	return risk.PathMissing
}

func (corpusFacts) Link(string) string { return "" }

func (corpusFacts) Tracked(path string) bool {
	below, _ := strings.CutPrefix(filepath.Clean(path), "/repo/tree/")
	for _, tracked := range []string{"src", "README.md", ".github"} {
		if below == tracked || strings.HasPrefix(below, tracked+"/") {
			return true
		}
	}
	return path == "/repo/tree"
}

func (corpusFacts) Locked(manager, _, name string) (version string, known bool) {
	switch name {
	case "lodash":
		if slices.Contains([]string{"npm", "yarn", "pnpm", "bun"}, manager) {
			return "4.17.21", true
		}
	case "requests":
		if slices.Contains([]string{"pip", "uv", "poetry", "pipenv"}, manager) {
			return "2.31.0", true
		}
	case "golang.org/x/text":
		return "v0.14.0", true
	case "serde":
		return "1.0.200", true
	}
	return "", true
}

func (corpusFacts) Ref(name string) bool {
	return strings.HasPrefix(name, "HEAD") || slices.Contains([]string{
		"main", "develop", "feature/x", "feature/y", "old-feature", "merged-feature", "reset-hard-docs",
		"rm-rf-fix", "origin/main", "origin/feature/x", "upstream/main", "v1.0.0",
	}, name)
}

// corpusCase is a command and the result that the classifier must return.
type corpusCase struct {
	Command string
	Tier    risk.Tier
	// Ambiguous says that the taxonomy leaves room: any of Tiers will do.
	Ambiguous   bool
	Tiers       []risk.Tier
	Opaque      bool   // it must be found to be unreadable
	Blocked     bool   // it is refused where the git dir is shared
	Text        bool   // it only mentions something, in a message or a heredoc
	Unpublished bool   // no commit of the branch is on a remote
	Cwd         string // below the top of the work tree; empty: the top
	Why         string

	class string
}

func (c corpusCase) accepts(tier risk.Tier) bool {
	if c.Ambiguous {
		return slices.Contains(c.Tiers, tier)
	}
	return c.Tier == tier
}

func (c corpusCase) action() risk.Action {
	return &risk.Shell{Text: c.Command, Cwd: filepath.Join("/repo/tree", c.Cwd)}
}

func (c corpusCase) String() string {
	text := c.Command
	if len(text) > 120 {
		text = text[:120] + "…"
	}
	return fmt.Sprintf("%s: %q", c.class, text)
}

// corpus are the cases of testdata/corpus.
func corpus(t *testing.T) []corpusCase {
	t.Helper()
	var all []corpusCase
	for _, class := range []string{"plain", "obfuscated", "lookalike", "edge"} {
		file, err := os.Open(filepath.Join("testdata", "corpus", class+".toml"))
		if err != nil {
			t.Fatal(err)
		}
		var read struct{ Case []corpusCase }
		err = toml.NewDecoder(file).DisallowUnknownFields().Decode(&read)
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		if err != nil {
			t.Fatalf("%s: %v", class, err)
		}
		for _, c := range read.Case {
			c.class = class
			all = append(all, c)
		}
	}
	return all
}

func loadRules(t *testing.T) *risk.Rules {
	t.Helper()
	rules, err := risk.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func TestCorpusIsWellFormed(t *testing.T) {
	t.Parallel()
	type key struct {
		command, cwd string
		unpublished  bool
	}
	seen, classes, open := map[key]bool{}, map[string]int{}, 0
	for _, c := range corpus(t) {
		k := key{c.Command, c.Cwd, c.Unpublished}
		if seen[k] {
			t.Errorf("%s stands twice", c)
		}
		seen[k] = true
		classes[c.class]++
		if !c.Blocked && strings.Contains(c.Command, "git ") {
			open++
		}
		switch {
		case c.Tier == risk.Unclassified:
			t.Errorf("%s has no tier", c)
		case c.Ambiguous != (len(c.Tiers) > 1):
			t.Errorf("%s is ambiguous, or has tiers to choose from, and not both", c)
		case c.Ambiguous && !slices.Contains(c.Tiers, c.Tier):
			t.Errorf("%s does not accept its own tier", c)
		case c.Opaque && (c.Tier != risk.Destructive || c.Ambiguous):
			t.Errorf("%s cannot be read and is not DESTRUCTIVE", c)
		case (c.Text || c.class == "lookalike") && (c.Tier != risk.Safe || c.Ambiguous || c.Blocked):
			t.Errorf("%s only looks grave and is not SAFE", c)
		}
	}
	total := 0
	for class := range maps.Keys(classes) {
		total += classes[class]
		if classes[class] < 60 {
			t.Errorf("%s has %d cases, want 60", class, classes[class])
		}
	}
	if total < 400 {
		t.Errorf("%d cases, want 400", total)
	}
	if open < 80 {
		t.Errorf("%d cases of git that the filter leaves alone, want 80", open)
	}
}

// share counts how many of a number of cases are wrong.
type share struct {
	name      string
	wrong, of int
	most      float64 // the highest share allowed, in percent
}

func (s *share) count(wrong bool) {
	s.of++
	if wrong {
		s.wrong++
	}
}

// check fails where more is wrong than is allowed, and where nothing was
// counted.
func (s *share) check(t *testing.T) {
	t.Helper()
	line := fmt.Sprintf("%s: %d of %d", s.name, s.wrong, s.of)
	if s.of == 0 || 100*float64(s.wrong) > s.most*float64(s.of) {
		t.Errorf("%s, want at most %g %%", line, s.most)
		return
	}
	t.Log(line)
}

func TestCorpusTiers(t *testing.T) {
	t.Parallel()
	rules := loadRules(t)
	missed := map[string]*share{
		"plain":      {name: "missed, plain"},
		"obfuscated": {name: "missed, obfuscated", most: 2},
		"edge":       {name: "missed, edge", most: 2},
	}
	inexact := &share{name: "not the exact tier", most: 5}
	falseAsks := &share{name: "false asks", most: 2}
	textAsks := &share{name: "false asks on text"}
	readable := &share{name: "unreadable and not said to be", most: 5}
	for _, c := range corpus(t) {
		got := rules.Classify(c.action(), corpusPlace(false, !c.Unpublished))
		inexact.count(!c.accepts(got.Tier))
		if !c.accepts(risk.Safe) {
			missed[c.class].count(got.Tier == risk.Safe)
		} else if !c.Ambiguous {
			falseAsks.count(got.Tier != risk.Safe)
		}
		if c.Text {
			textAsks.count(got.Tier != risk.Safe)
		}
		if c.Opaque {
			readable.count(!got.Opaque)
		}
		if !c.accepts(got.Tier) || c.Opaque && !got.Opaque {
			t.Logf("%s = %s, want %s%s", c, found(got), wanted(c), because(c))
		}
		shared := rules.Classify(c.action(), corpusPlace(true, !c.Unpublished))
		if shared.Tier < got.Tier {
			t.Errorf("%s = %s where the git dir is shared, %s where it is not", c, shared.Tier, got.Tier)
		}
	}
	for _, s := range []*share{
		missed["plain"], missed["obfuscated"], missed["edge"], inexact, falseAsks, textAsks, readable,
	} {
		s.check(t)
	}
}

func TestCorpusFilter(t *testing.T) {
	t.Parallel()
	rules := loadRules(t)
	passed := &share{name: "not blocked, and should be", most: 2}
	stopped := &share{name: "blocked, and should not be", most: 2}
	for _, c := range corpus(t) {
		if private := rules.Classify(c.action(), corpusPlace(false, !c.Unpublished)); private.Blocked {
			t.Errorf("%s is blocked where the git dir is the agent's own", c)
		}
		got := rules.Classify(c.action(), corpusPlace(true, !c.Unpublished))
		if c.Blocked {
			passed.count(!got.Blocked)
		} else if strings.Contains(c.Command, "git") {
			stopped.count(got.Blocked)
		} else if got.Blocked {
			t.Errorf("%s is blocked, and is not about git", c)
		}
		if got.Blocked != c.Blocked {
			t.Logf("%s: blocked = %v: %s", c, got.Blocked, found(got))
		}
	}
	passed.check(t)
	stopped.check(t)
}

// TestCorpusIsStable holds that the same command is found to be the same.
func TestCorpusIsStable(t *testing.T) {
	t.Parallel()
	one, other := loadRules(t), loadRules(t)
	for _, c := range corpus(t) {
		place := corpusPlace(true, !c.Unpublished)
		a, b := one.Classify(c.action(), place), other.Classify(c.action(), place)
		if found(a) != found(b) {
			t.Errorf("%s = %s, then %s", c, found(a), found(b))
		}
	}
}

// found returns a finding as one line for a reader.
func found(f *risk.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", f.Tier)
	if f.Opaque {
		b.WriteString(" opaque")
	}
	if f.Blocked {
		b.WriteString(" blocked")
	}
	for _, p := range f.Parts {
		fmt.Fprintf(&b, " [%s %s]", p.Rule, p.Tier)
	}
	return b.String()
}

func wanted(c corpusCase) string {
	tiers := c.Tiers
	if !c.Ambiguous {
		tiers = []risk.Tier{c.Tier}
	}
	words := make([]string, len(tiers))
	for i, tier := range tiers {
		words[i] = tier.String()
	}
	line := strings.Join(words, " or ")
	if c.Opaque {
		line += " opaque"
	}
	return line
}

func because(c corpusCase) string {
	if c.Why == "" {
		return ""
	}
	return " (" + c.Why + ")"
}
