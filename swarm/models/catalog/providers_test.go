package catalog

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/roles"
	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/config"
)

// machine returns a machine whose user has a home folder and no other
// environment.
func machine(home string) *kinds.Machine {
	return &kinds.Machine{Kinds: kinds.All(), Getenv: func(name string) string {
		return map[string]string{"HOME": home}[name]
	}}
}

// TestUnknownProvider: the known providers are the built-in ones, the
// configured ones, and those in the settings of agent CLIs here. Any other is
// refused, with the nearest name or the way to declare it.
func TestUnknownProvider(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for name, text := range map[string]string{
		".pi/agent/models.json":           "// mine\n" + `{"providers":{"pies":{"models":[]}}}`,
		".local/share/opencode/auth.json": `{"logged":{"type":"api","key":"k"}}`,
		".config/opencode/opencode.jsonc": `{"provider":{"open":{}}, /* x */}`,
	} {
		file := filepath.Join(home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	conf, err := config.Load()
	if err != nil {
		t.Fatal(err)
	}
	r := NewProviders(ProvidersRequest{Machine: machine(home), Config: conf, Root: filepath.Join(home, "state"), Configured: []string{"workshop"}})
	for give, want := range map[string]string{
		"openai": "", "gemini": "", "openrouter": "", "workshop": "", "": "", "pies": "", "logged": "", "open": "", "zai": "",
		"opnai": `did you mean "openai"?`, "antropic": `did you mean "anthropic"?`, "wrkshop": `did you mean "workshop"?`,
		"olama": `did you mean "ollama"?`, "gogle": `did you mean "google"?`, "piess": `did you mean "pies"?`,
		"somebodys": "[providers.somebodys]",
	} {
		got := r.Unknown(roles.Spec{Provider: give, Model: "m"})
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", give, got, want)
		}
	}
}

// TestLacking: a provider that is configured for the built-in agent is not
// thereby set up for the others. A provider that programs may know by
// themselves is left to them.
func TestLacking(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, ".pi/agent/models.json")
	err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(`{"providers":{"both":{}}}`), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	const text = "[providers.both]\nbase_url = 'http://127.0.0.1:1'\n[providers.mine]\nbase_url = 'http://127.0.0.1:1'\n" +
		"[providers.groq]\nbase_url = 'http://127.0.0.1:1'\n"
	conf, err := config.Load(config.Source{Layer: config.User, Name: "c", Text: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	lacking := NewProviders(ProvidersRequest{Machine: machine(home), Config: conf, Root: filepath.Join(home, "state"), Configured: Configured(conf)}).Lacking()
	if want := map[string][]string{"pi": {"mine"}, "opencode": {"both", "mine"}}; !maps.EqualFunc(lacking, want, slices.Equal) {
		t.Errorf("lacking are %v, want %v", lacking, want)
	}
	known, o := kinds.All().ByName(), &roles.Orders{Providers: Configured(conf), Lacking: lacking}
	for kind, want := range map[string]string{
		"pi": "agents of the kind pi are not set up with \"mine\": [providers.mine] is for the built-in agent", "builtin": "",
	} {
		_, err := known[kind].Choose(roles.Spec{Provider: "mine", Model: "m"}, o)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s is told mine/m: %v, want %q", kind, err, want)
		}
	}
	if _, err := known["pi"].Choose(roles.Spec{Provider: "both", Model: "m"}, o); err != nil {
		t.Error(err)
	}
}
