package risk

import (
	"reflect"
	"strings"
	"testing"

	"agentswarm/risk/argv"
)

func TestClassifyShell(t *testing.T) {
	t.Parallel()
	r := load(t)
	for _, c := range []struct{ give, want string }{
		{"", "SAFE"},
		{"ls && git push origin feature/x", "VISIBLE git-push"},
		{"git status; rm -rf src", "DESTRUCTIVE rm-recursive"},
		{"echo x > out.txt", "SAFE"},
		{"sed -i '' -e s/a/b/ x", "SAFE"},
		{"echo x > /dev/null", "SAFE"},
		{"echo x > .github/workflows/ci.yml", "HARD_TO_REVERSE ci"},
		{"echo x >> /home/u/.bashrc", "HARD_TO_REVERSE write-new-outside"},
		{"echo x > /etc/hosts", "DESTRUCTIVE write-outside"},
		{"echo x > $f", "HARD_TO_REVERSE write-unknown"},
		{"echo x >> AGENTS.md", "HARD_TO_REVERSE agents-file"},
		{"echo x > .git/config", "DESTRUCTIVE git-dir"},
		{"cd .github && rm workflows/ci.yml", "HARD_TO_REVERSE ci"},
		{"git commit -m 'git push --force'", "SAFE"},
		{"swarm risk explain 'rm -rf x'", "SAFE"},
	} {
		f := r.Classify(&Shell{Text: c.give}, place())
		if got := spell(f.Parts); got != c.want || f.Tier.String() != c.want[:len(f.Tier.String())] {
			t.Errorf("Classify(%s) = %s %s, want %s", c.give, f.Tier, got, c.want)
		}
	}
	f := r.Classify(&Shell{Text: "frobnicate && ls && frobnicate --x"}, place())
	if want := []string{"frobnicate"}; f.Tier != Safe || !reflect.DeepEqual(f.Unlisted, want) {
		t.Errorf("Classify = %s, unlisted %q, want SAFE and %q", f.Tier, f.Unlisted, want)
	}
}

// Other commands of the same text can change where a push leads.
func TestClassifySiblings(t *testing.T) {
	t.Parallel()
	r := load(t)
	for _, c := range []struct {
		give string
		want bool
	}{
		{"git commit -m x && git push origin HEAD", true},
		{"git push origin feature/x && gh pr create --fill", true},
		{"git checkout main && git push origin HEAD", false},
		{"git checkout main && git push origin feature/x", true},
		{"git remote set-url origin https://example.com/x && git push origin feature/x", false},
		{"git config url.a.insteadOf b; git push origin feature/x", false},
		{"git push origin feature/x; git tag feature/x", false},
		{"cd src && git push origin feature/x", false},
	} {
		found := false
		for _, p := range r.Classify(&Shell{Text: c.give}, place()).Parts {
			_, push := p.Operation.(*Push)
			found = found || p.Rule == "git-push" && push
		}
		if found != c.want {
			t.Errorf("Classify(%s): a push that can be granted: %v, want %v", c.give, found, c.want)
		}
	}
	for name, line := range map[string]string{"GIT_SSH_COMMAND": "git push origin feature/x", "GH_REPO": "gh pr create --fill"} {
		p := r.Classify(&Shell{Text: line, Env: map[string]string{name: "x"}}, place()).Parts[0]
		if p.Operation != nil || p.Plain {
			t.Errorf("with %s in the environment %q has %#v", name, line, p.Operation)
		}
	}
}

func TestClassifyOthers(t *testing.T) {
	t.Parallel()
	r := load(t)
	for _, c := range []struct {
		give Action
		want string
	}{
		{&FileWrite{Path: "src/a.go"}, "SAFE"},
		{&FileWrite{Path: "/repo/tree/src/a.go", Removes: true}, "SAFE"},
		{&FileWrite{Path: ".github/workflows/ci.yml"}, "HARD_TO_REVERSE ci"},
		{&FileWrite{Path: "workflows/ci.yml", Cwd: "/repo/tree/.github"}, "HARD_TO_REVERSE ci"},
		{&FileWrite{Path: "../x"}, "DESTRUCTIVE write-outside"},
		{&FileWrite{Path: "~/.ssh/config"}, "DESTRUCTIVE write-outside"},
		{&FileWrite{Path: "/home/u/x", Removes: true}, "DESTRUCTIVE remove-outside"},
		{&FileWrite{Path: ".git/hooks/pre-commit"}, "DESTRUCTIVE git-dir"},
		{&FileWrite{Path: "/tmp/x"}, "SAFE"},
		{&FileWrite{}, "HARD_TO_REVERSE write-unknown"},
		{&Git{Args: []string{"push", "origin", "feature/x"}}, "VISIBLE git-push"},
		{&Git{Args: []string{"commit", "-m", "it's $(rm -rf x)"}}, "SAFE"},
		{&Git{Args: []string{"reset", "--hard"}}, "DESTRUCTIVE git-reset-hard"},
		{&Git{}, "SAFE"},
		{&Outward{Tool: "web_fetch", Target: "https://example.com"}, "SAFE"},
		{&Outward{Tool: "x", Method: "get", Target: "https://example.com"}, "SAFE"},
		{&Outward{Tool: "x", Method: "POST", Target: "https://example.com"}, "VISIBLE outward"},
		{&Outward{Tool: "x", Method: "POST", Target: "http://localhost:80/a"}, "SAFE"},
		{&Outward{Tool: "x", Target: "https://example.com"}, "VISIBLE outward"},
		{&Outward{}, "VISIBLE outward"},
		{nil, "DESTRUCTIVE opaque"},
	} {
		f := r.Classify(c.give, place())
		if got := spell(f.Parts); got != c.want || f.Tier == Unclassified {
			t.Errorf("Classify(%+v) = %s %s, want %s", c.give, f.Tier, got, c.want)
		}
	}
	p := shared()
	if f := r.Classify(&FileWrite{Path: "/repo/sibling/x"}, p); !f.Blocked {
		t.Error("a file of another work tree can be written")
	}
	if f := r.Classify(&Git{Args: []string{"gc"}}, p); !f.Blocked || f.Tier != Safe {
		t.Errorf("git gc is %s, blocked %v", f.Tier, f.Blocked)
	}
}

// TestOverACapAsks holds that a text that is more than is read asks, however
// harmless the part of it that was, and whatever is granted.
func TestOverACapAsks(t *testing.T) {
	t.Parallel()
	r, many := load(t), strings.Repeat
	given := &Authority{Root: ReadGrants([]byte(heading+"\n- Push to feature/*\n"), "AGENTS.md")}
	for name, text := range map[string]string{
		"steps":    many("for i in a b c d e f g h; do ", 12) + "ls" + many("; done", 12) + "; git push origin feature/x",
		"wrappers": many("sudo ", 12000) + "ls",
		"length":   "ls " + many("x", 64<<10),
		"nesting":  many("(", 201) + "ls" + many(")", 201),
		"depth":    many("eval ", 9) + "ls",
		"suspects": "frobnicate " + many("git ", maxSuspects+2),
	} {
		p := place()
		f := r.Classify(&Shell{Text: text}, p)
		if !f.Opaque || f.Tier != Destructive {
			t.Errorf("%s: %s, opaque %v", name, f.Tier, f.Opaque)
		}
		if d := given.Decide(f, &p); d.Verdict != Ask {
			t.Errorf("%s: %s", name, d.Verdict)
		}
	}
	if f := r.Classify(&Shell{Text: "rm " + many("a/", maxPath)}, place()); f.Tier != Destructive {
		t.Errorf("a path that is longer than any is %s", f.Tier)
	}
}

func FuzzClassify(f *testing.F) {
	for _, text := range []string{
		"git push origin +x:y", "rm -rf $X", "psql -c 'delete from x where $a$'", "curl -d x http://[::1", "npm i a@^1 || b", "x rm -rf y",
		"git -C a -C b commit", "cp -t . a*", "find . -delete", "gh api graphql -f query=mutation", "redis-cli FLUSHALL", "kill -9 -1", "git \x00",
		"frob " + strings.Repeat("git ", 200), "rm -rf " + strings.Repeat("a/", 3000), "X=ls; a && X='rm -rf'; $X b", "awk '{print > \"x\"; print >> y}'",
		"git push origin \"$(git branch --show-current)\"", strings.Repeat("sudo ", 500) + "ls", "npm i a@2.0.0-rc.10",
	} {
		f.Add(text, "/repo/tree", true)
	}
	r := load(f)
	f.Fuzz(func(t *testing.T, text, cwd string, other bool) {
		p := place()
		if other {
			p = shared()
		}
		for _, a := range []Action{&Shell{Text: text, Cwd: cwd}, &FileWrite{Path: text, Cwd: cwd}, &Git{Args: []string{text, cwd}}, &Outward{Tool: "x", Target: text}} {
			got := r.Classify(a, p)
			if got.Tier == Unclassified || got.Opaque && got.Tier != Destructive {
				t.Errorf("Classify(%#v) = %+v", a, got)
			}
			for _, part := range got.Parts {
				if part.Tier > got.Tier || part.Reason == "" || part.Rule == "" || part.Tier == Destructive && part.Operation != nil {
					t.Errorf("Classify(%#v): part %+v", a, part)
				}
			}
			if again := r.Classify(a, p); !reflect.DeepEqual(got, again) {
				t.Errorf("Classify(%#v) = %+v, and then %+v", a, got, again)
			}
		}
		Redact(text)
		if strings.ContainsAny(text, "$`") {
			return // parameters are others in another shell
		}
		bare, wrapped := r.Classify(&Shell{Text: text, Cwd: cwd}, p), r.Classify(&Shell{Text: "sh -c -- " + argv.Quoted([]string{text}), Cwd: cwd}, p)
		if wrapped.Tier < bare.Tier || bare.Blocked && !wrapped.Blocked && !wrapped.Opaque {
			t.Errorf("%q is %s, blocked %v; in sh -c %s, blocked %v", text, bare.Tier, bare.Blocked, wrapped.Tier, wrapped.Blocked)
		}
	})
}

func BenchmarkClassify(b *testing.B) {
	r := load(b)
	p := place()
	for b.Loop() {
		r.Classify(&Shell{Text: "git add -A && git commit -m 'x' && git push origin feature/x"}, p)
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := Load(nil); err != nil {
			b.Fatal(err)
		}
	}
}
