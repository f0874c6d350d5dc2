package script

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestLiterals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ give, want string }{
		{"await agent('p')", ""},
		{"await agent('p', {allow: ['push to x']})", "x.js:1:27 push to x"},
		{"const a = run('p', {label: 'l', 'allow': ['push to x', 'push to y']})", "x.js:1:43 push to x, x.js:1:56 push to y"},
		{"await parallel([\n  () => agent('p', {allow: ['push to x']}),\n])", "x.js:2:29 push to x"},
		{"await agent('p', {allow: [name, 'push ' + 'to x', `push`]})", ""},
		{"await agent('p', {['allow']: ['push to x']})", ""},
		{"const config = {allow: ['/tmp']}; other({allow: ['x']}); log('agent')", ""},
		{"await agent('p', {allow: 'push to x'})", ""},
	} {
		p, err := Load(Source{Name: "x.js", Text: c.give})
		if err != nil {
			t.Errorf("%s: %v", c.give, err)
			continue
		}
		var got []string
		for _, l := range p.Allow {
			got = append(got, l.Where+" "+l.Text)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", c.give, got, c.want)
		}
	}
	many := fmt.Sprintf("agent('p', {allow: [%s]})", strings.Repeat("'x',", maxLiterals+1))
	p, err := Load(Source{Name: "x.js", Text: many})
	if err != nil || len(p.Allow) != maxLiterals {
		t.Fatalf("of many there are %d, %v", len(p.Allow), err)
	}
	if e := p.Allow[0].Wrong(errors.New("no")); e.Where != "x.js:1:21" || e.Message != "no" || e.Line == "" || e.Code != CodeOption {
		t.Errorf("Wrong = %+v", e)
	}
}
