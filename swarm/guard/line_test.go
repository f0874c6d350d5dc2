package guard

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"agentswarm/risk/shell"
)

func TestLine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want string
		argv, env  []string
	}{
		{"plain", "rm -rf ./a/b.c", []string{"rm", "-rf", "./a/b.c"}, []string{"PATH=/bin", "GIT_DIR=/x"}},
		{"called by its path", "rm x", []string{"/g/rm", "x"}, nil},
		{"what shells take for more", `rm 'a b' '' '*' '~' '$x' 'it'\''s' '{a,b}'`, []string{"rm", "a b", "", "*", "~", "$x", "it's", "{a,b}"}, nil},
		{"more than one line", "git commit -m 'a\nb'", []string{"git", "commit", "-m", "a\nb"}, nil},
		{"what does not show", `rm $'a\033b' $'\377' $'\342\200\213'`, []string{"rm", "a\x1bb", "\xff", "\u200b"}, nil},
		{"other scripts", "rm 'é'", []string{"rm", "é"}, nil},
		{
			"where git is told to work", "GIT_DIR=/x GIT_WORK_TREE='a b' git gc",
			[]string{"git", "gc"},
			[]string{"GIT_WORK_TREE=a b", "GIT_AUTHOR_NAME=Ada", "GIT_COMMITTER_DATE=1", "GIT_TERMINAL_PROMPT=0", "GIT_DIR=/x", "GIT_A-B=1", "HOME=/"},
		},
		{"where a forge is", "GH_REPO=a/b gh pr list", []string{"gh", "pr", "list"}, []string{"GH_REPO=a/b", "GITLAB_HOST=x"}},
		{"where another is", "GITLAB_HOST=x glab mr list", []string{"glab", "mr", "list"}, []string{"GH_REPO=a/b", "GITLAB_HOST=x"}},
	} {
		name := tt.argv[0][strings.LastIndex(tt.argv[0], "/")+1:]
		r := Request{Name: name, Argv: tt.argv, Environ: tt.env}
		if got := r.line(); got != tt.want {
			t.Errorf("%s: line() = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// FuzzLine holds that who judges a line reads the words that will run, or
// knows that it does not know them.
func FuzzLine(f *testing.F) {
	for _, word := range []string{"", "x", "a b", "it's", "$(rm x)", "`x`", "\\", "a\nb", "\x1b", "\xff", "é", "{a,b}", "~", "#", "a=b", "-", "!", "\u200b", "\u00ad"} {
		f.Add(word, "x")
	}
	reader, err := shell.NewReader()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		if strings.ContainsRune(one+two, 0) || len(one)+len(two) > 1000 {
			t.Skip("no word of a command line")
		}
		r := Request{Name: "frob", Argv: []string{"frob", one, two}}
		line := r.line()
		if !utf8.ValidString(line) || strings.ContainsFunc(line, hidden) {
			t.Fatalf("line() = %q, which cannot be shown", line)
		}
		script := reader.Read(line, shell.Start{Cwd: "/w", Home: "/h"})
		if len(script.Opaque) > 0 {
			return // it is too deep for the reader, which asks then
		}
		if len(script.Invocations) != 1 || script.Invocations[0].Program != "frob" || len(script.Invocations[0].Args) != 2 {
			t.Fatalf("%q is read as %+v", line, script.Invocations)
		}
		var got []string
		for _, w := range script.Invocations[0].Args {
			if !w.Known {
				return
			}
			got = append(got, w.Value)
		}
		if want := []string{one, two}; !slices.Equal(got, want) {
			t.Errorf("%q is read as %q, want %q", line, got, want)
		}
	})
}
