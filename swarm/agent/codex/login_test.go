package codex

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
)

// around are surroundings with variables and files.
func around(env, files map[string]string) agent.Surroundings {
	return agent.Surroundings{
		Home:   "/home/u",
		Getenv: func(name string) string { return env[name] },
		Read: func(path string) ([]byte, error) {
			if text, ok := files[path]; ok {
				return []byte(text), nil
			}
			return nil, os.ErrNotExist
		},
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	const (
		conf = "/home/u/.codex/config.toml"
		auth = "/home/u/.codex/auth.json"
		chat = `{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"id_token":"I","access_token":"A","refresh_token":"R","account_id":"C"},"last_refresh":"2026-11-01T00:00:00Z"}`
		mine = "model_provider = \"p\"\n[model_providers.p]\nname = \"p\"\nenv_key = \"MY_KEY\"\nenv_http_headers = { X = \"MY_ORG\" }\n"
	)
	type m = map[string]string
	for _, test := range []struct {
		name       string
		env, files m
		want       string // the name, or else the missing login
		vars       []string
		stored     string // in auth.json
		risk       bool
	}{
		{"nothing", nil, nil, "a key in $CODEX_API_KEY", nil, "", false},
		{"a key for one run", m{"CODEX_API_KEY": "k", "OPENAI_API_KEY": "o"}, m{auth: chat}, "key in $CODEX_API_KEY", nil, `{"OPENAI_API_KEY":"k","auth_mode":"apikey"}`, false},
		{"a key for anybody", m{"OPENAI_API_KEY": "o"}, nil, "key in $OPENAI_API_KEY", nil, `{"OPENAI_API_KEY":"o","auth_mode":"apikey"}`, false},
		{"a stored key", m{"OPENAI_API_KEY": "o"}, m{auth: `{"OPENAI_API_KEY":"s"}`}, "key stored by codex login", nil, `{"OPENAI_API_KEY":"s"}`, false},
		{
			"ChatGPT",
			m{"OPENAI_API_KEY": "o"},
			m{auth: chat},
			"ChatGPT login of codex", nil,
			`{"OPENAI_API_KEY":null,"auth_mode":"chatgpt","last_refresh":"2026-11-01T00:00:00Z","tokens":{"access_token":"A","account_id":"C","id_token":"I","refresh_token":""}}`, true,
		},
		{"logged out", m{"OPENAI_API_KEY": "o"}, m{auth: `{"OPENAI_API_KEY":null,"tokens":null}`}, "key in $OPENAI_API_KEY", nil, `{"OPENAI_API_KEY":"o","auth_mode":"apikey"}`, false},
		{"a login that is broken", nil, m{auth: `{`}, "a key in $CODEX_API_KEY", nil, "", false},
		{"another home", m{"CODEX_HOME": "/c"}, m{"/c/auth.json": `{"OPENAI_API_KEY":"s"}`}, "key stored by codex login", nil, `{"OPENAI_API_KEY":"s"}`, false},
		{"a provider", m{"MY_KEY": "k"}, m{conf: mine, auth: chat}, "provider p of config.toml, key in $MY_KEY", []string{"MY_KEY", "MY_ORG"}, "", false},
		{"a provider without its key", nil, m{conf: mine}, "$MY_KEY, which provider p of config.toml needs", []string{"MY_ORG"}, "", false},
		{"a provider without a key", nil, m{conf: "model_provider = \"p\"\n[model_providers.p]\nname = \"p\""}, "provider p of config.toml", nil, "", false},
		{"a provider with our login", nil, m{conf: "model_provider = \"p\"\n[model_providers.p]\nname = \"p\"\nrequires_openai_auth = true", auth: chat}, "ChatGPT login of codex", nil, "A", true},
		{"a provider of a profile", m{"MY_KEY": "k"}, m{conf: "profile = \"x\"\n[profiles.x]\nmodel_provider = \"p\"\n[model_providers.p]\nenv_key = \"MY_KEY\""}, "provider p of config.toml, key in $MY_KEY", []string{"MY_KEY"}, "", false},
		{"a local one", nil, m{conf: `model_provider = "ollama"`}, "built-in provider ollama", nil, "", false},
		{"servers", m{"CODEX_API_KEY": "k"}, m{conf: "[mcp_servers.s]\nbearer_token_env_var = \"B\"\nenv_vars = [\"A\", { name = \"C\" }]"}, "key in $CODEX_API_KEY", []string{"A", "B", "C"}, `{"OPENAI_API_KEY":"k","auth_mode":"apikey"}`, false},
		{"no TOML", m{"CODEX_API_KEY": "k"}, m{conf: "["}, "key in $CODEX_API_KEY", nil, `{"OPENAI_API_KEY":"k","auth_mode":"apikey"}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := login(around(test.env, test.files))
			if got.Name != test.want && (got.Name != "" || !strings.HasPrefix(got.Missing, test.want)) {
				t.Errorf("name %q, missing %q", got.Name, got.Missing)
			}
			if !slices.Equal(got.Env, test.vars) || (got.Risk != "") != test.risk {
				t.Errorf("env %q, risk %q", got.Env, got.Risk)
			}
			stored := ""
			for _, f := range got.Files {
				if f.Name == authFile {
					stored = string(f.Data)
				}
			}
			if stored != test.stored && (test.stored == "" || !strings.Contains(stored, `"`+test.stored+`"`)) {
				t.Errorf("auth.json is %s", stored)
			}
			if strings.Contains(stored, `"R"`) {
				t.Error("agents get the refresh token")
			}
		})
	}
}

func TestLoginFiles(t *testing.T) {
	t.Parallel()
	got := login(around(nil, map[string]string{
		"/home/u/.codex/config.toml": "model_instructions_file = \"mine.md\"\nmodel_catalog_json = \"/c.json\"\n",
		"/home/u/.codex/AGENTS.md":   "be brief",
	}))
	want := []agent.File{
		{Name: "config.toml", Data: []byte("model_catalog_json = '/c.json'\nmodel_instructions_file = '/home/u/.codex/mine.md'\n")},
		{Name: "AGENTS.md", Data: []byte("be brief")},
	}
	if !reflect.DeepEqual(got.Files, want) {
		t.Errorf("files %s", got.Files)
	}
}

// TestInstallation checks that agents get the id of the user's installation of
// codex, where that is valid.
func TestInstallation(t *testing.T) {
	t.Parallel()
	const file = "/home/u/.codex/installation_id"
	for id, want := range map[string]bool{"4d2eec66-7532-447a-8efa-1415a5db95d6": true, "": false, strings.Repeat("x", 1000): false} {
		found := login(around(nil, map[string]string{file: id}))
		at := slices.IndexFunc(found.Files, func(f agent.File) bool { return f.Name == "installation_id" })
		if (at >= 0) != want || want && string(found.Files[at].Data) != id {
			t.Errorf("%.40q: file %d of %v", id, at, found.Files)
		}
	}
}
