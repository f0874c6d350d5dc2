package config

import (
	"strings"
	"testing"
	"time"
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

// TestRiskOfRepository: a repository has no influence on how its agents are
// judged, in either direction and in none of its files.
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
		{"both", "risk.confined = 'snapshot'", "risk.confined = 'snapshot'", "limits.jobs = 2\nrisk.confined = 'ask'", ConfinedSnapshot, []string{
			"p.toml:1: risk.confined: is ignored: it counts in the user configuration only, or as --confined=snapshot" + end,
			"l.toml:2: risk.confined: is ignored: it counts in the user configuration only, or as --confined=ask" + end,
		}},
		{"says nothing", "risk.confined = 'snapshot'", "[risk]", "limits.jobs = 2", ConfinedSnapshot, nil},
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
	c := mustLoad(t, user("limits.jobs = 2\n[risk]\nconfined = 'snapshot'"), repository)
	const want = "[risk]\nconfined = \"snapshot\" # from user.toml:3\n"
	if got := written(t, c, true); !strings.Contains(got, want) {
		t.Errorf("settings =\n%s, want in it\n%s", got, want)
	}
}

// TestIgnoredOfWrong: of a file that is wrong nothing is told but that.
func TestIgnoredOfWrong(t *testing.T) {
	t.Parallel()
	s := Source{Layer: Project, Name: "p.toml", Text: []byte("risk.confined = 'ask'\nlimits.jobs = 'x'")}
	if found := s.Ignored(); len(found) > 0 || len(Check(s)) != 1 {
		t.Errorf("Ignored() = %v, Check = %v, want none and one", found, Check(s))
	}
}

// TestQuestionTimeout: a repository may have agents give up sooner, and not
// later than its user wants; the highest file that may say it wins.
func TestQuestionTimeout(t *testing.T) {
	t.Parallel()
	const longer = " of the user, and not lengthen it"
	for _, tt := range []struct {
		name, user, project, local string
		want                       time.Duration
		ignored                    string
	}{
		{name: "nobody says"},
		{name: "user", user: "1h", want: time.Hour},
		{name: "shorter than the default", project: "2m", want: 2 * time.Minute},
		{name: "as the default", project: "10m", want: 10 * time.Minute},
		{name: "longer than the default", project: "10m1s", ignored: "p.toml:1: risk.question_timeout: is ignored: a repository may shorten the 10m" + longer},
		{name: "shorter than the user's", user: "1h", project: "30m", want: 30 * time.Minute},
		{
			name: "longer than the user's", user: "1m", local: "2m", want: time.Minute,
			ignored: "l.toml:1: risk.question_timeout: is ignored: a repository may shorten the 1m" + longer,
		},
		{name: "local over project", project: "2m", local: "3m", want: 3 * time.Minute},
	} {
		text := func(d string) string {
			if d == "" {
				return ""
			}
			return "risk.question_timeout = '" + d + "'"
		}
		p := Source{Layer: Project, Name: "p.toml", Text: []byte(text(tt.project))}
		l := Source{Layer: Local, Name: "l.toml", Text: []byte(text(tt.local))}
		c := mustLoad(t, user(text(tt.user)), p, l)
		if c.QuestionTimeout != tt.want {
			t.Errorf("%s: QuestionTimeout = %s, want %s", tt.name, c.QuestionTimeout, tt.want)
		}
		found := ""
		for _, e := range c.Ignored() {
			found += e.Error()
		}
		if found != tt.ignored {
			t.Errorf("%s: Ignored() = %q, want %q", tt.name, found, tt.ignored)
		}
		// Whether it is longer the file alone does not show.
		if alone := append(p.Ignored(), l.Ignored()...); len(alone) > 0 {
			t.Errorf("%s: of the files alone %v is ignored", tt.name, alone[0].Error())
		}
	}
}
