package wire

import (
	"slices"
	"strings"
	"testing"
)

func TestVariables(t *testing.T) {
	t.Parallel()
	const text = "# X_A=0\nexport X_A=\"k#1\" # why\r\n  X_B = z # why\nX_C='a b'\nX_D=\nPATH=/x\nX_E=`c`\nX F=1\n=1\nX_G='open\nX_A=2"
	want := []string{"X_A=k#1", "X_B=z", "X_E=c", "X_G=open", "X_A=2"}
	got := Variables([]byte(text), func(name string) bool { return strings.HasPrefix(name, "X") })
	if !slices.Equal(got, want) {
		t.Errorf("Variables = %q, want %q", got, want)
	}
	if a, b := Variable(got, "X_A"), Variable(got, "X"); a != "k#1" || b != "" {
		t.Errorf("Variable = %q and %q", a, b)
	}
}

// FuzzVariables holds that whatever is found can stand in an environment.
func FuzzVariables(f *testing.F) {
	f.Add("A=1\nB=\"x\"")
	f.Fuzz(func(t *testing.T, text string) {
		for _, kv := range Variables([]byte(text), func(string) bool { return true }) {
			name, value, ok := strings.Cut(kv, "=")
			if !ok || name == "" || value == "" || strings.ContainsAny(kv, "\n") {
				t.Errorf("of %q: %q", text, kv)
			}
		}
	})
}
