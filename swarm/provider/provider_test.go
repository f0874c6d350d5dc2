package provider

import (
	"reflect"
	"slices"
	"testing"
)

func TestOver(t *testing.T) {
	t.Parallel()
	env := map[string]string{"OPENAI_BASE_URL": "http://proxy/v1"}
	getenv := func(name string) string { return env[name] }
	facts := map[string]Facts{"m": {ContextWindow: 5}}
	for _, tt := range []struct {
		name, of   string
		give, want Provider
	}{
		{"a new one", "mine", Provider{BaseURL: "http://h/v1", KeyEnv: "K"}, Provider{BaseURL: "http://h/v1", API: Chat, KeyEnv: "K"}},
		{"a new one of another API", "mine", Provider{BaseURL: "http://h", API: Anthropic}, Provider{BaseURL: "http://h", API: Anthropic}},
		{
			"models of a known one", "openai", Provider{Models: facts},
			Provider{BaseURL: "http://proxy/v1", API: Responses, KeyEnv: "OPENAI_API_KEY", Models: facts},
		},
		{"a known one elsewhere gets no key", "openai", Provider{BaseURL: "http://h/v1"}, Provider{BaseURL: "http://h/v1", API: Responses}},
		{
			"but its own", "openai", Provider{BaseURL: "http://h/v1", KeyEnv: "K"},
			Provider{BaseURL: "http://h/v1", API: Responses, KeyEnv: "K"},
		},
		{"the same place", "openai", Provider{BaseURL: "http://proxy/v1"}, Provider{BaseURL: "http://proxy/v1", API: Responses, KeyEnv: "OPENAI_API_KEY"}},
		{"another API of a known one", "openai", Provider{API: Chat}, Provider{BaseURL: "http://proxy/v1", API: Chat, KeyEnv: "OPENAI_API_KEY"}},
	} {
		got := Over(getenv, map[string]Provider{tt.of: tt.give})
		if !reflect.DeepEqual(got[tt.of], tt.want) {
			t.Errorf("%s: Over = %+v, want %+v", tt.name, got[tt.of], tt.want)
		}
		for _, name := range Names() {
			if _, ok := got[name]; !ok {
				t.Errorf("%s: %s is gone", tt.name, name)
			}
		}
	}
}

// TestKnown: each provider has its address and the variable of its key. Each
// takes another address and counts as a provider that wants a key.
func TestKnown(t *testing.T) {
	t.Parallel()
	none := Known(func(string) string { return "" })
	var names []string
	for _, tt := range []struct {
		name, base, key, place string
		api                    API
	}{
		{"anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", Anthropic},
		{"cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", "CEREBRAS_BASE_URL", Chat},
		{"deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL", Chat},
		{"fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", "FIREWORKS_BASE_URL", Chat},
		{"groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", "GROQ_BASE_URL", Chat},
		{"lmstudio", "http://127.0.0.1:1234/v1", "", "LMSTUDIO_BASE_URL", Chat},
		{"mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "MISTRAL_BASE_URL", Chat},
		{"ollama", "http://127.0.0.1:11434/v1", "", "OLLAMA_BASE_URL", Chat},
		{"openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL", Responses},
		{"openai-chat", "https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL", Chat},
		{"openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "OPENROUTER_BASE_URL", Chat},
		{"together", "https://api.together.xyz/v1", "TOGETHER_API_KEY", "TOGETHER_BASE_URL", Chat},
		{"xai", "https://api.x.ai/v1", "XAI_API_KEY", "XAI_BASE_URL", Chat},
	} {
		names = append(names, tt.name)
		want := Provider{BaseURL: tt.base, API: tt.api, KeyEnv: tt.key}
		if got := none[tt.name]; !reflect.DeepEqual(got, want) {
			t.Errorf("Known %s = %+v, want %+v", tt.name, got, want)
		}
		if got := Keyed(tt.base); got != (tt.key != "") {
			t.Errorf("Keyed(%s) = %t", tt.base, got)
		}
		if !slices.Contains(BaseVariables(), tt.place) {
			t.Errorf("%s is none of BaseVariables", tt.place)
		}
		moved := Known(func(name string) string { return map[string]string{tt.place: "http://h/v1"}[name] })
		if moved[tt.name].BaseURL != "http://h/v1" {
			t.Errorf("%s is not moved by %s", tt.name, tt.place)
		}
	}
	if !slices.Equal(Names(), names) {
		t.Errorf("Names() = %v, want %v", Names(), names)
	}
	for _, base := range []string{"", "http://h/v1", "http://127.0.0.1:80/v1", "\x00"} {
		if Keyed(base) {
			t.Errorf("Keyed(%q)", base)
		}
	}
}

// TestGuess: with two keys the provider is not known.
func TestGuess(t *testing.T) {
	t.Parallel()
	own := map[string]Provider{"anthropic": {KeyEnv: "WORK_KEY"}, "openai": {BaseURL: "http://h/v1"}, "mine": {KeyEnv: "MINE_KEY"}}
	for _, tt := range []struct {
		keys []string
		more map[string]Provider
		want string
	}{
		{nil, nil, ""}, {[]string{"OPENAI_API_KEY"}, nil, "openai"}, {[]string{"ANTHROPIC_API_KEY"}, nil, "anthropic"},
		{[]string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY"}, nil, ""}, {[]string{"GEMINI_API_KEY"}, nil, ""},
		{[]string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY"}, own, "openai"}, {[]string{"WORK_KEY"}, own, "anthropic"},
	} {
		getenv := func(name string) string {
			if slices.Contains(tt.keys, name) {
				return "x"
			}
			return ""
		}
		if got := Guess(getenv, tt.more); got != tt.want {
			t.Errorf("Guess with %v = %q, want %q", tt.keys, got, tt.want)
		}
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]bool{
		"http://127.0.0.1:80/v1": true, "https://h": true, "h/v1": false, "ftp://h": false, "http://": false, "": false, "http://\x00": false,
		"https://me:secret@h/v1": false, "https://me@h": false,
	} {
		if err := CheckURL(give); (err == nil) != want {
			t.Errorf("CheckURL(%q) = %v, want it right: %t", give, err, want)
		}
	}
}

func TestAPI(t *testing.T) {
	t.Parallel()
	for _, want := range APIs() {
		var got API
		if err := got.UnmarshalText([]byte(want.String())); err != nil || got != want {
			t.Errorf("UnmarshalText(%s) = %q, %v", want, got, err)
		}
	}
	var none API
	if none.UnmarshalText(nil) == nil || none.UnmarshalText([]byte("gemini")) == nil {
		t.Error("an unknown API is taken")
	}
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.9.9.9": true, "::1": true, "localhost": true, "LocalHost": true,
		"10.0.0.1": false, "localhost.test": false, "": false,
	} {
		if got := Loopback(host); got != want {
			t.Errorf("Loopback(%q) = %t", host, got)
		}
	}
}

func TestKeyless(t *testing.T) {
	t.Parallel()
	more := map[string]Provider{"mine": {BaseURL: "http://127.0.0.1:1/v1"}, "paid": {BaseURL: "https://p.test", KeyEnv: "P_KEY"}}
	for model, want := range map[string]bool{
		"ollama/qwen3-coder:30b": true, "mine/m": true,
		"paid/m": false, "openai/gpt-5.2": false, "anthropic/x": false, "other/m": false, "ollama": false, "": false,
	} {
		if got := Keyless(func(string) string { return "" }, more, model); got != want {
			t.Errorf("Keyless(%q) = %t", model, got)
		}
	}
}

// TestLacking holds which variable a model needs that is not set.
func TestLacking(t *testing.T) {
	t.Parallel()
	more := map[string]Provider{
		"own":  {BaseURL: "https://models.example.com/v1", KeyEnv: "OWN_KEY"},
		"open": {BaseURL: "http://127.0.0.1:1/v1"},
	}
	for _, test := range []struct {
		model, want string
		env         map[string]string
	}{
		{"anthropic/m", "ANTHROPIC_API_KEY", nil},
		{"anthropic/m", "ANTHROPIC_API_KEY", map[string]string{"OPENAI_API_KEY": "k"}},
		{"anthropic/m", "", map[string]string{"ANTHROPIC_API_KEY": "k"}},
		{"anthropic/m", "", map[string]string{"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}},
		{"ollama/m", "", nil},
		{"own/m", "", nil}, // it may answer without a key
		{"open/m", "", nil},
		{"unknown/m", "", nil},
		{"m", "", nil},
		{"", "", nil},
	} {
		if got := Lacking(func(name string) string { return test.env[name] }, more, test.model); got != test.want {
			t.Errorf("Lacking(%q) with %v = %q, want %q", test.model, test.env, got, test.want)
		}
	}
}
