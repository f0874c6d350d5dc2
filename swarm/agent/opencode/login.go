package opencode

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/wire"
	"sync"
)

// named finds the variables that a configuration takes values from.
var named = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{env:([A-Za-z_][A-Za-z0-9_]*)\}`) })

// keys are the variables in which providers that opencode knows have their
// keys.
func keys() []string {
	return []string{
		"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "OPENCODE_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY",
		"GOOGLE_GENERATIVE_AI_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "XAI_API_KEY", "DEEPSEEK_API_KEY", "TOGETHER_API_KEY",
		"CEREBRAS_API_KEY", "FIREWORKS_API_KEY", "MOONSHOT_API_KEY", "ZAI_API_KEY", "ZHIPU_API_KEY", "DASHSCOPE_API_KEY", "MINIMAX_API_KEY",
		"AI_GATEWAY_API_KEY", "DEEPINFRA_API_KEY", "PERPLEXITY_API_KEY", "COHERE_API_KEY", "NVIDIA_API_KEY", "HF_TOKEN", "AZURE_API_KEY",
		"AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "GOOGLE_APPLICATION_CREDENTIALS",
	}
}

// login finds the login that opencode would use: the stored logins of opencode
// auth, keys in variables, and keys in its configuration.
func login(s agent.Surroundings) agent.Login {
	l := agent.Login{Addresses: map[string]string{}, Missing: "set the key of a provider, such as $ANTHROPIC_API_KEY, or log in by opencode auth login"}
	var ways []string
	auth := filepath.Join(folder(s, "XDG_DATA_HOME", ".local/share"), "auth.json")
	if text, err := s.Read(auth); err == nil {
		file, names, lent := lend(text)
		if len(names) > 0 {
			l.Files = append(l.Files, agent.File{Name: authFile, Data: file})
			ways = append(ways, strings.Join(names, ", ")+", of "+auth)
		}
		if lent {
			l.Risk = "agents cannot renew the token of an account; when it expires they fail; an API key does not expire"
		}
	}
	for _, key := range keys() {
		if s.Getenv(key) != "" {
			ways = append(ways, "by $"+key)
			l.Env = append(l.Env, key)
		}
	}
	if providers := configured(s, &l); len(providers) > 0 {
		ways = append(ways, "as opencode.json says for "+strings.Join(providers, ", "))
	}
	l.Name = strings.Join(ways, "; ")
	l.Files = append(l.Files, agent.File{Name: variablesFile, Data: callers(s)})
	return l
}

// folder returns a folder of opencode's own.
func folder(s agent.Surroundings, variable, otherwise string) string {
	if is := s.Getenv(variable); is != "" {
		return filepath.Join(is, "opencode")
	}
	return filepath.Join(s.Home, otherwise, "opencode")
}

// configured reads the user's configuration, and returns the providers that
// have keys there.
func configured(s agent.Surroundings, l *agent.Login) (providers []string) {
	dir := folder(s, "XDG_CONFIG_HOME", ".config")
	add := func(name string, text []byte) {
		l.Files = append(l.Files, agent.File{Name: name, Data: text})
		for _, m := range named().FindAllSubmatch(text, -1) {
			if name := string(m[1]); s.Getenv(name) != "" && !slices.Contains(l.Env, name) {
				l.Env = append(l.Env, name)
			}
		}
		for name, options := range optionsOf(text) {
			if base, _ := options["baseURL"].(string); base != "" {
				l.Addresses[name] = filled(s, base)
			}
			if options["apiKey"] != nil || options["baseURL"] != nil {
				providers = append(providers, name)
			}
		}
	}
	for _, name := range []string{"config.json", "opencode.json", "opencode.jsonc"} {
		if text, err := s.Read(filepath.Join(dir, name)); err == nil {
			add(configFile, text)
		}
	}
	if file := s.Getenv("OPENCODE_CONFIG"); file != "" {
		if text, err := s.Read(file); err == nil {
			add(otherFile, text)
		}
	}
	if text := s.Getenv("OPENCODE_CONFIG_CONTENT"); text != "" {
		add(otherFile, []byte(text))
	}
	if text, err := s.Read(filepath.Join(dir, "AGENTS.md")); err == nil {
		l.Files = append(l.Files, agent.File{Name: memoryFile, Data: text})
	}
	slices.Sort(providers)
	return slices.Compact(providers)
}

// optionsOf returns the options of each provider of a configuration, such as a key,
// or the address of a server that may need none.
func optionsOf(text []byte) map[string]map[string]any {
	settings, err := wire.Settings(text)
	if err != nil {
		return nil // said at the launch
	}
	all := map[string]map[string]any{}
	providers, _ := settings["provider"].(map[string]any)
	for name, is := range providers {
		provider, _ := is.(map[string]any)
		all[name], _ = provider["options"].(map[string]any)
	}
	return all
}

// filled returns a value of a configuration with its variables.
func filled(s agent.Surroundings, value string) string {
	return named().ReplaceAllStringFunc(value, func(m string) string { return s.Getenv(named().FindStringSubmatch(m)[1]) })
}

// callers are the variables that opencode does not get as the user has them, for
// the commands of its agents.
func callers(s agent.Surroundings) []byte {
	all := map[string]*string{}
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"} {
		all[name] = nil
		if is := s.Getenv(name); is != "" {
			all[name] = &is
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		return []byte("{}")
	}
	return text
}

// lend returns a copy of the logins without refresh tokens that work once: of a
// hundred agents that use such a token ninety-nine would be logged out, and the
// user with them. Copilot's tokens work more than once, so they stay.
func lend(text []byte) (file []byte, names []string, lent bool) {
	var all map[string]any
	if json.Unmarshal(text, &all) != nil {
		return nil, nil, false
	}
	for name, one := range all {
		is, account := one.(map[string]any)
		if !account {
			continue
		}
		names = append(names, name)
		if is["type"] == "oauth" && !strings.HasPrefix(name, "github-copilot") {
			is["refresh"], lent = "", true
		}
	}
	file, err := json.Marshal(all)
	if err != nil {
		return nil, nil, false
	}
	slices.Sort(names)
	return file, names, lent
}

// own are the providers that the user's opencode knows beside those of
// everybody: of its logins and of its configuration.
func own(l agent.Login) (names []string) {
	for _, f := range l.Files {
		var providers map[string]any
		switch f.Name {
		case authFile:
			if json.Unmarshal(f.Data, &providers) != nil {
				continue
			}
		case configFile, otherFile:
			all, err := wire.Settings(f.Data)
			if err != nil {
				continue // said at the launch
			}
			providers, _ = all["provider"].(map[string]any)
		}
		names = append(names, slices.Sorted(maps.Keys(providers))...)
	}
	return names
}
