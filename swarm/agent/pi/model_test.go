package pi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// answer is the model's answer to a request.
type answer struct {
	text   string
	calls  []call
	stop   string // overrides the stop reason that follows from its calls
	status int    // an error of HTTP
	body   string // of the error
	after  string // its Retry-After
	drop   bool   // the connection is cut in the middle
	n      int    // of the request
}

// call is a tool the model wants to use.
type call struct {
	name string
	args map[string]any
}

// asked is a request to the model, as far as tests look at it.
type asked struct {
	N        int       `json:"-"`
	At       time.Time `json:"-"`
	Text     string    `json:"-"` // the whole of it
	Login    string    `json:"-"`
	Results  int       `json:"-"` // of tools, since the last prompt
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
}

// tools are the names of those the model was offered.
func (a *asked) tools() string {
	var names []string
	for _, tool := range a.Tools {
		names = append(names, tool.Name)
	}
	return strings.Join(names, " ")
}

// model is a server that answers as Anthropic's does.
type model struct {
	*httptest.Server
	reply func(*asked) answer

	mu    sync.Mutex // guards the fields below
	asked []*asked
}

func serve(t *testing.T, reply func(*asked) answer) *model {
	m := &model{reply: reply}
	m.Server = httptest.NewServer(m)
	t.Cleanup(func() {
		m.CloseClientConnections()
		m.Close()
	})
	return m
}

// requests are those that came.
func (m *model) requests() []*asked {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}

// ServeHTTP answers a request.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var a asked
	var raw json.RawMessage
	if json.NewDecoder(r.Body).Decode(&raw) != nil || json.Unmarshal(raw, &a) != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	a.Text, a.At, a.Login = string(raw), time.Now(), r.Header.Get("Authorization")
	for _, message := range a.Messages {
		results := strings.Count(string(message.Content), `"tool_result"`)
		if a.Results += results; message.Role == "user" && results == 0 {
			a.Results = 0
		}
	}
	m.mu.Lock()
	m.asked = append(m.asked, &a)
	a.N = len(m.asked)
	m.mu.Unlock()
	is := m.reply(&a)
	is.n = a.N
	is.send(w)
}

func (is *answer) send(w http.ResponseWriter) {
	if is.status != 0 {
		if is.after != "" {
			w.Header().Set("Retry-After", is.after)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(is.status)
		_, _ = fmt.Fprint(w, is.body)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for i, e := range is.events() {
		if is.drop && i == 3 {
			panic(http.ErrAbortHandler)
		}
		text, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], text)
		_ = http.NewResponseController(w).Flush()
	}
}

// object is an object of JSON.
type object = map[string]any

// events returns the stream of an answer: 100 tokens in, 20 more out of the
// cache, 10 out.
func (is *answer) events() []object {
	all := []object{{"type": "message_start", "message": object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "fake-model", "content": []any{},
		"usage": object{"input_tokens": 100, "cache_read_input_tokens": 20, "output_tokens": 1},
	}}}
	n := 0
	add := func(start, delta object) {
		all = append(all,
			object{"type": "content_block_start", "index": n, "content_block": start},
			object{"type": "content_block_delta", "index": n, "delta": delta},
			object{"type": "content_block_stop", "index": n})
		n++
	}
	if is.text != "" {
		add(object{"type": "text", "text": ""}, object{"type": "text_delta", "text": is.text})
	}
	stop := "end_turn"
	for i, c := range is.calls {
		stop = "tool_use"
		args, err := json.Marshal(c.args)
		if err != nil {
			panic(err)
		}
		add(object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", is.n, i), "name": c.name, "input": object{}},
			object{"type": "input_json_delta", "partial_json": string(args)})
	}
	if is.stop != "" {
		stop = is.stop
	}
	return append(all,
		object{"type": "message_delta", "delta": object{"stop_reason": stop}, "usage": object{"output_tokens": 10}},
		object{"type": "message_stop"})
}
