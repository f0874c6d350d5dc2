package codex

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// turn is an answer of the model that a test has written.
type turn struct {
	Items  []object
	Fail   object // the response fails with this
	Status int    // the request is refused with this
	Header map[string]string
	Body   string
	Drop   bool          // the connection breaks after the items
	Wait   time.Duration // before anything
	In     int64         // tokens: of the request, of them cached, and of the answer
	Cached int64
	Out    int64
}

// text is a text of the model.
func text(words string) object {
	return object{"type": "message", "role": "assistant", "id": "m", "content": []object{{"type": "output_text", "text": words}}}
}

// shell is a call of the shell tool.
func shell(id, command string) object {
	return object{"type": "function_call", "call_id": id, "name": "exec_command", "arguments": string(object{"cmd": command}.json())}
}

// patch is a call of the shell tool that adds a file.
func patch(id, file, line string) object {
	return shell(id, "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: "+file+"\n+"+line+"\n*** End Patch\nEOF")
}

// model is a server of the Responses API that gives the answers of a test in
// turn, and repeats the last.
type model struct {
	*httptest.Server

	mu    sync.Mutex // guards the fields below
	turns []turn
	asked []request
	seen  chan struct{} // a value for each request
}

// request is a request to the model.
type request struct {
	Model     string            `json:"model"`
	Input     json.RawMessage   `json:"input"`
	Tools     []json.RawMessage `json:"tools"`
	Text      json.RawMessage   `json:"text"`
	Reasoning struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
	Authorization string `json:"-"`
}

func serve(t *testing.T, turns ...turn) *model {
	t.Helper()
	m := &model{turns: turns, seen: make(chan struct{}, 1000)}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

// requests are those that were made so far.
func (m *model) requests() []request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]request(nil), m.asked...)
}

func (m *model) next(r *http.Request) turn {
	var asked request
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &asked)
	asked.Authorization = r.Header.Get("Authorization")
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.turns[min(len(m.asked), len(m.turns)-1)]
	m.asked = append(m.asked, asked)
	m.seen <- struct{}{}
	return now
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/responses" {
		http.Error(w, "{}", http.StatusNotFound)
		return
	}
	now := m.next(r)
	if now.Wait > 0 {
		select {
		case <-time.After(now.Wait):
		case <-r.Context().Done():
			return
		}
	}
	for name, value := range now.Header {
		w.Header().Set(name, value)
	}
	if now.Status != 0 {
		w.WriteHeader(now.Status)
		fmt.Fprint(w, now.Body)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	say := func(kind string, o object) {
		o["type"] = kind
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, o.json())
		w.(http.Flusher).Flush()
	}
	say("response.created", object{"response": object{"id": "r"}})
	for i, item := range now.Items {
		say("response.output_item.done", object{"output_index": i, "item": item})
	}
	switch {
	case now.Drop:
		panic(http.ErrAbortHandler)
	case now.Fail != nil:
		say("response.failed", object{"response": object{"id": "r", "status": "failed", "error": now.Fail}})
	default:
		say("response.completed", object{"response": object{"id": "r", "usage": object{
			"input_tokens": now.In, "input_tokens_details": object{"cached_tokens": now.Cached},
			"output_tokens": now.Out, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": now.In + now.Out,
		}}})
	}
}
