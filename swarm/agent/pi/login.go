package pi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/wire"
	"sync"
)

// login looks where pi would: in the files of its state folder and in
// variables.
func login(around agent.Surroundings) agent.Login {
	l := finder{Surroundings: around, dir: home(around)}
	l.settings()
	l.credentials()
	l.providers()
	l.variables()
	l.instructions()
	l.files = append(l.files, agent.File{Name: homeFile, Data: []byte(l.dir)})
	found := agent.Login{Files: l.files, Env: l.env, Addresses: l.addresses, Risk: strings.Join(l.risks, "; ")}
	if len(l.ways) == 0 {
		found.Missing = "a key in a variable that pi knows, such as ANTHROPIC_API_KEY or OPENAI_API_KEY; " +
			"a login made with /login in pi; or a provider in " + l.named("models.json")
		return found
	}
	// The provider it takes by itself comes first.
	slices.SortStableFunc(l.ways, func(a, b way) int {
		return cmp.Compare(l.rank(a), l.rank(b))
	})
	found.Name = l.ways[0].name
	if more := len(l.ways) - 1; more > 0 {
		var names []string
		for _, w := range l.ways[1:] {
			names = append(names, w.name)
		}
		found.Name += fmt.Sprintf(" (and %d more: %s)", more, strings.Join(names, ", "))
	}
	return found
}

// home is the state folder of the user's own pi.
func home(around agent.Surroundings) string {
	dir := around.Getenv("PI_CODING_AGENT_DIR")
	switch {
	case dir == "":
		return filepath.Join(around.Home, ".pi", "agent")
	case dir == "~" || strings.HasPrefix(dir, "~/"):
		return filepath.Join(around.Home, dir[1:])
	default:
		return dir
	}
}

// way is a way to log in.
type way struct{ provider, name string }

// finder collects the logins.
type finder struct {
	agent.Surroundings
	dir             string
	defaultProvider string

	files     []agent.File
	ways      []way
	env       []string
	risks     []string
	addresses map[string]string
}

func (l *finder) rank(w way) int {
	if w.provider == l.defaultProvider {
		return 0
	}
	return 1
}

// file reads a file of the state folder; nil where there is none.
func (l *finder) file(name string) []byte {
	text, err := l.Read(filepath.Join(l.dir, name))
	if err != nil {
		return nil
	}
	return text
}

// named is a file of the state folder as a person knows it.
func (l *finder) named(name string) string {
	path := filepath.Join(l.dir, name)
	if rest, ok := strings.CutPrefix(path, l.Home+"/"); ok && l.Home != "" {
		return "~/" + rest
	}
	return path
}

// settings reads the settings of pi.
func (l *finder) settings() {
	text := l.file(settingsFile)
	if text == nil {
		return
	}
	var is struct {
		DefaultProvider string `json:"defaultProvider"`
	}
	if err := wire.Lenient(text, &is); err != nil {
		// Pi itself continues without them.
		l.risks = append(l.risks, fmt.Sprintf("%s cannot be read and is left out: %v", l.named(settingsFile), err))
		return
	}
	l.defaultProvider = is.DefaultProvider
	l.files = append(l.files, agent.File{Name: settingsFile, Data: text})
}

// credential is an entry of auth.json.
type credential struct {
	Type    string            `json:"type"`
	Key     string            `json:"key"`
	Env     map[string]string `json:"env"`
	Expires float64           `json:"expires"` // milliseconds since 1970
}

// credentials takes the logins that pi has stored.
func (l *finder) credentials() {
	const name = "auth.json"
	text := l.file(name)
	if text == nil {
		return
	}
	all := map[string]json.RawMessage{}
	if err := wire.Lenient(text, &all); err != nil {
		l.risks = append(l.risks, fmt.Sprintf("%s cannot be read and is left out: %v", l.named(name), err))
		return
	}
	for _, provider := range sortedKeys(all) {
		var c credential
		if json.Unmarshal(all[provider], &c) != nil {
			continue
		}
		switch c.Type {
		case "api_key":
			if l.value(c.Key, "the key of "+provider) {
				l.ways = append(l.ways, way{provider, fmt.Sprintf("key of %s in %s", provider, l.named(name))})
			}
		case "oauth":
			all[provider] = l.subscription(provider, c, all[provider])
			l.ways = append(l.ways, way{provider, fmt.Sprintf("login of %s in %s", provider, l.named(name))})
		}
	}
	copied, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return // valid JSON stays valid
	}
	l.files = append(l.files, agent.File{Name: name, Data: copied})
}

// lasting are the providers whose logins renew as often as anybody likes, from
// something that stays the same.
func lasting() []string { return []string{"github-copilot", "openrouter", "meta"} }

// subscription returns an agent's copy of a login. A refresh token that rotates
// works once: a hundred copies would log each other out, and the user too. So
// the copy holds only the parts that are good until they expire.
func (l *finder) subscription(provider string, c credential, text json.RawMessage) json.RawMessage {
	if slices.Contains(lasting(), provider) {
		return text
	}
	members := map[string]json.RawMessage{}
	if json.Unmarshal(text, &members) != nil {
		return text
	}
	members["refresh"] = json.RawMessage(`""`)
	copied, err := json.Marshal(members)
	if err != nil {
		return json.RawMessage("{}")
	}
	ends := "soon"
	if c.Expires > 0 && c.Expires < 1<<53 {
		ends = "at " + time.UnixMilli(int64(c.Expires)).UTC().Format("2006-01-02 15:04 UTC")
	}
	l.risks = append(l.risks, fmt.Sprintf("agents cannot renew the login of %s, which ends %s: "+
		"run pi once before that, or use a key", provider, ends))
	return copied
}

// providers takes the providers that the user has added, local ones among
// them, and the catalogue of models that pi has fetched last.
func (l *finder) providers() {
	const name = "models.json"
	if text := l.file("models-store.json"); text != nil {
		l.files = append(l.files, agent.File{Name: "models-store.json", Data: text})
	}
	text := l.file(name)
	if text == nil {
		return
	}
	l.files = append(l.files, agent.File{Name: name, Data: text})
	var is struct {
		Providers map[string]struct {
			APIKey  string `json:"apiKey"`
			BaseURL string `json:"baseUrl"`
		} `json:"providers"`
	}
	// Keys and headers may name variables anywhere. Comments are allowed, so an
	// unreadable file may be right.
	l.values(string(text))
	if wire.Lenient(text, &is) != nil {
		l.ways = append(l.ways, way{"", "providers in " + l.named(name)})
		return
	}
	l.addresses = map[string]string{}
	for _, provider := range sortedKeys(is.Providers) {
		l.addresses[provider] = is.Providers[provider].BaseURL
		key := is.Providers[provider].APIKey
		if key != "" && l.value(key, "the key of "+provider) {
			l.ways = append(l.ways, way{provider, fmt.Sprintf("%s in %s", provider, l.named(name))})
		}
	}
}

// value takes the variables that a key names, and reports whether it can be
// had.
func (l *finder) value(key, what string) bool {
	if command, ok := strings.CutPrefix(key, "!"); ok {
		l.risks = append(l.risks, fmt.Sprintf("each agent runs %q for %s", command, what))
		return true
	}
	return l.values(key)
}

// values takes the variables that a text names, and reports whether all are
// set.
func (l *finder) values(text string) bool {
	all := true
	for _, m := range variable().FindAllStringSubmatch(text, -1) {
		switch name := m[1] + m[2]; {
		case name == "": // an escaped dollar
		case l.Getenv(name) == "":
			all = false
		default:
			l.pass(name)
		}
	}
	return all
}

// variable is a variable in a value of pi's files.
var variable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$(?:[$!]|([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})`)
})

func (l *finder) pass(name string) {
	if !slices.Contains(l.env, name) {
		l.env = append(l.env, name)
	}
}

// variables takes the keys of providers that pi finds by itself.
func (l *finder) variables() {
	for _, k := range keys() {
		if k.general && k.provider != l.defaultProvider || l.Getenv(k.name) == "" {
			continue
		}
		l.ways = append(l.ways, way{k.provider, "key in $" + k.name})
		l.pass(k.name)
		for _, name := range k.beside {
			if l.Getenv(name) != "" {
				l.pass(name)
			}
		}
	}
}

// instructions reads the user's instructions for every agent.
func (l *finder) instructions() {
	for _, names := range [][]string{
		{"AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"},
		{"SYSTEM.md"},
	} {
		for _, name := range names {
			if text := l.file(name); text != nil {
				l.files = append(l.files, agent.File{Name: name, Data: text})
				break
			}
		}
	}
	if text := l.file(appendFile); text != nil {
		l.files = append(l.files, agent.File{Name: appendFile, Data: text})
	}
}

func sortedKeys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
