package argv

import "testing"

func TestQuoted(t *testing.T) {
	t.Parallel()
	if got, want := Quoted([]string{"sh", "it's", "", "$HOME `x`"}), `'sh' 'it'\''s' '' '$HOME `+"`x`"+`'`; got != want {
		t.Errorf("Quoted = %s, want %s", got, want)
	}
}
