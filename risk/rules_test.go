package risk

import (
	"errors"
	"strings"
	"testing"
)

func load(t testing.TB) *Rules {
	t.Helper()
	r, err := Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Load stops at the first example that does not hold; this names all of them.
func TestEveryExample(t *testing.T) {
	t.Parallel()
	r, err := loadUnverified(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range r.all {
		if len(one.Counterexamples) == 0 && !strings.HasPrefix(one.ID, "write-network") {
			t.Errorf("%s has no counterexample", one.ID)
		}
		for _, text := range one.Examples {
			if !r.finds(one, text) {
				t.Errorf("%s does not match its example %q: %+v", one.ID, text, r.Classify(&Shell{Text: text}, examplePlace(one.Filter)))
			}
		}
		for _, text := range one.Counterexamples {
			if r.finds(one, text) {
				t.Errorf("%s matches its counterexample %q", one.ID, text)
			}
		}
	}
}

const added = `
[[rule]]
id = "mine"
tier = "HARD_TO_REVERSE"
reason = "it is ours"
match = [{ program = ["frob"], flags = ["--hard"] }]
examples = ["frob --hard x"]
counterexamples = ["frob x"]

[[rule]]
id = "git-push"
tier = "DESTRUCTIVE"
`

func TestLoadUser(t *testing.T) {
	t.Parallel()
	r, err := Load([]byte(added))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ give, want string }{
		{"frob --hard", "HARD_TO_REVERSE mine"},
		{"frob --hard --help", "SAFE"},
		{"git push", "DESTRUCTIVE git-push"},
		{"mywrap frob --hard", "HARD_TO_REVERSE suspect"},
	} {
		if got := spell(r.Classify(&Shell{Text: c.give}, place()).Parts); got != c.want {
			t.Errorf("Classify(%s) = %s, want %s", c.give, got, c.want)
		}
	}
	if plain := load(t); plain.Hash() == r.Hash() || plain.Hash() == "" || plain.Hash() != load(t).Hash() {
		t.Errorf("Hash() = %q and %q", plain.Hash(), r.Hash())
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	rest := "reason = \"x\"\nmatch = [{ program = [\"frob\"] }]\nexamples = [\"frob\"]\n"
	for _, c := range []struct {
		name, give string
		line       int
		want       string
	}{
		{"lower", "\n[[rule]]\nid = \"git-reset-hard\"\ntier = \"SAFE\"\n", 2, "not lowered"},
		{"second lower", "[[rule]]\nid = \"git-push\"\ntier = \"DESTRUCTIVE\"\n\n[[rule]]\nid = \"kill\"\ntier = \"VISIBLE\"\n", 5, "not lowered"},
		{"change", "[[rule]]\nid = \"kill\"\ntier = \"DESTRUCTIVE\"\nunless = [\"given\"]\n", 1, "only its tier"},
		{"twice", added + "[[rule]]\nid = \"mine\"\ntier = \"SAFE\"\n", 13, "twice"},
		{"twice raised", "[[rule]]\nid = \"x\"\ntier = \"SAFE\"\n" + rest + "over = [\"kill\"]\n", 1, "stand over"},
		{"no rule to stand over", "[[rule]]\nid = \"x\"\ntier = \"SAFE\"\n" + rest + "over = [\"y\"]\n", 1, "no rule"},
		{"no id", "[[rule]]\ntier = \"SAFE\"\n", 1, "no id"},
		{"no tier", "[[rule]]\nid = \"x\"\n", 1, "no tier"},
		{"odd tier", "[[rule]]\nid = \"x\"\ntier = \"MILD\"\n", 3, "not a tier"},
		{"no reason", "[[rule]]\nid = \"x\"\ntier = \"SAFE\"\n", 1, "reason"},
		{"unknown key", "[[rule]]\nid = \"x\"\nallow = true\n", 3, "not a key"},
		{"unknown test", "[[rule]]\nid = \"x\"\ntier = \"SAFE\"\nreason = \"x\"\nmatch = [{ program = [\"frob\"], when = [\"nice\"] }]\nexamples = [\"frob\"]\n", 1, "no test"},
		{"hides a word", "[[rule]]\nid = \"x\"\ntier = \"SAFE\"\nreason = \"x\"\nmatch = [{ program = [\"git\"], sub = [\"push origin\"] }]\nexamples = [\"git push origin\"]\n", 1, "first or words"},
		{"example", "[[rule]]\nid = \"x\"\ntier = \"VISIBLE\"\n" + strings.Replace(rest, "\"frob\"]\n", "\"other\"]\n", 2)[:len(rest)+1], 1, "example"},
		{"effect nowhere", "\n\n[[effect]]\nprogram = [\"frob\"]\nwrite = [\"here\"]\n", 3, "not a place"},
		{"effect of nothing", "[[effect]]\nprogram = [\"frob\"]\n", 1, "what they change"},
		{"effect hides a word", "[[effect]]\nprogram = [\"git\"]\nsub = [\"push origin\"]\nwrite = [\"last\"]\n", 1, "first or words"},
		{"known", "known = [\"rm\"]\n", 0, "built in"},
		{"readers", "readers = [\"post\"]\n", 0, "built in"},
		{"no TOML", "[[rule\n", 1, "toml"},
	} {
		_, err := Load([]byte(c.give))
		wrong, ok := errors.AsType[*RuleError](err)
		if !ok || wrong.Line != c.line || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Load = %v, want line %d and %q", c.name, err, c.line, c.want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(added)
	f.Add("[[rule]]\nid = \"git-push\"\ntier = \"SAFE\"\n")
	f.Add("[[effect]]\nprogram = [\"frob\"]\nwrite = [\"operands\"]\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := loadUnverified([]byte(text), nil) // the examples take too long
		if err != nil {
			return
		}
		for _, c := range []struct {
			give string
			want Tier
		}{{"rm -rf src", Destructive}, {"git push --force origin x", HardToReverse}, {"git push origin x", Visible}} {
			if got := r.Classify(&Shell{Text: c.give}, place()).Tier; got < c.want {
				t.Errorf("with these rules %q is %s", c.give, got)
			}
		}
	})
}

// Tests of operands that only rules of users name.
func TestOperandTests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ test, yes, no string }{
		{"glob", "*.go", "a.go"},
		{"is_dot", ".", "a"},
		{"url_local", "http://localhost/x", "http://example.com/x"},
		{"url_remote", "http://example.com/x", "http://localhost/x"},
		{"unresolved", "$x", "x"},
		{"ci_path", ".github/workflows/a.yml", "a.yml"},
		{"outside_worktree", "/etc/x", "x"},
		{"sql_destructive", "'drop table x'", "'select 1'"},
	} {
		rule := "[[rule]]\nid = \"x\"\ntier = \"VISIBLE\"\nreason = \"x\"\nmatch = [{ program = [\"frob\"], operand = [\"" + c.test + "\"] }]\n" +
			"examples = [\"frob " + c.yes + "\"]\ncounterexamples = [\"frob " + c.no + "\"]\n"
		if _, err := Load([]byte(rule)); err != nil {
			t.Errorf("%s: %v", c.test, err)
		}
	}
}

// TestGrammars prepares the grammar of each program, which a run does for those
// that it asks about.
func TestGrammars(t *testing.T) {
	t.Parallel()
	for name, p := range load(t).grammars {
		t.Run(name, func(t *testing.T) {
			if p.prepared() != &p.Grammar {
				t.Error("it has no grammar")
			}
		})
	}
}
