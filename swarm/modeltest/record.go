package modeltest

import (
	"encoding/json"
	"net/http"
	"net/url"
)

// Request is a request for an answer of a model.
type Request struct {
	Serial  int // from 1 on
	Dialect Dialect
	Path    string // with its query, less credentials
	Header  http.Header
	Body    json.RawMessage

	Model   string
	Stream  bool
	System  string
	User    string // the last words of the user
	Results int    // how many results of tools it holds
	Result  string // the last of them
	Tools   []string
	Schema  json.RawMessage // of the answer asked for

	Status int // of the answer; 0 for a connection that was cut
	Rule   int // which answered; -1 for none
	Usage  Usage
}

// hidden replaces a credential.
const hidden = "withheld"

// credentials are the values of a request that let it in.
func credentials(r *http.Request) []string {
	all := []string{r.URL.Query().Get("key")}
	for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key"} {
		all = append(all, r.Header.Values(name)...)
	}
	return all
}

func headerOf(r *http.Request) http.Header {
	header := r.Header.Clone()
	for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key", "Cookie"} {
		if header.Get(name) != "" {
			header.Set(name, hidden)
		}
	}
	return header
}

func pathOf(u *url.URL) string {
	query := u.Query()
	if query.Has("key") {
		query.Set("key", hidden)
	}
	if len(query) == 0 {
		return u.Path
	}
	return u.Path + "?" + query.Encode()
}

// bodyOf is the body, as a text where it is no JSON.
func bodyOf(body []byte) json.RawMessage {
	if json.Valid(body) {
		return body
	}
	return json.RawMessage(quoted(string(body)))
}

func (q *Request) describe(c *conversation) {
	q.Model, q.Stream, q.System, q.Schema = c.model, c.stream, c.system, c.schema
	q.User, _ = c.user()
	q.Results, q.Result = c.results(), c.result()
	for _, o := range c.tools {
		q.Tools = append(q.Tools, o.name)
	}
}
