package shim

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ give, sub, placeless string }{
		{"status", "status", ""},
		{"-C dir mv a b", "mv", ""},
		{"-C mv stash", "stash", ""},
		{"-c alias.x=y -C a -C b stash pop", "stash", "-c alias.x=y"},
		{"-c mv", "", "-c mv"},
		{"--git-dir=x mv", "mv", ""},
		{"--git-dir mv --work-tree mv branch", "branch", ""},
		{"--exec-path=/x -p -P --no-pager tag", "tag", "--exec-path=/x -p -P --no-pager"},
		{"--exec-path mv", "", "--exec-path mv"},
		{"--namespace n --bare --literal-pathspecs mv", "mv", "--namespace n --literal-pathspecs"},
		{"--no-optional-locks --config-env=a=B --config-env a=B mv", "mv", "--no-optional-locks --config-env=a=B --config-env a=B"},
		{"--version mv", "", "--version mv"},
		{"--help mv", "", "--help mv"},
		{"-h", "", "-h"},
		{"-pP mv", "", "-pP mv"},
		{"-Cdir mv", "", "-Cdir mv"},
		{"--what mv", "", "--what mv"},
		{"", "", ""},
		{"-C", "", ""},
		{"-p -c", "", "-p -c"},
	} {
		l := parse(strings.Fields(tt.give))
		if l.sub != tt.sub || strings.Join(l.placeless(), " ") != tt.placeless {
			t.Errorf("parse(%s) = %q, placeless %q, want %q, %q", tt.give, l.sub, l.placeless(), tt.sub, tt.placeless)
		}
	}
}

func TestScan(t *testing.T) {
	t.Parallel()
	g := grammar{short: "mu", stuck: "n", long: []string{"message=", "merged=", "list", "force", "format="}}
	for _, tt := range []struct {
		give string
		want words
	}{
		{"a b", words{operands: []string{"a", "b"}}},
		{"-f a", words{options: []option{{name: "f"}}, operands: []string{"a"}}},
		{"a -fm b c", words{options: []option{{name: "f"}, {"m", "b"}}, operands: []string{"a", "c"}}},
		{"-mfu b", words{options: []option{{"m", "fu"}}, operands: []string{"b"}}},
		{"-fn3 b", words{options: []option{{name: "f"}, {"n", "3"}}, operands: []string{"b"}}},
		{"-n b", words{options: []option{{name: "n"}}, operands: []string{"b"}}},
		{"--message a b", words{options: []option{{"message", "a"}}, operands: []string{"b"}}},
		{"--mes=a b", words{options: []option{{"message", "a"}}, operands: []string{"b"}}},
		{"--mes a", words{options: []option{{"message", "a"}}}},
		{"--me a", words{options: []option{{name: "me"}}, operands: []string{"a"}}},
		{"--l --fo x", words{options: []option{{name: "list"}, {name: "fo"}}, operands: []string{"x"}}},
		{"--what=x", words{options: []option{{"what", "x"}}}},
		{"a -- -f b", words{operands: []string{"a"}, dashes: true, after: []string{"-f", "b"}}},
		{"a --end-of-options -f", words{operands: []string{"a"}, after: []string{"-f"}}},
		{"- -m", words{operands: []string{"-"}, options: []option{{name: "m"}}}},
	} {
		tt.want.first = strings.Fields(tt.give)[0]
		if got := g.scan(strings.Fields(tt.give)); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("scan(%s) = %+v, want %+v", tt.give, got, tt.want)
		}
	}
}

// FuzzParse: nothing is lost, and no rule fails, of whatever is typed.
func FuzzParse(f *testing.F) {
	f.Add("-C\x00d\x00mv\x00-kf\x00a\x00b")
	f.Add("--git-dir\x00x\x00fetch\x00--refmap=\x00origin\x00+a:refs/b")
	f.Add("config\x00--")
	f.Add("branch\x00-\x00--=\x00-u")
	f.Fuzz(func(t *testing.T, text string) {
		args := strings.Split(text, "\x00")
		l := parse(args)
		joined := slices.Clone(l.global)
		if l.sub != "" || len(l.args) > 0 {
			joined = append(append(joined, l.sub), l.args...)
		}
		if l.sub != "" && !slices.Equal(joined, args) {
			t.Errorf("parse(%q) = %+v", args, l)
		}
		for name, r := range rules() {
			refusal(line{sub: name, args: args}, answers{})
			w := r.scan(args)
			if n := len(w.operands) + len(w.options) + len(w.after); n > len(text)+2 {
				t.Errorf("%s: scan(%q) = %+v", name, args, w)
			}
		}
		l.placeless()
	})
}
