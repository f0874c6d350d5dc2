// Package provider knows where models are served: the providers that need no
// configuration, and how configured providers are laid over them.
//
// It owns names, addresses, protocols and the variables that hold keys. It
// makes no requests, and reads no key but by the lookup that it is given.
package provider

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
)

// API is a protocol that models are asked by. The zero value is none.
type API string

// The APIs.
const (
	Chat      API = "chat"      // OpenAI's Chat Completions, which most local servers speak
	Responses API = "responses" // OpenAI's Responses
	Anthropic API = "anthropic" // Anthropic's Messages
)

// APIs are all there are.
func APIs() []API { return []API{Chat, Responses, Anthropic} }

// String is the word for the API.
func (a API) String() string { return string(a) }

// UnmarshalText refuses an API that is not known.
func (a *API) UnmarshalText(text []byte) error {
	if got := API(text); slices.Contains(APIs(), got) {
		*a = got
		return nil
	}
	return fmt.Errorf("unknown API %q: want chat, responses or anthropic", text)
}

// Provider is where models are.
type Provider struct {
	BaseURL string `json:"base_url,omitempty"`
	API     API    `json:"api,omitempty"`
	// KeyEnv names the variable that holds the key; empty: it takes none.
	KeyEnv string `json:"key_env,omitempty"`
	// Models are the models of the provider, by the provider's names.
	Models map[string]Facts `json:"models,omitempty"`
}

// Facts are the necessary facts of a model.
type Facts struct {
	ContextWindow int64 `json:"context_window,omitempty"` // tokens; 0: not known
	MaxOutput     int64 `json:"max_output,omitempty"`     // tokens of a reply; 0: not known
}

// builtin is a provider that needs no configuration.
type builtin struct {
	name, base string
	api        API
	prefix     string // of its variables: PREFIX_API_KEY and PREFIX_BASE_URL
	local      bool   // a server on this machine, which takes no key
}

// builtins are all of them, in the order of the alphabet.
func builtins() []builtin {
	return []builtin{
		{name: "anthropic", base: "https://api.anthropic.com", api: Anthropic, prefix: "ANTHROPIC"},
		{name: "cerebras", base: "https://api.cerebras.ai/v1", api: Chat, prefix: "CEREBRAS"},
		{name: "deepseek", base: "https://api.deepseek.com/v1", api: Chat, prefix: "DEEPSEEK"},
		{name: "fireworks", base: "https://api.fireworks.ai/inference/v1", api: Chat, prefix: "FIREWORKS"},
		{name: "groq", base: "https://api.groq.com/openai/v1", api: Chat, prefix: "GROQ"},
		{name: "lmstudio", base: "http://127.0.0.1:1234/v1", api: Chat, prefix: "LMSTUDIO", local: true},
		{name: "mistral", base: "https://api.mistral.ai/v1", api: Chat, prefix: "MISTRAL"},
		{name: "ollama", base: "http://127.0.0.1:11434/v1", api: Chat, prefix: "OLLAMA", local: true},
		{name: "openai", base: "https://api.openai.com/v1", api: Responses, prefix: "OPENAI"},
		{name: "openai-chat", base: "https://api.openai.com/v1", api: Chat, prefix: "OPENAI"},
		{name: "openrouter", base: "https://openrouter.ai/api/v1", api: Chat, prefix: "OPENROUTER"},
		{name: "together", base: "https://api.together.xyz/v1", api: Chat, prefix: "TOGETHER"},
		{name: "xai", base: "https://api.x.ai/v1", api: Chat, prefix: "XAI"},
	}
}

// key is the variable that holds the key; empty where none is taken.
func (b builtin) key() string {
	if b.local {
		return ""
	}
	return b.prefix + "_API_KEY"
}

// place is the variable that holds another address.
func (b builtin) place() string { return b.prefix + "_BASE_URL" }

// Known are the providers that need no configuration.
func Known(getenv func(string) string) map[string]Provider {
	all := map[string]Provider{}
	for _, b := range builtins() {
		all[b.name] = Provider{BaseURL: cmp.Or(getenv(b.place()), b.base), API: b.api, KeyEnv: b.key()}
	}
	return all
}

// BaseVariables are the variables that say where known providers are, each
// once.
func BaseVariables() []string {
	var all []string
	for _, b := range builtins() {
		if !slices.Contains(all, b.place()) {
			all = append(all, b.place())
		}
	}
	return all
}

// Guess returns the provider of a model that is named without a provider. It is
// the only hosted provider with a key; empty if there is none, or several. More
// are laid over the known providers.
func Guess(getenv func(string) string, more map[string]Provider) string {
	keys := Keys(more)
	switch openai, anthropic := getenv(keys["openai"]) != "", getenv(keys["anthropic"]) != ""; {
	case openai && !anthropic:
		return "openai"
	case anthropic && !openai:
		return "anthropic"
	}
	return ""
}

// Keys returns the variables of keys by provider. A known provider keeps its
// variable unless it was given another; empty for a provider that takes no key.
func Keys(more map[string]Provider) map[string]string {
	keys := map[string]string{}
	for name, p := range Known(func(string) string { return "" }) {
		keys[name] = p.KeyEnv
	}
	for name, p := range more {
		keys[name] = cmp.Or(p.KeyEnv, keys[name])
	}
	return keys
}

// Names are those of the known providers, in the order of the alphabet.
func Names() []string {
	return slices.Sorted(maps.Keys(Known(func(string) string { return "" })))
}

// Over returns the known providers with more laid over them. A provider takes
// its missing fields from the known provider of its name. But a key belongs to
// its address: a provider with another address has no key that it does not name
// itself.
func Over(getenv func(string) string, more map[string]Provider) map[string]Provider {
	all := Known(getenv)
	for name, p := range more {
		known := all[name]
		if p.KeyEnv == "" && (p.BaseURL == "" || p.BaseURL == known.BaseURL) {
			p.KeyEnv = known.KeyEnv
		}
		p.BaseURL, p.API = cmp.Or(p.BaseURL, known.BaseURL), cmp.Or(p.API, known.API, Chat)
		all[name] = p
	}
	return all
}

// Keyless reports whether a model names a provider that takes no key. More are
// laid over the known providers.
func Keyless(getenv func(string) string, more map[string]Provider, model string) bool {
	name, _, named := strings.Cut(model, "/")
	p, known := Over(getenv, more)[name]
	return named && known && p.KeyEnv == ""
}

// Lacking is the variable of the key that the provider of a model needs and that is
// not set; empty where the provider needs none, is not known or is asked elsewhere.
// More are laid over the known providers.
func Lacking(getenv func(string) string, more map[string]Provider, model string) string {
	name, _, named := strings.Cut(model, "/")
	p, known := Over(getenv, more)[name]
	if !named || !known || p.KeyEnv == "" || getenv(p.KeyEnv) != "" || !Keyed(p.BaseURL) {
		return ""
	}
	return p.KeyEnv
}

// Hosted reports whether an address is that of OpenAI or Anthropic, which take
// all that their APIs have. Others that speak those APIs leave parts out.
func Hosted(base string) bool {
	switch hostOf(base) {
	case "api.openai.com", "api.anthropic.com":
		return true
	}
	return false
}

// Keyed reports whether an address is that of a known provider that requires a
// key.
func Keyed(base string) bool {
	host := hostOf(base)
	return host != "" && slices.ContainsFunc(builtins(), func(b builtin) bool { return !b.local && hostOf(b.base) == host })
}

// hostOf is the host of a URL; empty where a text is none.
func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// Loopback reports whether a host is the machine itself.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// CheckURL explains why a text is not the address of a provider.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return fmt.Errorf("%q is not an http or https URL", text)
	case u.User != nil:
		// It would be shown wherever the address is.
		return fmt.Errorf("a URL holds no password: name the variable of the key instead")
	default:
		return nil
	}
}
