package agent

import "testing"

func TestOrigin(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"http://ada:secret@127.0.0.1:8080/v1?key=secret#secret": "http://127.0.0.1:8080",
		" https://models.example/v1 ":                           "https://models.example",
		"models.example/v1":                                     "",
		"http:///v1":                                            "",
		"${BASE}/v1":                                            "",
		"http://[::1":                                           "",
		"":                                                      "",
	} {
		if got := Origin(text); got != want {
			t.Errorf("Origin(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	l := Login{Addresses: map[string]string{"": "http://any/v1", "p": "http://u:k@p/v1", "p/m": "http://pm", "q": ""}}
	for model, want := range map[string]string{"": "http://any", "m": "http://any", "p/x": "http://p", "p/m": "http://pm", "q/m": "http://any"} {
		if got := l.Address(model); got != want {
			t.Errorf("Address(%q) = %q, want %q", model, got, want)
		}
	}
	if got := (Login{}).Address("m"); got != "" {
		t.Errorf("without addresses it is %q", got)
	}
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fetches bool
		address string
		want    bool
	}{
		{true, "http://127.0.0.1:6000", true},
		{true, "http://127.0.0.1:1", true},
		{true, "http://127.0.0.1:8080", false},
		{true, "http://127.0.0.1", false},
		{true, "", false},
		{false, "http://127.0.0.1:6000", false},
	} {
		if got := (Kind{Fetches: test.fetches}).Blocks(test.address); got != test.want {
			t.Errorf("Blocks(%q) = %t, fetches is %t", test.address, got, test.fetches)
		}
	}
}

func TestSurroundingsWith(t *testing.T) {
	t.Parallel()
	s := Surroundings{Getenv: func(name string) string { return map[string]string{"A": "a", "B": "b"}[name] }}.
		With(map[string]string{"B": "own", "C": "$A"})
	for name, want := range map[string]string{"A": "a", "B": "own", "C": "a", "D": ""} {
		if got := s.Getenv(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
