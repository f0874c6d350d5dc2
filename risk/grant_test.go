package risk

import (
	"bytes"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// grantCase is a case of testdata/agents: an AGENTS.md and an action.
type grantCase struct {
	Name      string
	File      string
	Push      *Push
	Run       []string
	Forge     *Forge
	Modify    []string
	Amend     bool
	Downgrade bool
	Part      *Part // an operation that is none of them
	Tier      Tier
	Opaque    bool
	Blocked   bool
	Allow     []string
	Nested    map[string]string
	Want      string
}

// finding is the action of a case.
func (c *grantCase) finding() *Finding {
	part := Part{Rule: "r", Tier: HardToReverse, Reason: "it is grave", Opaque: c.Opaque, Blocked: c.Blocked}
	switch {
	case c.Push != nil:
		part.Operation = c.Push
	case c.Run != nil:
		part.Argv, part.Plain = c.Run, true
	case c.Forge != nil:
		part.Operation = c.Forge
	case c.Modify != nil:
		part.Operation = &Modify{Paths: c.Modify}
	case c.Amend:
		part.Operation = &Amend{}
	case c.Downgrade:
		part.Operation = &Downgrade{}
	case c.Part != nil:
		part.Argv = c.Part.Argv
	}
	if c.Tier != Unclassified {
		part.Tier = c.Tier
	}
	return &Finding{Tier: part.Tier, Opaque: c.Opaque, Blocked: c.Blocked, Parts: []Part{part}}
}

func TestGrants(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/agents/grants.toml")
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Case []grantCase }
	if err := toml.NewDecoder(bytes.NewReader(file)).DisallowUnknownFields().Decode(&all); err != nil {
		t.Fatal(err)
	}
	if len(all.Case) < 100 {
		t.Errorf("%d cases, want 100 or more", len(all.Case))
	}
	place := &Place{Upstream: "origin/feature/x", Remotes: []Remote{{Name: "origin", Plain: true}, {Name: "upstream", Plain: true}}}
	for _, c := range all.Case {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			a := &Authority{Root: ReadGrants([]byte(c.File), "AGENTS.md")}
			for at, file := range c.Nested {
				a.Nested = append(a.Nested, ReadGrants([]byte(file), at))
			}
			for _, text := range c.Allow {
				g, err := ParseGrant(text)
				if err != nil {
					t.Fatal(err)
				}
				g.Where = "--allow"
				a.Allowed = append(a.Allowed, g)
			}
			d := a.Decide(c.finding(), place)
			if d.Verdict.String() != c.Want {
				t.Errorf("Decide = %+v, want %s; the grants are %+v", d, c.Want, a.Root)
			}
			if (d.Verdict == Proceed) != (d.Reason == "") || (d.Verdict == Proceed) != (len(d.Used) > 0) {
				t.Errorf("Decide = %+v: one that proceeds says by which grants, and another why not", d)
			}
		})
	}
}

// TestSafeProceeds: a SAFE action proceeds without a grant, and an action
// without a tier asks.
func TestSafeProceeds(t *testing.T) {
	t.Parallel()
	a := &Authority{}
	if d := a.Decide(&Finding{Tier: Safe}, &Place{}); d.Verdict != Proceed || d.Reason != "" {
		t.Errorf("SAFE: %+v", d)
	}
	for _, f := range []*Finding{{}, {Opaque: true}, {Tier: Visible}, {Tier: Destructive}, {Tier: Safe, Opaque: true}} {
		if d := a.Decide(f, &Place{}); d.Verdict != Ask {
			t.Errorf("Decide(%+v) = %+v, want it to ask", f, d)
		}
	}
}

// TestEveryPartNeedsItsOwn: a grant for one part does not cover another part.
func TestEveryPartNeedsItsOwn(t *testing.T) {
	t.Parallel()
	a := &Authority{Root: ReadGrants([]byte(heading+"\n- Push to x\n"), "AGENTS.md")}
	push := Part{Tier: Visible, Operation: &Push{Remote: "origin", Branches: []string{"x"}}, Reason: "it pushes"}
	other := Part{Tier: Visible, Operation: &Forge{Verb: "create", What: "issue"}, Reason: "it writes"}
	d := a.Decide(&Finding{Tier: Visible, Parts: []Part{push, other}}, &Place{})
	if d.Verdict != Ask || !slices.Equal(d.Missing, []int{1}) || d.Reason != "it writes" || len(d.Used) != 1 {
		t.Errorf("Decide = %+v", d)
	}
}

// TestVoidItemsAreSaid names the line and why.
func TestVoidItemsAreSaid(t *testing.T) {
	t.Parallel()
	g := ReadGrants([]byte("---\na: b\n---\n\n"+heading+"\n- Push to x\n- Push to y if you like\n"), "AGENTS.md")
	if len(g.Items) != 1 || g.Items[0].Where != "AGENTS.md:6" || len(g.Void) != 1 || g.Void[0].Line != 7 || g.Void[0].Why == "" {
		t.Errorf("ReadGrants = %+v", g)
	}
}

func TestLargeFilesGrantNothing(t *testing.T) {
	t.Parallel()
	text := heading + "\n- Push to x\n\n"
	for size, want := range map[int]bool{maxAgents: true, maxAgents + 1: false} {
		g := ReadGrants([]byte(text+strings.Repeat("[", size-len(text))), "AGENTS.md")
		if granted := len(g.Items) == 1 && g.Suspended == ""; granted != want || !want && g.Suspended == "" {
			t.Errorf("%d bytes grant: %v, want %v (%q)", size, granted, want, g.Suspended)
		}
	}
	if g := ReadGrants(bytes.Repeat([]byte("x"), maxAgents+1), "AGENTS.md"); g.Suspended != "" {
		t.Errorf("a large file without the heading is suspended: %s", g.Suspended)
	}
}

func TestParseGrantRefuses(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"":                           "begins with none of push",
		"push":                       `"push" is followed by "to"`,
		"push to *":                  "begins with a star",
		"push to any branch":         `"any" is not a branch`,
		"push to x on *":             "begins with a star",
		"push to x on a/b":           "not the name of a remote",
		"force to x":                 `"force" is followed by "push to"`,
		"run":                        `"run" is followed by a command`,
		"run `a|b`":                  "'|'",
		"run make and test":          `"and" is not understood`,
		"modify AGENTS.md":           "cannot be granted",
		"amend commits":              `"published commits"`,
		"downgrade lodash":           `"dependencies"`,
		"comment issues":             `"on pull requests"`,
		"create branches":            "pull requests or issues",
		"push to x please":           `"please" is not understood`,
		"push to `x":                 "backquote has no other one",
		"push to a`x`":               "hangs together",
		strings.Repeat("push ", 999): "longer than",
	} {
		if g, err := ParseGrant(give); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseGrant(%.30q) = %+v, %v; want %q", give, g, err, want)
		}
	}
}

func TestScopeMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scope, name string
		want        bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"a*", "ab", true}, {"a*", "a/b", false}, {"a/*", "a/", true},
		{"a/**", "a/b/c", true}, {"a**c", "a/b/c", true}, {"a**c", "a/b/d", false}, {"a*b*c", "aXbXc", true},
		{"a*b*c", "aX/bXc", false}, {"a/*/c", "a/b/c", true}, {"a/*/c", "a/b/b/c", false}, {"a**/*x", "a/b/cx", true},
		{"a**/*x", "a/b/c/x", true}, {"a**b*c", "ab/bc", true}, {"**", "", false}, {"a*", "a", true},
	} {
		if got := Scope(c.scope).Match(c.name); got != c.want {
			t.Errorf("Scope(%q).Match(%q) = %v", c.scope, c.name, got)
		}
	}
}

// FuzzReadGrants holds that nothing is granted without the exact line.
func FuzzReadGrants(f *testing.F) {
	f.Add([]byte(heading + "\n- Push to x\n"))
	f.Add([]byte("\xef\xbb\xbf---\na\n---\r\n" + heading + "\r\n* Never push to `x`\r\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		g := ReadGrants(file, "AGENTS.md")
		exact := false
		for line := range bytes.Lines(bytes.TrimPrefix(file, []byte("\xef\xbb\xbf"))) {
			exact = exact || strings.TrimRight(string(line), " \t\r\n") == heading
		}
		if !exact && len(g.Items)+len(g.Void) > 0 {
			t.Errorf("%q grants %+v", file, g)
		}
		for _, item := range g.Items {
			if again, err := ParseGrant(item.Text); err != nil || again.Never != item.Never {
				t.Errorf("ParseGrant(%q) = %+v, %v; it was read as %+v", item.Text, again, err, item)
			}
		}
	})
}

// FuzzParseGrant holds that an item is read the same once more, and that none
// that grants something covers all of a kind.
func FuzzParseGrant(f *testing.F) {
	for _, text := range []string{
		"Push to feature/* without asking", "Never force-push to **", "Run `npm run deploy:staging` without confirmation.", "Don't run make",
		"Create pull requests", "Modify `.github/workflows/*.yml`", "Amend published commits", "Downgrade dependencies", "Push to the x branch on origin",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ParseGrant(text)
		if err != nil {
			return
		}
		if again, err := ParseGrant(g.Text); err != nil || !reflect.DeepEqual(again, g) {
			t.Errorf("ParseGrant(%q) = %+v, and of its text %+v, %v", text, g, again, err)
		}
		if g.Never {
			return
		}
		if push, ok := g.Covers.(*PushTo); ok && push.Branches.Match("\x00") {
			t.Errorf("ParseGrant(%q) is for every branch", text)
		}
		if modify, ok := g.Covers.(*ModifyPaths); ok && modify.Paths.Match("\x00") {
			t.Errorf("ParseGrant(%q) is for every file", text)
		}
		if g.Covers.covers(&Modify{Paths: []string{"AGENTS.md"}}, "AGENTS.md") {
			t.Errorf("ParseGrant(%q) is for the file that grants", text)
		}
	})
}

// FuzzScope holds that matching ends, and that a name without stars matches
// itself.
func FuzzScope(f *testing.F) {
	f.Add("a/**b*c", "a/x/bc")
	f.Fuzz(func(t *testing.T, scope, name string) {
		_ = Scope(scope).Match(name)
		if name != "" && !strings.Contains(name, "*") && !Scope(name).Match(name) {
			t.Errorf("%q does not match itself", name)
		}
	})
}
