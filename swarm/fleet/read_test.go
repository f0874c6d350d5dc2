package fleet

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"agentswarm/swarm/task"
)

const whole = `
[[case]]
name = "all of it"
args = { items = [1, "two", 3.5, true], deep = { a = "b" } }
budget_tokens = 500

[[case.agent]]
match = "/^fix .*$/"
label = "fixer"
reply = "done"
delay = 3
times = 2
tokens = 40
removes = ["old.txt"]
[case.agent.files]
"a/b.txt" = "new\n"

[[case.agent]]
structured = { ok = true }

[[case.agent]]
structured_json = 'null'

[[case.agent]]
fail = { kind = "quota", message = "no more" }

[[case.check]]
match = "test"
on = "merged"
ok = false
stdout = "out"

[[case.answer]]
match = "go on?"
answer = "yes"

[case.repo.files]
"go.mod" = "module x\n"

[[case.repo.commits]]
subject = "first"
files = ["go.mod"]

[case.expect]
result = { n = 1 }
agents = 2
logs = ["one", "two"]

[[case]]
name = "second"
args_json = '[null]'
expect = { throws = "budget", max_agents = 3 }
`

func TestRead(t *testing.T) {
	t.Parallel()
	s, err := Read("x.test.toml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Cases) != 2 {
		t.Fatalf("%d cases, want 2", len(s.Cases))
	}
	c := s.Cases[0]
	if got, want := string(c.Args), `{"deep":{"a":"b"},"items":[1,"two",3.5,true]}`; got != want {
		t.Errorf("args = %s, want %s", got, want)
	}
	if c.Line != 2 || c.Budget != 500 || len(c.Agents) != 4 {
		t.Errorf("line %d, budget %d, %d agents", c.Line, c.Budget, len(c.Agents))
	}
	a := c.Agents[0]
	if !a.Match.Match("fix this") || a.Match.Match("do not fix this") || !a.Label.Is("fixer") || a.Label.Is("fixer 2") {
		t.Errorf("match %v, label %v", a.Match, a.Label)
	}
	if a.Line != 7 || a.Delay != 3 || a.Times != 2 || a.Tokens != 40 || a.Files["a/b.txt"] != "new\n" || a.Removes[0] != "old.txt" {
		t.Errorf("agent = %+v", a)
	}
	endings := []Ending{
		&Reply{"done"}, &Structured{[]byte(`{"ok":true}`)}, &Structured{[]byte(`null`)},
		&Fail{Kind: task.Quota, Message: "no more"},
	}
	for i, want := range endings {
		if got := c.Agents[i].Ending; !reflect.DeepEqual(got, want) {
			t.Errorf("ending %d = %+v, want %+v", i, got, want)
		}
	}
	if k := c.Checks[0]; k.ExitCode != 1 || k.OK || k.On != "merged" || k.Stdout != "out" {
		t.Errorf("check = %+v", k)
	}
	if c.Answers[0].Text != "yes" || c.Repo.Files["go.mod"] == "" || c.Repo.Commits[0].Subject != "first" {
		t.Errorf("answer %+v, repo %+v", c.Answers[0], c.Repo)
	}
	if e := c.Expect; string(e.Result) != `{"n":1}` || *e.Agents != 2 || e.MaxAgents != nil || len(e.Logs) != 2 {
		t.Errorf("expect = %+v", e)
	}
	if e := s.Cases[1].Expect; e.Throws != "budget" || *e.MaxAgents != 3 || string(s.Cases[1].Args) != "[null]" {
		t.Errorf("expect = %+v", e)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	// Each stands after a case that is right but for it, from line 1.
	head := "[[case]]\nname = \"n\"\nexpect = { agents = 0 }\n"
	for _, tt := range []struct{ name, give, want string }{
		{"nothing", "", "f: has no case: each begins with [[case]]"},
		{"no TOML", "[[case]\n", "f:1: is not valid TOML: expected ']]' to close array table name"},
		{"a key twice", head + "name = \"m\"\n", "f:4: is not valid TOML: key name is already defined"},
		{"an unknown table", "[[cases]]\n", "f:1: cases: unknown key; did you mean case?"},
		{"a case that is a table", "[case]\n", "f:1: case: must be a list of tables ([[case]]), and is a table"},
		{"an unknown key of a case", head + "agents = 1\n", "f:4: agents: unknown key; did you mean agent?"},
		{"the first of two unknown keys", head + "zzzzz = 1\naaaaa = 1\n", "f:4: zzzzz: unknown key; known: name, code, args"},
		{"no name", "[[case]]\nexpect = { agents = 0 }\n", "f:1: case[0]: name is missing"},
		{"an empty name", "[[case]]\nname = \" \"\n", "f:2: name: is empty"},
		{"a name twice", head + head, `f:5: name: there are two cases "n"`},
		{"nothing expected", "[[case]]\nname = \"n\"\n", "f:1: case[0]: expects nothing: [case.expect] is missing"},
		{"an empty expectation", "[[case]]\nname = \"n\"\n[case.expect]\n", "f:3: expect: expects nothing"},
		{"a budget of nothing", head + "budget_tokens = 0\n", "f:4: budget_tokens: must be a whole number from 1 to 2147483647"},
		{"args twice", head + "args = 1\nargs_json = '1'\n", "f:5: args_json: only one of args, args_json may stand here"},
		{"args that are no JSON", head + "args_json = '{'\n", "f:4: args_json: is not JSON: unexpected end of JSON input"},
		{"a date in args", head + "args = { a = [1, 2020-01-01] }\n", "f:4: a[1]: has no like in JSON; write it as a text"},
		{"infinity in args", head + "args = inf\n", "f:4: args: has no like in JSON; write it as a text"},
		{"code that is none", head + "code = ''\n", "f:4: code: is empty"},
		{"an agent without an end", head + "[[case.agent]]\nmatch = \"x\"\n", "f:4: agent[0]: needs one of reply, structured, structured_json, fail"},
		{"an agent with two", head + "[[case.agent]]\nreply = \"x\"\nfail = { kind = \"quota\" }\n", "f:6: fail: only one of reply, structured, structured_json, fail may stand here"},
		{"an unknown kind of failure", head + "[[case.agent]]\nfail = { kind = \"qouta\" }\n", `f:5: kind: unknown kind "qouta"; did you mean quota?`},
		{"a failure that is a text", head + "[[case.agent]]\nfail = \"quota\"\n", "f:5: fail: must be a table, and is a text"},
		{"an expression that is none", head + "[[case.agent]]\nmatch = \"/(/\"\nreply = \"\"\n", "f:5: match: is not a regular expression: error parsing regexp: missing closing ): `(`"},
		{"a delay before now", head + "[[case.agent]]\nreply = \"\"\ndelay = -1\n", "f:6: delay: must be a whole number from 0 to 2147483647"},
		{"no times at all", head + "[[case.agent]]\nreply = \"\"\ntimes = 0\n", "f:6: times: must be a whole number from 1 to 2147483647"},
		{"the second agent", head + "[[case.agent]]\nreply = \"\"\n[[case.agent]]\nrepyl = \"\"\n", "f:7: repyl: unknown key; did you mean reply?"},
		{"a file out of the repository", head + "[[case.agent]]\nfiles = { \"../a.txt\" = \"\" }\n", "f:5: ../a.txt: is not a path within the repository"},
		{"a removal out of it", head + "[[case.agent]]\nremoves = [\n\"ok\",\n\"/etc\"]\n", "f:7: removes[1]: is not a path within the repository"},
		{"a file that is no text", head + "[[case.agent]]\nfiles = { \"a.txt\" = 3 }\n", "f:5: a.txt: must be a text, and is a number"},
		{"a check without a result", head + "[[case.check]]\nmatch = \"x\"\n", "f:4: check[0]: ok is missing: true or false"},
		{"a check that is ok and failed", head + "[[case.check]]\nok = true\nexit_code = 2\n", "f:6: exit_code: a check that is ok ends with 0"},
		{"a check that failed with 0", head + "[[case.check]]\nok = false\nexit_code = 0\n", "f:6: exit_code: a check that is not ok does not end with 0"},
		{"a check that is a word", head + "[[case.check]]\nok = \"yes\"\n", "f:5: ok: must be true or false, and is a text"},
		{"an answer without words", head + "[[case.answer]]\nmatch = \"x\"\n", "f:4: answer[0]: answer is missing"},
		{"an unknown key of the repository", head + "[case.repo]\nfile = {}\n", "f:5: file: unknown key; did you mean files?"},
		{"a commit without a subject", head + "[[case.repo.commits]]\nauthor = \"a\"\n", "f:4: commits[0]: subject is missing"},
		{"a result and an error", "[[case]]\nname = \"n\"\nexpect = { result = 1, throws = \"x\" }\n", "f:3: throws: only one of result, result_json, throws may stand here"},
		{"agents counted twice", "[[case]]\nname = \"n\"\nexpect = { agents = 1, max_agents = 1 }\n", "f:3: max_agents: only one of agents, max_agents may stand here"},
		{"logs that are no texts", "[[case]]\nname = \"n\"\n[case.expect]\nlogs = [1]\n", "f:4: logs[0]: must be a text, and is a number"},
		{"too deep", "a = " + strings.Repeat("[", 70) + strings.Repeat("]", 70), "f:1: nests more than 64 levels"},
		{"a key of too many parts", strings.Repeat("a.", 70) + "a = 1", "f:1: nests more than 64 levels"},
		{"a table of too many parts", "\n[" + strings.Repeat("a.", 70) + "a]", "f:2: nests more than 64 levels"},
		{"too long", strings.Repeat("#", MaxSize+1), "f: is longer than 1048576 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Read("f", []byte(tt.give))
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("error = %v, want an *Error", err)
			}
			if !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got  %s\nwant %s", err, tt.want)
			}
		})
	}
}

// FuzzRead: whatever stands in a file, it is read or refused, twice alike, and
// a refusal names a line that the file has.
func FuzzRead(f *testing.F) {
	f.Add(whole)
	f.Add("[[case]]\nname = \"n\"\n[case.expect]\nresult = [{a=1},{b=[[]]}]\n")
	f.Add("[[case]]\n[[case.agent]]\n[case.agent.files]\n\"a.b\" = ''\n[[case.agent]]\n")
	f.Add("case = [{name='x', agent=[{reply=''}], expect={agents=1}}]")
	f.Add("a.b.c = 1\n[a.b]\n")
	f.Add("\ufeff[[case]]\r\nname='''\r\n'''\r\n")
	files, err := filepath.Glob("../../testdata/workflows/*.toml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Read("f", []byte(text))
		again, err2 := Read("f", []byte(text))
		if (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() {
			t.Fatalf("read twice: %v and %v", err, err2)
		}
		if err != nil {
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Line < 0 || e.Line > strings.Count(text, "\n")+1 {
				t.Fatalf("error = %#v", err)
			}
			return
		}
		if !reflect.DeepEqual(s, again) || len(s.Cases) == 0 {
			t.Fatalf("read twice: %+v and %+v", s, again)
		}
		for _, c := range s.Cases {
			if c.Name == "" || c.Line < 1 {
				t.Errorf("case = %+v", c)
			}
		}
	})
}
