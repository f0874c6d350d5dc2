package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestLimit holds requests in work until the others are refused.
func TestLimit(t *testing.T) {
	t.Parallel()
	const limit, all = 3, 10
	s := Start(t, Script{Limit: limit, Rules: []Rule{{Turn: Turn{Text: Pieces{"ok"}, Hold: true}}}})
	replies := make(chan reply, all)
	var asking sync.WaitGroup
	for range all {
		asking.Go(func() { replies <- askChat(t, s.URL(), question{prompt: "x"}) })
	}
	if err := s.Await(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	if have, want := s.Stats(), (Stats{Requests: all, Refused: all - limit, Working: limit, Highest: limit}); have != want {
		t.Errorf("Stats() = %+v, want %+v", have, want)
	}
	s.Release()
	asking.Wait()
	close(replies)
	good, refused := 0, 0
	for r := range replies {
		switch {
		case r.Text == "ok":
			good++
		case r.Status == http.StatusTooManyRequests && r.After == "1":
			refused++
		}
	}
	if good != limit || refused != all-limit {
		t.Errorf("answered %d, refused %d, want %d, %d", good, refused, limit, all-limit)
	}
	if err := s.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := askChat(t, s.URL(), question{prompt: "x"}); r.Text != "ok" {
		t.Errorf("after all: %+v, want an answer", r)
	}
}

// TestTries has a client that is refused first and tries again.
func TestTries(t *testing.T) {
	t.Parallel()
	first := 0
	each(t, func(t *testing.T, _ Dialect, ask func(string, question) reply) {
		s := Start(t, Script{Rules: []Rule{
			{When: When{Tries: &first}, Turn: Turn{Error: &Error{Status: 500}}}, {Turn: Turn{Text: Pieces{"ok"}}},
		}})
		for _, prompt := range []string{"a", "b"} {
			if r := ask(s.URL(), question{prompt: prompt}); r.Status != 500 {
				t.Errorf("first of %s: %+v, want 500", prompt, r)
			}
			if r := ask(s.URL(), question{prompt: prompt}); r.Text != "ok" {
				t.Errorf("second of %s: %+v, want an answer", prompt, r)
			}
		}
	})
}

// TestKey: a request without the key gets no answer, and the key is not
// recorded.
func TestKey(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d Dialect, ask func(string, question) reply) {
		if r := ask(Start(t, Script{Key: "another"}).URL(), question{prompt: "x"}); r.Status != http.StatusUnauthorized {
			t.Errorf("reply with a wrong key = %+v, want 401", r)
		}
		s := Start(t, Script{Key: secret, Rules: []Rule{{Turn: Turn{Text: Pieces{"ok"}}}}})
		if r := ask(s.URL(), question{prompt: "x", results: []string{"r"}}); r.Text != "ok" {
			t.Errorf("reply = %+v, want ok", r)
		}
		kept := s.Requests()
		text, err := json.Marshal(kept)
		if err != nil || strings.Contains(string(text), secret) {
			t.Errorf("kept %s, %v, want no key", text, err)
		}
		if !strings.Contains(string(text), hidden) {
			t.Errorf("kept %s, want that there was a key", text)
		}
		r := kept[0]
		if r.Dialect != d || r.Model != "m" || r.User != "x" || strings.TrimSpace(r.System) != "be brief" || r.Results != 1 ||
			!strings.Contains(r.Result, "r") || len(r.Tools) != 1 || r.Tools[0] != "bash" || r.Status != 200 || r.Rule != 0 {
			t.Errorf("Requests()[0] = %+v, want what was asked", r)
		}
		if r.Stream != strings.HasSuffix(t.Name(), "stream=true") {
			t.Errorf("Requests()[0].Stream = %t", r.Stream)
		}
	})
}

// TestBadBody is refused in the dialect's words, and kept as it came.
func TestBadBody(t *testing.T) {
	t.Parallel()
	s := Start(t, Script{})
	for _, path := range []string{"/v1/messages", "/v1/chat/completions", "/v1/responses", "/v1beta/models/m:generateContent"} {
		w, err := http.Post(s.URL()+path, "application/json", strings.NewReader("{\"a")) // ends with the server
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(w.Body)
		_ = w.Body.Close()
		if err != nil || w.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), `"error":{`) {
			t.Errorf("POST %s = %d %s, %v, want 400 with an error", path, w.StatusCode, text, err)
		}
	}
	kept := s.Requests()
	if len(kept) != 4 || string(kept[0].Body) != `"{\"a"` || kept[0].Status != http.StatusBadRequest {
		t.Errorf("Requests() = %+v, want four with their bodies", kept)
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	s := Start(t, Script{Forget: true, Rules: []Rule{{Turn: Turn{Text: Pieces{"ok"}}}}})
	askChat(t, s.URL(), question{prompt: "x"})
	if err := s.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if have := s.Requests(); len(have) != 0 || s.Stats().Requests != 1 {
		t.Errorf("Requests() = %v, want none, and one counted", have)
	}
}

// TestGone has a client that leaves while its answer is held, and a client
// whose answer comes slowly.
func TestGone(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]Turn{
		"held":  {Text: Pieces{"a"}, Hold: true},
		"delay": {Text: Pieces{"a"}, Delay: Duration(time.Hour)},
		"gap":   {Text: Pieces{"a", "b"}, Gap: Duration(time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Start(t, Script{Rules: []Rule{{Turn: turn}}})
			ctx, cancel := context.WithCancel(t.Context())
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/v1/chat/completions",
				strings.NewReader(`{"stream":true,"messages":[{"role":"user","content":"x"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				if w, err := http.DefaultClient.Do(r); err == nil {
					_, _ = io.Copy(io.Discard, w.Body)
					_ = w.Body.Close()
				}
			}()
			if err := s.Await(t.Context(), 1); err != nil {
				t.Error(err)
			}
			cancel()
			<-done
			if err := s.Idle(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestClose: Close ends held requests.
func TestClose(t *testing.T) {
	t.Parallel()
	s, err := New(Script{Rules: []Rule{{Turn: Turn{Text: Pieces{"a"}, Hold: true}}}})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan reply)
	go func() { done <- askChat(t, s.URL(), question{prompt: "x"}) }()
	if err := s.Await(t.Context(), 1); err != nil {
		t.Error(err)
	}
	s.Close()
	s.Close()
	if r := <-done; !r.Cut {
		t.Errorf("reply = %+v, want a cut", r)
	}
	if n := s.Stats().Working; n != 0 {
		t.Errorf("%d in work after Close, want none", n)
	}
}

// TestCloseCuts: held requests get no answer at all, even if the connection is
// cut only after their release.
func TestCloseCuts(t *testing.T) {
	t.Parallel()
	s, err := New(Script{Rules: []Rule{{Turn: Turn{Text: Pieces{"a"}, Hold: true}}}})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	// It is asked without a connection, which Close has nothing of to cut.
	w := httptest.NewRecorder()
	defer func() {
		if cut := recover(); cut != http.ErrAbortHandler || w.Body.Len() > 0 {
			t.Errorf("it ends with %v, and answers %q: want the connection cut", cut, w.Body)
		}
	}()
	s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions",
		strings.NewReader(`{"messages":[{"role":"user","content":"x"}]}`)))
}

// TestNobody is refused, wherever others listen meanwhile.
func TestNobody(t *testing.T) {
	t.Parallel()
	at := Nobody(t)
	for range 100 {
		Start(t, Script{})
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := http.DefaultClient.Do(r)
	if err == nil {
		_ = w.Body.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("GET %s = %v, want %v", at, err, syscall.ECONNREFUSED)
	}
}

func TestAside(t *testing.T) {
	t.Parallel()
	s := Start(t, Script{Models: []string{"m-1", "m-2"}})
	tests := []struct {
		method, path, want string
	}{
		{http.MethodGet, "/v1/models", `"id":"m-2"`},
		{http.MethodGet, "/v1beta/models", `"name":"models/m-2"`},
		{http.MethodPost, "/v1/messages/count_tokens", `{"input_tokens":2}`},
		{http.MethodPost, "/v1beta/models/m:countTokens", `{"totalTokens":2}`},
		{http.MethodGet, "/v1/messages", "404"},
		{http.MethodPost, "/v1/other", "404"},
		{http.MethodHead, "/", ""},
	}
	for _, tt := range tests {
		r, err := http.NewRequestWithContext(t.Context(), tt.method, s.URL()+tt.path, strings.NewReader("12345678"))
		if err != nil {
			t.Fatal(err)
		}
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(w.Body)
		_ = w.Body.Close()
		if err != nil || !strings.Contains(string(text), tt.want) {
			t.Errorf("%s %s = %s, %v, want %s", tt.method, tt.path, text, err, tt.want)
		}
	}
	if n := s.Stats().Requests; n != 0 {
		t.Errorf("%d requests for an answer, want none", n)
	}
}

// TestSerial: a rule can apply to a request by its number, whatever it asks.
func TestSerial(t *testing.T) {
	t.Parallel()
	second := 2
	each(t, func(t *testing.T, _ Dialect, ask func(string, question) reply) {
		s := Start(t, Script{Rules: []Rule{
			{When: When{Serial: &second}, Turn: Turn{Error: &Error{Status: 500}}}, {Turn: Turn{Text: Pieces{"ok"}}},
		}})
		for i, prompt := range []string{"a", "b", "a"} {
			if r := ask(s.URL(), question{prompt: prompt}); (r.Status == 500) != (i == 1) {
				t.Errorf("request %d: %+v", i+1, r)
			}
		}
	})
}
