package strict

import (
	"strings"
	"testing"
)

// TestTwice has each text read in the three ways: want is a part of the error
// of each, empty where it is taken.
func TestTwice(t *testing.T) {
	t.Parallel()
	const twice = "appears twice"
	for _, test := range []struct{ name, give, object, once, names string }{
		{"none", `{"a":1,"b":[{"a":1},{"a":2}]}`, "", "", ""},
		{"twice", `{"a":1,"a":1}`, twice, twice, twice},
		{"escaped", `{"a":1,"\u0061":1}`, twice, twice, twice},
		{"in another case", `{"a":1,"A":1}`, twice, "", twice},
		{"within", `{"x":{"a":1,"a":1}}`, twice, twice, ""},
		{"within a list", `{"x":[[{"a":1,"a":1}]]}`, twice, twice, ""},
		{"within, in another case", `{"x":{"a":1,"A":1}}`, twice, "", ""},
		{"a list", `[{"a":1,"a":1}]`, "not a JSON object", twice, "nested deeper"},
		{"a text", `"a"`, "not a JSON object", "", ""},
		{"two", `{} {}`, "follows its end", "", ""},
		{"cut off", `{"a":`, "EOF", "EOF", "EOF"},
		{"deep", `{"x":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, "deeper than 200", "deeper than 250", ""},
	} {
		for way, got := range map[string]struct {
			err  error
			want string
		}{
			"Object": {Object([]byte(test.give)), test.object},
			"Once":   {Once([]byte(test.give), 250), test.once},
			"Names":  {Names([]byte(test.give)), test.names},
		} {
			if got.want == "" && got.err != nil || got.want != "" && (got.err == nil || !strings.Contains(got.err.Error(), got.want)) {
				t.Errorf("%s: %s = %v, want %q", test.name, way, got.err, got.want)
			}
		}
	}
}
