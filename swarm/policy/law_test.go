package policy

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/risk"
	"agentswarm/risk/repository"
	"agentswarm/swarm/ask"
)

func TestParseAction(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ give, want string }{
		{`{"command":"ls","cwd":"x"}`, `{"command":"ls","cwd":"x"}`},
		{`{"command":""}`, `{"command":" "}`},
		{"\t{\"write\":\"a\"}\r", `{"write":"a"}`},
		{`{"write":"a","removes":true}`, `{"write":"a","removes":true}`},
		{`{"git":["push"]}`, `{"git":["push"]}`},
		{`{"tool":"web_fetch","target":"https://example.com"}`, `{"tool":"web_fetch","target":"https://example.com"}`},
		{``, "the line is empty"},
		{`  `, "the line is empty"},
		{`{}`, "names not one action"},
		{`{"cwd":"x"}`, "names not one action"},
		{`{"command":null}`, "names not one action"},
		{`{"write":""}`, "names not one action"},
		{`{"command":"ls","write":"x"}`, "names not one action"},
		{`{"command":"","write":"x"}`, "names not one action"},
		{`{"command":"ls","removes":true}`, "names not one action"},
		{`{"command":"rm -rf x","command":"ls"}`, "appears twice"},
		{`{"command":"rm -rf x","Command":""}`, "appears twice"},
		{`{"command":"ls"} {}`, "something follows"},
		{`{"command":["ls"]}`, "cannot unmarshal"},
		{`{"cmd":"ls"}`, "unknown field"},
		{`[]`, "not a JSON object"},
		{`null`, "not a JSON object"},
		{`ls`, "invalid"},
		{`{"command":"ls`, "EOF"},
		{"{\"command\":\"\xff\"}", "not UTF-8"},
	} {
		a, err := ParseAction([]byte(tt.give))
		if err != nil {
			if strings.HasPrefix(tt.want, "{") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("ParseAction(%q): %v, want %s", tt.give, err, tt.want)
			}
			continue
		}
		if got, _ := json.Marshal(a); string(got) != tt.want {
			t.Errorf("ParseAction(%q) = %s, want %s", tt.give, got, tt.want)
		}
	}
}

// FuzzParseAction: every line is an action or an error. The fields of an action
// are those that another reader finds in the line.
func FuzzParseAction(f *testing.F) {
	for _, seed := range []string{
		`{"command":"ls","cwd":"/"}`, `{"write":"x"}`, `{"command":""}`, `{"COMMAND":"x"}`, `{"command":"a","command":"b"}`, "{", "null", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		a, err := ParseAction(line)
		if err != nil {
			return
		}
		var fields map[string]any
		if err := json.Unmarshal(line, &fields); err != nil {
			t.Fatalf("ParseAction took what is no object: %v", err)
		}
		command := ""
		for name, value := range fields {
			if strings.EqualFold(name, "command") {
				command, _ = value.(string)
			}
		}
		if !a.Whole() || strings.TrimSpace(a.Command) != strings.TrimSpace(command) {
			t.Errorf("ParseAction(%q) = %+v", line, a)
		}
	})
}

func TestRealFolder(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	err = errors.Join(os.MkdirAll(at("a/b"), 0o700), os.Mkdir(at("c"), 0o700),
		os.Symlink(at("c"), at("a/link")), os.Symlink("loop", at("loop")))
	if err != nil {
		t.Fatal(err)
	}
	for give, want := range map[string]string{
		"": at("a"), ".": at("a"), "b": at("a/b"), "..": dir, "../c": at("c"), at("c"): at("c"), "/": "/",
		"link": at("c"), "link/..": dir, "link/new/deep": at("c/new/deep"), "new": at("a/new"), "new/../b": at("a/b"),
		at("loop") + "/x": at("loop/x"), "nul\x00": at("a/nul\x00"),
	} {
		if got := RealFolder(at("a"), give); got != want {
			t.Errorf("RealFolder(%q) = %q, want %q", give, got, want)
		}
	}
}

// TestRulingBecomes: a part of a command shows its verdict.
func TestRulingBecomes(t *testing.T) {
	t.Parallel()
	rules, err := risk.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	place, err := repository.Place(t.Context(), repository.Request{Linked: true})
	if err != nil {
		t.Fatal(err)
	}
	l := &Law{Rules: rules, Authority: &risk.Authority{}, Place: place}
	place.Root = t.TempDir()
	place.Remotes = []risk.Remote{{Name: "origin", Plain: true}}
	grant, err := risk.ParseGrant("Push to feature/* branches")
	if err != nil {
		t.Fatal(err)
	}
	grant.Where = "here"
	l.Authority.Allowed = []risk.Grant{grant}
	for _, tt := range []struct{ give, want string }{
		{"git push origin feature/x", "granted by here: Push to feature/* branches"},
		{"git push origin feature/x; git push origin main", "granted by here: Push to feature/* branches|asks"},
		{"git push origin feature/x; rm -rf src", "asks|asks"},
		{"git push origin feature/x; git stash", "not looked at|denied"},
		{"ls", ""},
	} {
		r := l.Judge(&ask.Action{Command: tt.give}, place.Root)
		var got []string
		for i := range r.Parts {
			got = append(got, r.Becomes(i))
		}
		if strings.Join(got, "|") != tt.want {
			t.Errorf("%s becomes %q, want %q", tt.give, got, tt.want)
		}
	}
}
