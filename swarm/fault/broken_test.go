package fault

import "testing"

func TestBroken(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"stream disconnected before completion: Transport error: network error: error decoding response body":                           true,
		"stream disconnected before completion: idle timeout waiting for SSE":                                                           true,
		"error sending request for url (http://127.0.0.1:9/v1): client error (SendRequest): connection closed before message completed": true,
		"Cannot connect to API: The socket connection was closed unexpectedly.":                                                         true,
		"[API Error: terminated]":                              true,
		"TypeError: terminated":                                true,
		"Your account was terminated":                          false,
		"The session is terminated by an administrator.":       false,
		"the connection was dropped: unexpected EOF":           true,
		"read ECONNRESET":                                      true,
		"Connection reset by peer":                             true,
		"529 overloaded: the connection was closed":            false,
		"stream disconnected before completion: overloaded":    false,
		"503 upstream connect error, or connection reset":      false,
		"The server had an error while processing; terminated": false,
		"connect ECONNREFUSED 127.0.0.1:8099":                  false,
		"429 Too Many Requests":                                false,
		"":                                                     false,
	} {
		if got := Broken(text); got != want {
			t.Errorf("Broken(%q) = %t, want %t", text, got, want)
		}
	}
}
