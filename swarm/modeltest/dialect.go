package modeltest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// Dialect is an API.
type Dialect string

// The four there are.
const (
	Anthropic Dialect = "anthropic"
	Chat      Dialect = "chat"
	Responses Dialect = "responses"
	Gemini    Dialect = "gemini"
)

// dialect is how an API is spoken.
type dialect interface {
	read(at *url.URL, body []byte) (*conversation, error)
	whole(a *answer) any
	stream(s *stream, c *conversation, a *answer)
	// fault returns an error as a body, or as an event of the stream if there
	// is a stream.
	fault(f fault, s *stream) (event string, body any)
}

// dialectOf recognises an API by the end of the path, so that the part before
// it is the caller's own.
func dialectOf(path string) (Dialect, dialect) {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return Anthropic, anthropic{}
	case strings.HasSuffix(path, "/chat/completions"):
		return Chat, chat{}
	case strings.HasSuffix(path, "/responses"):
		return Responses, responses{}
	case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
		return Gemini, gemini{}
	default:
		return "", nil
	}
}

// serveAside answers requests that are not for a model.
func (s *Server) serveAside(w http.ResponseWriter, r *http.Request, body []byte) {
	path := r.URL.Path
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/messages/count_tokens"):
		sendWhole(w, map[string]any{"input_tokens": max(1, tokens(len(body)))}, false)
	case r.Method == http.MethodPost && strings.HasSuffix(path, ":countTokens"):
		sendWhole(w, map[string]any{"totalTokens": max(1, tokens(len(body)))}, false)
	case r.Method == http.MethodGet && strings.HasSuffix(path, "/models") && !s.admits(r):
		http.Error(w, "no such key", http.StatusUnauthorized)
	case r.Method == http.MethodGet && strings.HasSuffix(path, "/v1beta/models"):
		sendWhole(w, map[string]any{"models": s.listGemini()}, false)
	case r.Method == http.MethodGet && strings.HasSuffix(path, "/models"):
		sendWhole(w, s.list(), false)
	case path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		w.WriteHeader(http.StatusOK)
	default:
		http.NotFound(w, r)
	}
}

// list returns a list of models for clients of OpenAI and of Anthropic both.
func (s *Server) list() any {
	data := make([]any, len(s.script.Models))
	for i, m := range s.script.Models {
		data[i] = map[string]any{
			"id": m, "object": "model", "created": 1767225600, "owned_by": "script",
			"type": "model", "display_name": m, "created_at": "2026-01-01T00:00:00Z",
		}
	}
	return map[string]any{"object": "list", "data": data, "has_more": false}
}

func (s *Server) listGemini() any {
	models := make([]any, len(s.script.Models))
	for i, m := range s.script.Models {
		models[i] = map[string]any{
			"name": "models/" + m, "displayName": m, "inputTokenLimit": 1000000, "outputTokenLimit": 65536,
			"supportedGenerationMethods": []string{"generateContent", "countTokens"},
		}
	}
	return models
}

// prompt joins the parts that a provider caches. Marks for its cache do not
// belong to its content.
func prompt(parts ...json.RawMessage) []byte {
	var all []byte
	for _, part := range parts {
		all = append(all, markPattern().ReplaceAll(part, nil)...)
		all = append(all, '\n')
	}
	return all
}

// markPattern cannot match within a text, where the quotes are escaped.
var markPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`,?\s*"cache_control"\s*:\s*\{[^{}]*\}`) })

// texts are those of a content that is a string, or a list of parts that have
// a text each.
func texts(content json.RawMessage) []string {
	var one string
	if json.Unmarshal(content, &one) == nil {
		return []string{one}
	}
	var parts []struct {
		Text *string `json:"text"`
	}
	_ = json.Unmarshal(content, &parts) // a content without a text has none
	var all []string
	for _, p := range parts {
		if p.Text != nil {
			all = append(all, *p.Text)
		}
	}
	return all
}
