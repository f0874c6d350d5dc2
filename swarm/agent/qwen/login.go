package qwen

import (
	"cmp"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/wire"
)

// way is a way to log in: its name in the settings, and the variable that holds
// the key.
type way struct{ name, key string }

func ways() []way {
	return []way{
		{"openai", "OPENAI_API_KEY"}, {"openai-responses", "OPENAI_API_KEY"}, {"anthropic", "ANTHROPIC_API_KEY"},
		{"gemini", "GEMINI_API_KEY"}, {"vertex-ai", "GOOGLE_API_KEY"},
	}
}

// login finds how Qwen Code would log in: as its settings say, else by the first
// key there is.
func login(s agent.Surroundings) agent.Login {
	dir := s.Getenv("QWEN_HOME")
	if dir == "" {
		dir = filepath.Join(s.Home, ".qwen")
	}
	machine := "/etc/qwen-code/settings.json"
	if other := s.Getenv("QWEN_CODE_SYSTEM_SETTINGS_PATH"); other != "" {
		machine = other
	}
	l := finding{in: s, dir: dir}
	l.Missing = "set $OPENAI_API_KEY, $OPENAI_BASE_URL and $OPENAI_MODEL, or choose a provider by /auth in qwen once"
	take := func(from, name string) map[string]any {
		text, err := s.Read(from)
		if err != nil {
			return map[string]any{}
		}
		l.Files = append(l.Files, agent.File{Name: name, Data: text})
		all, err := wire.Settings(text)
		if err != nil {
			return map[string]any{} // the launch reports the errors in it
		}
		return all
	}
	l.settings = take(filepath.Join(dir, settingsFile), settingsFile)
	enforced := take(machine, enforcedFile)
	take(filepath.Join(dir, memoryFile), memoryFile)
	text, _ := s.Read(filepath.Join(dir, ".env"))
	l.own = wire.Variables(text, func(name string) bool { return ofProvider(name) && s.Getenv(name) == "" })
	if len(l.own) > 0 {
		l.Files = append(l.Files, agent.File{Name: envFile, Data: []byte(strings.Join(l.own, "\n"))})
	}

	named := selected(enforced)
	if named == "" {
		named = selected(l.settings)
	}
	if named == "qwen-oauth" {
		l.Missing = "the accounts of qwen.ai, which its settings name, are no longer served; " + l.Missing
		return l.Login
	}
	for _, w := range ways() {
		if named != "" && named != w.name || l.Name != "" {
			continue
		}
		l.try(w)
		if l.Name != "" {
			l.Provider, l.Addresses = l.reaches(w), l.addresses(w)
		}
		if named == "" && l.Name != "" {
			l.Files = append(l.Files, agent.File{Name: wayFile, Data: []byte(w.name)})
		}
	}
	return l.Login
}

// finding is a login that is looked for, and where.
type finding struct {
	agent.Login
	in       agent.Surroundings
	dir      string
	own      []string // variables of the CLI's own file
	settings map[string]any
}

// try looks for the keys of a way to log in.
func (l *finding) try(w way) {
	for _, key := range append([]string{w.key}, keysOf(l.settings, w.name)...) {
		where := ""
		switch {
		case l.in.Getenv(key) != "":
			where = "by $" + key
			l.Env = append(l.Env, key)
		case wire.Variable(l.own, key) != "":
			where = key + " in " + filepath.Join(l.dir, ".env")
		case wire.Object(l.settings, "env")[key] != nil:
			where = key + " in " + filepath.Join(l.dir, settingsFile)
		}
		if l.Name == "" {
			l.Name = where
		}
	}
}

// reaches returns the provider behind a way to log in. The address tells the
// servers of OpenAI's protocol apart.
func (l *finding) reaches(w way) string {
	switch w.name {
	case "anthropic":
		return "anthropic"
	case "gemini":
		return "google"
	case "vertex-ai":
		return "google-vertex"
	}
	base := l.base()
	u, err := url.Parse(base)
	switch {
	case base == "" && len(keysOf(l.settings, w.name)) > 0, err != nil:
		return "" // the settings may say anything
	case base == "", u.Hostname() == "api.openai.com":
		return "openai"
	case strings.HasPrefix(u.Hostname(), "dashscope"):
		return "qwen"
	}
	return u.Host
}

// base is the address of a server that speaks OpenAI's protocol, by variables.
func (l *finding) base() string {
	const name = "OPENAI_BASE_URL"
	return cmp.Or(l.in.Getenv(name), wire.Variable(l.own, name))
}

// addresses are the servers behind a way to log in: by its variables, and by the
// settings of models.
func (l *finding) addresses(w way) map[string]string {
	all := map[string]string{}
	switch w.name {
	case "openai", "openai-responses":
		inSettings, _ := wire.Object(l.settings, "env")["OPENAI_BASE_URL"].(string)
		all[""] = cmp.Or(l.base(), inSettings)
	case "anthropic":
		all[""] = l.in.Getenv("ANTHROPIC_BASE_URL")
	}
	for _, m := range modelsOf(l.settings, w.name) {
		id, _ := m["id"].(string)
		all[id], _ = m["baseUrl"].(string)
	}
	return all
}

// ofProvider reports whether a variable has to do with a provider of models.
func ofProvider(name string) bool {
	for _, end := range []string{"_API_KEY", "_BASE_URL", "_MODEL", "_API_BASE"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// selected is the way to log in that settings name.
func selected(settings map[string]any) string {
	security, _ := settings["security"].(map[string]any)
	auth, _ := security["auth"].(map[string]any)
	is, _ := auth["selectedType"].(string)
	return is
}

// keysOf are the variables in which the models of a way to log in have their
// keys, as the settings say.
func keysOf(settings map[string]any, way string) (names []string) {
	for _, model := range modelsOf(settings, way) {
		if name, _ := model["envKey"].(string); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// modelsOf are the models that the settings name for a way to log in.
func modelsOf(settings map[string]any, way string) (models []map[string]any) {
	providers, _ := settings["modelProviders"].(map[string]any)
	named, _ := providers[way].([]any)
	for _, m := range named {
		if model, ok := m.(map[string]any); ok {
			models = append(models, model)
		}
	}
	return models
}
