package fault

import "testing"

func TestUnreachable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text, address string
		want          bool
	}{
		{Down("http://127.0.0.1:11434"), "http://127.0.0.1:11434", true},
		{"connect ECONNREFUSED 127.0.0.1:8099", "127.0.0.1:8099", true},
		{"error sending request for url (http://localhost:8099/v1/responses): connection refused", "http://localhost:8099/v1/responses", true},
		{"Connection refused", "", true},
		{"Connection failed: error sending request", "", true},                       // of codex
		{"[API Error: exception TypeError: fetch failed sending request]", "", true}, // of gemini
		{"connection reset by peer", "", false},
		{"503 Service Unavailable", "", false},
		{"", "", false},
	} {
		address, ok := Unreachable(test.text)
		if address != test.address || ok != test.want {
			t.Errorf("Unreachable(%q) = %q, %t, want %q, %t", test.text, address, ok, test.address, test.want)
		}
	}
}

func TestNobody(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, configured, want string }{
		{"connect ECONNREFUSED 127.0.0.1:8099", "http://x", "no server answers at 127.0.0.1:8099: is the server started? (connect ECONNREFUSED 127.0.0.1:8099)"},
		{"connection refused", "http://x:1", "no server answers at http://x:1: is the server started? (connection refused)"},
		{"connection refused", "", "no server answers at the address of its model: is the server started? (connection refused)"},
		{Down("http://x"), "http://y", Down("http://x")},
		{"overloaded", "http://x", "overloaded"},
	} {
		if got := Nobody(test.text, func() string { return test.configured }); got != test.want {
			t.Errorf("Nobody(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}
