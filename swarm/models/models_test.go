package models

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentswarm/roles"
	"agentswarm/swarm/modeltest"
)

func names(all []Model) string {
	var text []string
	for _, m := range all {
		text = append(text, m.Name)
	}
	return strings.Join(text, " ")
}

// TestAsk asks a server that knows all dialects but Ollama's, by each.
func TestAsk(t *testing.T) {
	t.Parallel()
	s := modeltest.Start(t, modeltest.Script{Models: []string{"z-1", "a-2"}, Key: "sesame"})
	for _, source := range []Source{
		{Dialect: OpenAI, URL: s.URL() + "/v1"}, {Dialect: OpenAI, URL: s.URL() + "/v1/"}, {Dialect: Anthropic, URL: s.URL()},
		{Dialect: Anthropic, URL: s.URL() + "/v1"}, {Dialect: Gemini, URL: s.URL()}, {Dialect: Gemini, URL: s.URL() + "/v1beta/"},
		{Dialect: Ollama, URL: s.URL() + "/v1"},
	} {
		source.Key = "sesame"
		got, err := source.Ask(t.Context())
		if err != nil || names(got) != "a-2 z-1" {
			t.Errorf("%s %s: Ask = %v, %v", source.Dialect, source.URL, got, err)
		}
		source.Key = "sk-wrong"
		_, err = source.Ask(t.Context())
		var status *StatusError
		if !errors.As(err, &status) || status.Code != http.StatusUnauthorized || strings.Contains(err.Error(), "sk-wrong") {
			t.Errorf("%s %s with a wrong key: %v", source.Dialect, source.URL, err)
		}
	}
	if _, err := (Source{URL: s.URL()}).Ask(t.Context()); err == nil {
		t.Error("no dialect is asked by")
	}
}

// serve answers all requests by a function.
func serve(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL
}

// TestAskPages follows pages as far as there are some, and no further than it
// must.
func TestAskPages(t *testing.T) {
	t.Parallel()
	asked := 0
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch q := r.URL.Query(); {
		case q.Get("after_id") == "":
			_, _ = w.Write([]byte(`{"data":[{"id":"one","max_input_tokens":7,"max_tokens":3}],"has_more":true,"last_id":"o&e"}`))
		case q.Get("after_id") == "o&e":
			_, _ = w.Write([]byte(`{"data":[{"id":"two"}],"has_more":false,"last_id":"two"}`))
		default:
			t.Errorf("it is asked for %s", r.URL)
		}
	})
	got, err := Source{Dialect: Anthropic, URL: at}.Ask(t.Context())
	want := []Model{{Name: "one", Window: roles.Window{Context: 7, Output: 3}}, {Name: "two"}}
	if err != nil || !reflect.DeepEqual(got, want) || asked != 2 {
		t.Errorf("Ask = %+v, %v after %d requests, want %+v", got, err, asked, want)
	}
	asked = 0
	at = serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = w.Write([]byte(`{"models":[{"name":"models/m"}],"nextPageToken":"again"}`))
	})
	if got, err := (Source{Dialect: Gemini, URL: at}).Ask(t.Context()); err != nil || names(got) != "m" || asked != mostPages {
		t.Errorf("of pages without an end Ask = %+v, %v after %d requests", got, err, asked)
	}
}

// TestAskRefuses: an answer that is not a list, or comes from elsewhere, is an
// error, and the error does not repeat the answer.
func TestAskRefuses(t *testing.T) {
	t.Parallel()
	elsewhere := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the key goes elsewhere: %v", r.Header)
	})
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a redirect": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere, http.StatusFound) }, "it answers 302 Found: it is elsewhere, where no key is sent"},
		"an error that repeats the key": {
			func(w http.ResponseWriter, r *http.Request) {
				http.Error(w, "no such key: "+r.Header.Get("x-api-key"), http.StatusForbidden)
			},
			"it answers 403 Forbidden: the key is not taken",
		},
		"no JSON":  {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, "its answer is not a list of models"},
		"no list":  {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }, "its answer is not a list of models"},
		"too long": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, mostBytes+1)) }, "its list is longer than 8 MiB"},
	} {
		_, err := Source{Dialect: Anthropic, URL: serve(t, tt.answer), Key: "sk-secret"}.Ask(t.Context())
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
	_, err := Source{Dialect: OpenAI, URL: strings.Replace(modeltest.Nobody(t), "http://", "http://me:sk-secret@", 1)}.Ask(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "no answer: ") || strings.Contains(err.Error(), "secret") {
		t.Errorf("where nobody is: %v", err)
	}
}

func TestReadOllama(t *testing.T) {
	t.Parallel()
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/tags" {
			t.Errorf("it is asked for %s", r.URL)
		}
		_, _ = w.Write([]byte(`{"models":[{"name":"qwen3:30b","size":1},{"name":"bad\u001b[31m"},{"name":""}]}`))
	})
	if got, err := (Source{Dialect: Ollama, URL: at + "/v1"}).Ask(t.Context()); err != nil || names(got) != "qwen3:30b" {
		t.Errorf("Ask = %+v, %v", got, err)
	}
}

// TestReadOpenAI: facts that some providers add to the names of models.
func TestReadOpenAI(t *testing.T) {
	t.Parallel()
	some := func(f float64) *float64 { return &f }
	for give, want := range map[string]Model{
		`{"id":"m"}`: {Name: "m"},
		`{"id":"m","context_length":5,"top_provider":{"max_completion_tokens":3}}`: {Name: "m", Window: roles.Window{Context: 5, Output: 3}},
		`{"id":"m","context_window":6,"max_completion_tokens":2}`:                  {Name: "m", Window: roles.Window{Context: 6, Output: 2}},
		`{"id":"m","max_model_len":"7","context_length":null}`:                     {Name: "m", Window: roles.Window{Context: 7}},
		`{"id":"m","context_length":-5,"max_completion_tokens":1e300}`:             {Name: "m"},
		`{"id":"m","pricing":{"prompt":"0.0000012","completion":"0.000006"}}`:      {Name: "m", Price: &roles.Price{Input: 1.2, Output: 6}},
		`{"id":"m","pricing":{"prompt":"0","completion":"0"}}`:                     {Name: "m", Price: &roles.Price{}},
		`{"id":"m","pricing":{"prompt":"-1","completion":"-1"}}`:                   {Name: "m"},
		`{"id":"m","pricing":{"prompt":"1.2","completion":"6"}}`:                   {Name: "m"},
		`{"id":"m","pricing":{"prompt":1.2,"completion":6}}`:                       {Name: "m"},
		`{"id":"m","pricing":{"prompt":"NaN","completion":"Inf"}}`:                 {Name: "m"},
		`{"id":"m","context_length":2000000000000}`:                                {Name: "m"},
		`{"id":"m","pricing":{"prompt":0.0000012,"completion":0.000006}}`:          {Name: "m"},
		`{"id":"m","pricing":[1]}`:                                                 {Name: "m"},
		`{"id":"m","pricing":{"prompt":"0.000001","completion":"0.000002","input_cache_read":"0.0000001","input_cache_write":"0.000002"}}`: {
			Name: "m", Price: &roles.Price{Input: 1, Output: 2, CacheRead: some(0.1), CacheWrite: some(2)},
		},
	} {
		bare, err := readOpenAI([]byte(" [" + give + "]"))
		if err != nil || len(bare.models) != 1 || bare.models[0].Name == "" {
			t.Errorf("%s alone: %+v, %v", give, bare, err)
		}
		p, err := readOpenAI([]byte(`{"data":[` + give + `]}`))
		if err != nil || len(p.models) != 1 || !reflect.DeepEqual(p.models[0], want) {
			t.Errorf("%s: %+v, %v, want %+v", give, p.models, err, want)
		}
	}
}

func TestReadGemini(t *testing.T) {
	t.Parallel()
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1beta/models" {
			t.Errorf("it is asked for %s", r.URL)
		}
		_, _ = w.Write([]byte(`{"models":[]}`))
	})
	for _, base := range []string{at, at + "/v1beta/"} { // as its clients are told, and as people write it
		if _, err := (Source{Dialect: Gemini, URL: base}).Ask(t.Context()); err != nil {
			t.Errorf("%s: %v", base, err)
		}
	}
	p, err := readGemini([]byte(`{"models":[{"name":"models/g","inputTokenLimit":9,"outputTokenLimit":4,"supportedGenerationMethods":["generateContent"]},
		{"name":"models/e","supportedGenerationMethods":["embedContent"]},{"name":"models/u"}]}`))
	want := []Model{{Name: "g", Window: roles.Window{Context: 9, Output: 4}}, {Name: "u"}}
	if err != nil || !reflect.DeepEqual(p.models, want) {
		t.Errorf("readGemini = %+v, %v, want %+v", p.models, err, want)
	}
}

// FuzzRead holds that whatever is answered comes to names that can be shown, and
// to numbers that can be.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"data":[{"id":"m","context_length":"5","pricing":{"prompt":"0.1e-7","completion":"1e-6"}}]}`, `{"data":null}`, `[]`,
		`{"models":[{"name":"models/a b","inputTokenLimit":-1}],"nextPageToken":"x"}`, `{"data":[{"id":"\u202e"}],"has_more":true}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, read := range []func([]byte) (page, error){readOpenAI, readAnthropic, readGemini, readOllama} {
			p, err := read(text)
			if err != nil {
				continue
			}
			for _, m := range Tidy(p.models) {
				if !Named(m.Name) || m.Window.Context < 0 || m.Window.Output < 0 {
					t.Errorf("%q has %+v", text, m)
				}
				if m.Price != nil && !(m.Price.Input >= 0 && m.Price.Output >= 0 && m.Price.Input < math.MaxInt32) {
					t.Errorf("%q has the price %+v", text, *m.Price)
				}
			}
		}
	})
}

func TestNamed(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]bool{
		"gpt-5": true, "a/b:c@d": true, "模型": true, "": false, "a b": false, "a\n": false, "\x1b[1m": false, "\xff": false, "a\u202eb": false,
		"a\u00a0b": false, strings.Repeat("x", 200): true, strings.Repeat("x", 201): false,
	} {
		if got := Named(give); got != want {
			t.Errorf("Named(%q) = %t, want %t", give, got, want)
		}
	}
}

func TestTidy(t *testing.T) {
	t.Parallel()
	got := Tidy([]Model{{Name: "b"}, {Name: ""}, {Name: "a", Window: roles.Window{Context: -1}}, {Name: "b", Window: roles.Window{Context: 2}}})
	if want := []Model{{Name: "a"}, {Name: "b"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("Tidy = %+v, want %+v", got, want)
	}
	many := make([]Model, mostModels+10)
	for i := range many {
		many[i].Name = strings.Repeat("x", 1+i%100) + string(rune(0x4e00+i/100))
	}
	if got := Tidy(many); len(got) != mostModels {
		t.Errorf("Tidy keeps %d of %d", len(got), len(many))
	}
}

func TestCache(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deep", "lists.json")
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	c := OpenCache(path)
	if _, _, ok := c.Get("x", now); ok {
		t.Error("an empty one has an answer")
	}
	price := roles.Price{Input: 1, Output: 2}
	want := []Model{{Name: "m", Window: roles.Window{Context: 5}, Price: &price}}
	c.Put("x", want, now)
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v, want it for its owner alone", info.Mode(), err)
	}
	c = OpenCache(path)
	if got, asked, ok := c.Get("x", now.Add(MaxAge-time.Second)); !ok || !asked.Equal(now) || !reflect.DeepEqual(got, want) {
		t.Errorf("Get = %+v, %v, %t, want %+v", got, asked, ok, want)
	}
	for name, at := range map[string]time.Time{"a day later": now.Add(MaxAge), "before it was asked": now.Add(-time.Hour)} {
		if _, _, ok := c.Get("x", at); ok {
			t.Errorf("%s it is still good", name)
		}
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	hidden, also := filepath.Glob(filepath.Join(filepath.Dir(path), ".*-*"))
	if err != nil || also != nil || len(left) != 1 || len(hidden) != 0 {
		t.Errorf("beside the file there are %v and %v", left, hidden)
	}
}

// TestCacheDamaged: a file that cannot be read counts as empty, and is
// replaced.
func TestCacheDamaged(t *testing.T) {
	t.Parallel()
	now := time.Now()
	good, err := json.Marshal(cacheFile{cacheVersion, map[string]answer{"x": {now, []Model{{Name: "m"}, {Name: "bad\x1b"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"nothing": "", "no JSON": "{", "cut": string(good[:len(good)-5]), "another version": strings.Replace(string(good), `"version":1`, `"version":2`, 1),
		"another shape": `{"version":1,"answers":[]}`,
	} {
		path := filepath.Join(t.TempDir(), "lists.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := OpenCache(path)
		if _, _, ok := c.Get("x", now); ok {
			t.Errorf("%s: it has an answer", name)
		}
		c.Put("x", []Model{{Name: "n"}}, now)
		if err := c.Save(); err != nil {
			t.Errorf("%s: it cannot be replaced: %v", name, err)
		}
		if got, _, ok := OpenCache(path).Get("x", now); !ok || names(got) != "n" {
			t.Errorf("%s: it is not replaced: %+v", name, got)
		}
	}
	path := filepath.Join(t.TempDir(), "lists.json")
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _, ok := OpenCache(path).Get("x", now); !ok || names(got) != "m" {
		t.Errorf("of a file that somebody changed Get = %+v, %t", got, ok)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := OpenCache(pipe).Get("x", now); ok {
		t.Error("a pipe has an answer")
	}
}

func FuzzCache(f *testing.F) {
	f.Add([]byte(`{"version":1,"answers":{"x":{"asked":"2026-11-21T12:00:00Z","models":[{"name":"m"}]}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "lists.json")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for who := range OpenCache(path).answers {
			for _, m := range OpenCache(path).answers[who].Models {
				if !Named(m.Name) {
					t.Errorf("%q has %q", text, m.Name)
				}
			}
		}
	})
}
