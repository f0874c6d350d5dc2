package modeltest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// askGemini speaks it by hand: none of the SDKs here does.
func askGemini(t *testing.T, url string, q question) reply {
	t.Helper()
	method := ":generateContent?key=" + secret
	if q.stream {
		method = ":streamGenerateContent?alt=sse&key=" + secret
	}
	body, err := json.Marshal(geminiBody(t, q))
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1beta/models/m"+method, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return reply{Cut: true}
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	switch {
	case w.StatusCode != http.StatusOK:
		return broken(w.StatusCode, w.Header)
	case err != nil || strings.Contains(string(text), `"error"`):
		return reply{Cut: true}
	}
	var is reply
	for chunk := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		is.addGemini(t, strings.TrimPrefix(chunk, "data: "))
	}
	return is
}

func geminiBody(t *testing.T, q question) any {
	t.Helper()
	part := func(is any) []any { return []any{is} }
	contents := []any{map[string]any{"role": "user", "parts": part(map[string]any{"text": q.prompt})}}
	for _, r := range q.results {
		contents = append(contents,
			map[string]any{"role": "model", "parts": part(map[string]any{"functionCall": map[string]any{"name": "bash"}})},
			map[string]any{"role": "user", "parts": part(map[string]any{"functionResponse": map[string]any{
				"name": "bash", "response": map[string]any{"output": r},
			}})})
	}
	is := map[string]any{
		"systemInstruction": map[string]any{"parts": part(map[string]any{"text": "be brief"})},
		"contents":          contents,
		"tools": part(map[string]any{"functionDeclarations": part(map[string]any{
			"name": "bash", "parametersJsonSchema": commandSchema(t),
		})}),
	}
	if q.schema {
		is["generationConfig"] = map[string]any{"responseJsonSchema": commandSchema(t)}
	}
	return is
}

func (is *reply) addGemini(t *testing.T, text string) {
	t.Helper()
	var chunk struct {
		Candidates []struct {
			Content struct {
				Parts []struct {
					Text    string
					Thought bool
					Call    struct {
						Name string
						Args json.RawMessage
					} `json:"functionCall"`
				}
			}
			Finish string `json:"finishReason"`
		}
		Usage struct {
			Prompt int `json:"promptTokenCount"`
			Output int `json:"candidatesTokenCount"`
			Cached int `json:"cachedContentTokenCount"`
		} `json:"usageMetadata"`
		Model string `json:"modelVersion"`
	}
	if err := json.Unmarshal([]byte(text), &chunk); err != nil {
		t.Fatalf("chunk %s: %v", text, err)
	}
	u := chunk.Usage
	is.Model, is.Usage = chunk.Model, Usage{Input: u.Prompt - u.Cached, Output: u.Output, CacheRead: u.Cached}
	for _, p := range chunk.Candidates[0].Content.Parts {
		switch {
		case p.Call.Name != "":
			is.Calls = append(is.Calls, p.Call.Name+" "+string(p.Call.Args))
		case p.Thought:
			is.Thinking += p.Text
		default:
			is.Text += p.Text
		}
	}
	switch chunk.Candidates[0].Finish {
	case "STOP":
		is.Stop = StopEnd
		if len(is.Calls) > 0 {
			is.Stop = StopCalls
		}
	case "MAX_TOKENS":
		is.Stop = StopLength
	case "SAFETY":
		is.Stop = StopRefuse
	}
}
