package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"agentswarm/swarm/ask"
)

// token returns a text with the form of a token. It is put together so that no
// scanner takes the source for a token.
func token() string { return "ghp_" + strings.Repeat("ab12", 8) }

func TestVeil(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, give, want string }{
		{"none", "git push origin main", "git push origin main"},
		{"token", "gh auth " + token() + " x", "gh auth [redacted] x"},
		{"URL", "git push https://x:opensesame@h.test/r main", "git push https://x:[redacted]@h.test/r main"},
		{"assignment", "PGPASSWORD=opensesame psql -c x", "PGPASSWORD=[redacted] psql -c x"},
		{"flag", "mysql --password opensesame db", "mysql --password [redacted] db"},
		{"blanks stay", "x  --password\topensesame \n", "x  --password\t[redacted] \n"},
		{"variable", "curl --token $TOKEN x", "curl --token $TOKEN x"},
		{"command in it", "A_TOKEN=x;rm${IFS}-rf${IFS}~", "A_TOKEN=x;rm${IFS}-rf${IFS}~"},
		{"substitution", `A_TOKEN=$(rm -rf ~) make`, `A_TOKEN=$(rm -rf ~) make`},
		{"redirect", "A_TOKEN=x>~/.bashrc make", "A_TOKEN=x>~/.bashrc make"},
		{"command behind an empty one", "A_TOKEN= rm -rf ~", "A_TOKEN= rm -rf ~"},
		{"command on the next line", "echo --token\nrm -rf ~", "echo --token\nrm -rf ~"},
		{"quotes", `A_TOKEN=a'b'c make`, `A_TOKEN=a'b'c make`},
	} {
		if got := veil(c.give); got != c.want {
			t.Errorf("%s: veil(%q) = %q, want %q", c.name, c.give, got, c.want)
		}
	}
}

func TestVeiled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, give, want string }{
		{"as it was", `{ "command":"ls" }`, `{ "command":"ls" }`},
		{"of another form", `{"run":"` + token() + `"}`, `{"run":"` + token() + `"}`},
		{"words", `{"git":["push","https://x:y@h.test/r"]}`, `{"git":["push","https://x:[redacted]@h.test/r"]}`},
		{"word by the one before", `{"git":["x","--token","opensesame"]}`, `{"git":["x","--token","[redacted]"]}`},
		{"alias", `{"git":["-c","alias.token=!rm -rf ~","token"]}`, `{"git":["-c","alias.token=!rm -rf ~","token"]}`},
		{"target", `{"tool":"WebFetch","target":"https://h.test/?token=abc","method":"GET"}`, `{"tool":"WebFetch","target":"https://h.test/?token=[redacted]","method":"GET"}`},
	} {
		if got := string(veiled(json.RawMessage(c.give))); got != c.want {
			t.Errorf("%s: veiled(%s) = %s, want %s", c.name, c.give, got, c.want)
		}
	}
}

// FuzzVeil holds that nothing that a shell would take for code is left out.
func FuzzVeil(f *testing.F) {
	for _, give := range []string{
		"ls", "A_TOKEN=x;rm -rf ~", "x --password y", "curl -H 'Authorization: Bearer abc'", "https://a:b@c/?token=d&x=`y`", "token:\nrm",
		"[redacted] token=[redacted]",
	} {
		f.Add(give)
	}
	f.Fuzz(func(t *testing.T, text string) {
		shown := veil(text)
		for _, letter := range active {
			if got, want := strings.Count(shown, string(letter)), strings.Count(text, string(letter)); got != want {
				t.Errorf("veil(%q) = %q: %d of %q, want %d", text, shown, got, letter, want)
			}
		}
		a, _ := json.Marshal(ask.Action{Command: text})
		_ = veiled(a)
	})
}
