package codex

import (
	"fmt"
	"slices"
	"testing"

	"agentswarm/swarm/agent"
)

func TestReadModels(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, give, want string }{
		{"its catalogue", `{"models":[{"slug":"gpt-5.5","visibility":"list","context_window":272000,"x":[1]},{"slug":"review","visibility":"hide"}]}`, "[gpt-5.5 272000]"},
		{"warnings around it", "WARNING: {x}\n{\"models\":[{\"slug\":\"a\"}]}\nbye", "[a 0]"},
		{"odd entries", `{"models":[3,{"slug":7},{},{"slug":"a","context_window":"x"},{"slug":"b","context_window":-1}]}`, "[a 0 b 0]"},
		{"no catalogue", `usage: codex`, "[]"},
		{"another shape", `[{"slug":"a"}]`, "[]"},
	} {
		var got []string
		for _, m := range readModels(tt.give) {
			got = append(got, fmt.Sprint(m.Name, " ", m.Window.Context))
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%s: readModels = %v, want %s", tt.name, got, tt.want)
		}
	}
}

func FuzzReadModels(f *testing.F) {
	f.Add(`{"models":[{"slug":"a","visibility":"list","context_window":1}]}`)
	f.Fuzz(func(t *testing.T, said string) {
		for _, m := range readModels(said) {
			if m.Name == "" || m.Window.Context < 0 {
				t.Errorf("readModels(%q) has %+v", said, m)
			}
		}
	})
}

// TestAskModels checks that the listing uses a separate state folder, with the
// user's login and without settings that may start something.
func TestAskModels(t *testing.T) {
	t.Parallel()
	l, err := askModels(agent.Request{
		Spec: &agent.Spec{Command: []string{"codex"}}, State: "/state",
		Login: agent.Login{Files: []agent.File{{Name: "auth.json"}, {Name: configFile}}},
	})
	if err != nil || !slices.Equal(l.Argv, []string{"codex", "debug", "models"}) || !slices.Contains(l.Env, "CODEX_HOME=/state") {
		t.Errorf("it is started by %q in %q, %v", l.Argv, l.Env, err)
	}
	if len(l.Files) != 1 || l.Files[0].Name != "auth.json" {
		t.Errorf("it has %+v", l.Files)
	}
}
