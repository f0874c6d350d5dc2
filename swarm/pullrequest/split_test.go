package pullrequest

import (
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/task"
)

func landed() []*Change {
	return []*Change{
		{Commit: "c1", Message: "one\n", Agents: []task.ID{"a1"}, Paths: []string{"api/x.go", "web/a/b.js", "README"}},
		{Commit: "c2", Message: "two\n", Agents: []task.ID{"a2"}, Paths: []string{"api/y.go", "web/c.js"}},
		{Commit: "c3", Message: "three\n", Agents: []task.ID{"a1"}, Paths: []string{"other/z"}},
	}
}

// shown is a part in a line: its name, and for each piece the commit and its files.
func shown(p *Part) string {
	words := []string{p.Name + ":"}
	for _, piece := range p.Pieces {
		words = append(words, string(piece.Change.Commit)+strings.Join(piece.Paths, ","))
	}
	return strings.Join(words, " ")
}

func TestSplit(t *testing.T) {
	t.Parallel()
	folders := func(names ...string) []*Part {
		parts, err := ByFolder(landed(), names)
		if err != nil {
			t.Fatal(err)
		}
		return parts
	}
	owners := func(file string) []string {
		switch {
		case strings.HasPrefix(file, "api/"):
			return []string{"@b", "@a", "@b"}
		case strings.HasPrefix(file, "web/"):
			return []string{"@web/team"}
		}
		return nil
	}
	for name, test := range map[string]struct {
		got  []*Part
		want []string
	}{
		"whole":  {Whole(landed()), []string{"all: c1 c2 c3"}},
		"each":   {Each(landed()), []string{"a1: c1", "a2: c2", "a1-2: c3"}},
		"folder": {folders("web/"), []string{"web: c1web/a/b.js c2web/c.js"}},
		"deepest": {
			folders("web", "web/a", "./api"),
			[]string{"web: c2web/c.js", "web-a: c1web/a/b.js", "api: c1api/x.go c2api/y.go"},
		},
		"all":  {folders("."), []string{"part: c1api/x.go,web/a/b.js,README c2api/y.go,web/c.js c3other/z"}},
		"file": {folders("README"), []string{"readme: c1README"}},
		"owners": {
			ByOwner(landed(), owners),
			[]string{"a-b: c1api/x.go c2api/y.go", "web-team: c1web/a/b.js c2web/c.js", "no-owner: c1README c3other/z"},
		},
	} {
		var got []string
		for _, p := range test.got {
			got = append(got, shown(p))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
	if _, err := ByFolder(landed(), []string{"we"}); err == nil || err.Error() != `no file below "we" landed` {
		t.Errorf("a folder without files: %v", err)
	}
}

func TestOwners(t *testing.T) {
	t.Parallel()
	owners, err := parseOwners([]byte("# comment\n* @all\n/api/ @api @x # c\r\n/api/free\n*.md @docs\n"))
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"main.go": "@all", "api/a/b.go": "@api @x", "api/free": "", "x/readme.md": "@docs", "api/readme.md": "@docs",
	} {
		if got := strings.Join(owners(file), " "); got != want {
			t.Errorf("owners of %s: %q, want %q", file, got, want)
		}
	}
	if owners, err = parseOwners([]byte("[Web] @web\nweb/\n")); err != nil || strings.Join(owners("web/x"), " ") != "@web" {
		t.Errorf("a section: %v, %v", owners("web/x"), err)
	}
	long := append([]byte("a "), make([]byte, 1<<20)...)
	if _, err := parseOwners(long); err == nil || !strings.HasPrefix(err.Error(), "CODEOWNERS: line 1 is longer") {
		t.Errorf("a long line: %v", err)
	}
}

func FuzzOwners(f *testing.F) {
	f.Add("* @a\n/b/ @c d\\ e\n[x]\ny", "b/c")
	f.Add("[", "a")
	f.Fuzz(func(t *testing.T, text, file string) {
		owners, err := parseOwners([]byte(text))
		if err != nil {
			return
		}
		if slices.Contains(owners(file), unowned) {
			t.Errorf("owners of %q have the placeholder", file)
		}
	})
}

func FuzzReadLog(f *testing.F) {
	f.Add("c\x00p\x00n\x00e\x001\x00m\x00")
	f.Add("c\x00p q\x00n\x00e\x001\x00m")
	f.Fuzz(func(t *testing.T, out string) {
		changes, err := readLog(out)
		for _, c := range changes {
			if err == nil && c.Parent == "" {
				t.Errorf("a commit without a parent of %q", out)
			}
		}
	})
}

func TestSplitMessage(t *testing.T) {
	t.Parallel()
	for message, want := range map[string][3]string{
		"subject\n":                          {"subject", "", ""},
		"subject\n\nA: b\nC-D: e\n":          {"subject", "", "A: b|C-D: e"},
		"subject\n\nbody\n\nmore\n\nA: b\n":  {"subject", "body\n\nmore", "A: b"},
		"subject\n\nbody: it is\nno trailer": {"subject", "body: it is\nno trailer", ""},
		"":                                   {},
	} {
		subject, body, lines := splitMessage(message)
		if got := [3]string{subject, body, strings.Join(lines, "|")}; got != want {
			t.Errorf("%q: got %q, want %q", message, got, want)
		}
	}
}

func TestHost(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://user:x@gitlab.example/a/b.git": "gitlab.example", "git@github.com:a/b.git": "github.com",
		"ssh://git@host:22/a": "host", "/srv/git/a:b": "", "../a": "",
	} {
		if got := host(address); got != want {
			t.Errorf("host of %s: %q, want %q", address, got, want)
		}
	}
}

// TestForge holds the arguments of the programs to their documentation:
// https://cli.github.com/manual/gh_pr_create and https://docs.gitlab.com/cli/mr/create/.
func TestForge(t *testing.T) {
	t.Parallel()
	for program, want := range map[string][]string{
		"gh": {
			"gh pr list --head b --state all --limit 1 --json url,state",
			"gh pr create --head=b --base=main --title=-t --body-file=- --draft < body",
		},
		"glab": {
			"glab mr list --source-branch b --all --per-page 1 --output json",
			"glab mr create --source-branch=b --target-branch=main --title=-t --description=body --yes --draft < ",
		},
	} {
		var calls []string
		answers := []string{`[{"url":"https://f/1","state":"CLOSED"}]`, "creating\nhttps://f/2\n"}
		f := &Forge{Program: program, Run: func(in string, _ []string, program string, args ...string) (string, error) {
			call := program + " " + strings.Join(args, " ")
			if args[1] == "create" {
				call += " < " + in
			}
			calls = append(calls, call)
			return answers[len(calls)-1], nil
		}}
		found, err := f.Find("b")
		if err != nil || found == nil || found.Open || found.URL != "https://f/1" {
			t.Errorf("%s: found %+v, %v", program, found, err)
		}
		address, err := f.Open(OpenRequest{Branch: "b", Base: "main", Title: "-t", Body: "body", Draft: true})
		if err != nil || address != "https://f/2" {
			t.Errorf("%s: opened %q, %v", program, address, err)
		}
		if !slices.Equal(calls, want) {
			t.Errorf("%s: calls %q", program, calls)
		}
	}
}
