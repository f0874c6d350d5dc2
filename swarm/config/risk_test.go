package config

import (
	"strings"
	"testing"
)

func TestRiskKeys(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		give string
		want Confined
	}{
		{"", ConfinedUnset},
		{"[risk]", ConfinedUnset},
		{"[risk]\nconfined = 'ask'", ConfinedAsk},
		{"risk = { confined = 'snapshot' }", ConfinedSnapshot},
		{"risk.confined = 'snapshot'", ConfinedSnapshot},
	} {
		c := mustLoad(t, user(tt.give))
		if c.Confined != tt.want {
			t.Errorf("Load(%q).Confined = %s, want %s", tt.give, c.Confined, tt.want)
		}
		if origin, ok := c.Origin("risk.confined"); ok != (tt.want != ConfinedUnset) || ok && origin.Layer != User {
			t.Errorf("Load(%q): the origin is %v, %t", tt.give, origin, ok)
		}
		if found := c.Ignored(); len(found) > 0 {
			t.Errorf("Load(%q) ignores %v, which is the user's", tt.give, found[0].Error())
		}
	}
}

// TestRiskOfRepository: what comes with a repository has no say in how its
// agents are judged, in either direction and in none of its files.
func TestRiskOfRepository(t *testing.T) {
	t.Parallel()
	const end = ", and not in a repository"
	for _, tt := range []struct {
		name, user, project, local string
		want                       Confined
		ignored                    []string
	}{
		{"loosens", "", "[risk]\nconfined = 'snapshot'", "", ConfinedUnset, []string{
			"p.toml:2: risk.confined: is ignored: it counts in the user configuration only, or as --confined=snapshot" + end,
		}},
		{"loosens what is said", "risk.confined = 'ask'", "", "\nrisk.confined = 'snapshot'", ConfinedAsk, []string{
			"l.toml:2: risk.confined: is ignored: it counts in the user configuration only, or as --confined=snapshot" + end,
		}},
		{"tightens", "risk.confined = 'snapshot'", "risk.confined = 'ask'", "", ConfinedSnapshot, []string{
			"p.toml:1: risk.confined: is ignored: it counts in the user configuration only, or as --confined=ask" + end,
		}},
		{"both", "risk.confined = 'snapshot'", "risk.confined = 'snapshot'", "jobs = 2\nrisk.confined = 'ask'", ConfinedSnapshot, []string{
			"p.toml:1: risk.confined: is ignored: it counts in the user configuration only, or as --confined=snapshot" + end,
			"l.toml:2: risk.confined: is ignored: it counts in the user configuration only, or as --confined=ask" + end,
		}},
		{"says nothing", "risk.confined = 'snapshot'", "[risk]", "jobs = 2", ConfinedSnapshot, nil},
	} {
		project := Source{Layer: Project, Name: "p.toml", Text: []byte(tt.project)}
		local := Source{Layer: Local, Name: "l.toml", Text: []byte(tt.local)}
		c := mustLoad(t, user(tt.user), project, local)
		if c.Confined != tt.want {
			t.Errorf("%s: Confined = %s, want %s", tt.name, c.Confined, tt.want)
		}
		if origin, ok := c.Origin("risk.confined"); ok && origin.Layer != User {
			t.Errorf("%s: the value is said to come from %s", tt.name, origin)
		}
		same := c.Ignored()
		alone := append(project.Ignored(), local.Ignored()...)
		if len(same) != len(tt.ignored) || len(alone) != len(tt.ignored) {
			t.Fatalf("%s: Ignored() = %v, of the files alone %v, want %q", tt.name, same, alone, tt.ignored)
		}
		for i, want := range tt.ignored {
			if same[i].Error() != want || alone[i].Error() != want {
				t.Errorf("%s: Ignored()[%d] = %v, of the file alone %v, want %s",
					tt.name, i, same[i].Error(), alone[i].Error(), want)
			}
		}
	}
}

// TestRiskShown: it is shown with the line it stands on, and never that of a
// repository.
func TestRiskShown(t *testing.T) {
	t.Parallel()
	repository := Source{Layer: Local, Name: "l.toml", Text: []byte("risk.confined = 'ask'")}
	c := mustLoad(t, user("jobs = 2\n[risk]\nconfined = 'snapshot'"), repository)
	const want = "[risk]\nconfined = \"snapshot\" # from user.toml:3\n"
	if got := written(t, c, true); !strings.Contains(got, want) {
		t.Errorf("settings =\n%s, want in it\n%s", got, want)
	}
}

// TestIgnoredOfWrong: of a file that is wrong nothing is told but that.
func TestIgnoredOfWrong(t *testing.T) {
	t.Parallel()
	s := Source{Layer: Project, Name: "p.toml", Text: []byte("risk.confined = 'ask'\njobs = 'x'")}
	if found := s.Ignored(); len(found) > 0 || len(Check(s)) != 1 {
		t.Errorf("Ignored() = %v, Check = %v, want none and one", found, Check(s))
	}
}
