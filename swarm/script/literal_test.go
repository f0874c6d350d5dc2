package script

import (
	"errors"
	"fmt"
	"reflect"
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

// TestUses holds which tools of a script are known before it runs.
func TestUses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		give string
		want []Use
	}{
		{"await agent('p')", nil},
		{"await agent('p', {label: 'l', agent: 'a'})", nil},
		{"await agent('p', {tools: '*'})", []Use{{Tools: []string{"*"}, Where: "x.js:1:18"}}},
		{"await agent({prompt: 'p', tools: ['Read', name], disallowedTools: ['Bash(rm *)']})", []Use{{
			Tools: []string{"Read"}, Without: []string{"Bash(rm *)"}, Where: "x.js:1:13",
		}}},
		{"sa.run('p', {agentType: 'scout', agent: 'pi'})", []Use{{Agent: "pi", AgentType: "scout", Where: "x.js:1:13"}}},
		{"other('p', {tools: ['Read']}); sb.run('p', {tools: ['Read']})", nil},
	} {
		p, err := Load(Source{Name: "x.js", Text: c.give})
		if err != nil || !reflect.DeepEqual(p.Uses, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", c.give, p.Uses, err, c.want)
		}
	}
}
