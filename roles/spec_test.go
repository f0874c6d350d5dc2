package roles

import "testing"

func TestParseSpec(t *testing.T) {
	t.Parallel()
	tests := []struct {
		give string
		want Spec
		err  bool
	}{
		{give: "openai/gpt-5", want: Spec{"openai", "gpt-5", ""}},
		{give: "openai/gpt-5:high", want: Spec{"openai", "gpt-5", "high"}},
		{give: "router/meta/llama:70b", want: Spec{"router", "meta/llama:70b", ""}},
		{give: "ollama/qwen3:30b:low", want: Spec{"ollama", "qwen3:30b", "low"}},
		{give: "local", want: Spec{"", "local", ""}},
		{give: "", err: true},
		{give: "openai/", err: true},
		{give: "/x", err: true},
		{give: "openai/:high", err: true},
	}
	for _, test := range tests {
		got, err := ParseSpec(test.give)
		if (err != nil) != test.err || got != test.want {
			t.Errorf("ParseSpec(%q) = %+v, %v, want %+v", test.give, got, err, test.want)
		}
		if err == nil && got.String() != test.give {
			t.Errorf("String() = %q, want %q", got, test.give)
		}
	}
}
