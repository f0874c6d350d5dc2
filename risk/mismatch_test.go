package risk

import (
	"strings"
	"testing"
)

func TestMismatches(t *testing.T) {
	t.Parallel()
	r := mustLoad(t, "")
	a := &Authority{Root: ReadGrants([]byte(`## Pre-Authorized Actions

- Push to feature/* branches
- Force-push to wip/* branches
- Run make deploy
- Comment on issues
- Modify .github/workflows/docs.yml
- Run rm -rf build
- Downgrade dependencies
`), "AGENTS.md")}
	if a.Root.Suspended != "" || len(a.Root.Items) < 6 {
		t.Fatalf("grants = %+v", a.Root)
	}
	p := examplePlace(false)
	for _, tt := range []struct{ command, want string }{
		{"git push origin main", "the branch main is not in feature/*"},
		{"git push --force origin feature/x", "it is not for forced pushes"},
		{"git push origin wip/x", "it is for forced pushes alone"},
		{"FOO=1 git push origin feature/x", "the variable FOO may change"},
		{"cd y && git push origin feature/x", "a cd stands before it"},
		{"sudo git push origin feature/x", "it runs within sudo"},
		{"git push origin $B", "a part of its command line is not known"},
		{"git push --tags origin feature/x", "an option or a name in it"},
		{"make deploy x", "it is for other words: make deploy"},
		{"echo x; make deploy", "it is for the command alone"},
		{"gh issue close 1", "it is for comment, and this is close"},
		{"tee .github/workflows/ci.yml", ".github/workflows/ci.yml is not in .github/workflows/docs.yml"},
		{"rm -rf build", "no grant holds for what is DESTRUCTIVE"},
		{"npm install package@$V", "a part of its command line is not known"},
	} {
		f := r.Classify(&Shell{Text: tt.command}, p)
		var whys []string
		for i := range f.Parts {
			all, _ := a.Mismatches(&f.Parts[i], &p)
			for _, m := range all {
				whys = append(whys, m.Why)
			}
		}
		if !strings.Contains(strings.Join(whys, "; "), tt.want) {
			t.Errorf("Mismatches(%q) = %q, want %q", tt.command, whys, tt.want)
		}
	}
	for _, command := range []string{"git push origin feature/x", "make deploy"} {
		f := r.Classify(&Shell{Text: command}, p)
		if d := a.Decide(f, &p); d.Verdict != Proceed {
			t.Errorf("Decide(%q) = %s", command, d.Verdict)
		}
	}
	f := r.Classify(&Shell{Text: "$X"}, p)
	if all, why := a.Mismatches(&f.Parts[0], &p); len(all) > 0 || why != "no grant holds for what cannot be read" {
		t.Errorf("Mismatches($X) = %v, %q", all, why)
	}
}
