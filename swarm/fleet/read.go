package fleet

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"agentswarm/swarm/nearest"
	"agentswarm/swarm/task"
)

// MaxSize bounds a test file, in bytes.
const MaxSize = 1 << 20

// Read reads a test file. Its error is an [*Error].
func Read(name string, text []byte) (*Suite, error) {
	if len(text) > MaxSize {
		return nil, &Error{File: name, Reason: fmt.Sprintf("is longer than %d bytes", MaxSize)}
	}
	text = plain(text)
	r := &reader{file: name, lines: linesOf(text)}
	if r.lines.deep > 0 {
		return nil, &Error{File: name, Line: r.lines.deep, Reason: fmt.Sprintf("nests more than %d levels", maxDepth)}
	}
	var whole map[string]any
	if err := toml.Unmarshal(text, &whole); err != nil {
		e := &Error{File: name, Reason: "is not valid TOML: " + strings.TrimPrefix(err.Error(), "toml: ")}
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			e.Line, _ = at.Position()
		}
		return nil, e
	}
	root := &table{reader: r, values: whole}
	root.only("case")
	s := &Suite{Name: name}
	names := map[string]bool{}
	for _, t := range root.tables("case") {
		c := readCase(t)
		if names[c.Name] {
			t.fail(t.key("name"), fmt.Sprintf("there are two cases %q", c.Name))
		}
		names[c.Name] = true
		s.Cases = append(s.Cases, c)
	}
	if r.err == nil && len(s.Cases) == 0 {
		r.err = &Error{File: name, Reason: "has no case: each begins with [[case]]"}
	}
	if r.err != nil {
		return nil, r.err
	}
	return s, nil
}

func readCase(t *table) *Case {
	t.only("name", "code", "args", "args_json", "budget_tokens", "agent", "check", "answer", "repo", "expect")
	c := &Case{
		Name: t.need("name"), Line: t.lines.of[t.path],
		Args: t.value("args"), Budget: t.count("budget_tokens", 1),
	}
	if t.has("code") {
		c.Code = t.need("code")
	}
	for _, a := range t.tables("agent") {
		c.Agents = append(c.Agents, readAgent(a))
	}
	for _, k := range t.tables("check") {
		c.Checks = append(c.Checks, readCheck(k))
	}
	for _, a := range t.tables("answer") {
		a.only("match", "answer", "delay", "times")
		c.Answers = append(c.Answers, &Answer{
			Line: a.lines.of[a.path], Match: a.pattern("match"), Text: a.need("answer"),
			Delay: a.count("delay", 0), Times: int(a.count("times", 1)),
		})
	}
	if repo := t.table("repo"); repo != nil {
		c.Repo = readRepo(repo)
	}
	expect := t.table("expect")
	if expect == nil {
		t.fail(t.path, "expects nothing: [case.expect] is missing")
		return c
	}
	c.Expect = readExpect(expect)
	return c
}

func readAgent(t *table) *Agent {
	t.only("match", "label", "reply", "structured", "structured_json", "fail",
		"delay", "files", "removes", "times", "tokens")
	a := &Agent{
		Line: t.lines.of[t.path], Match: t.pattern("match"), Label: t.pattern("label"),
		Times: int(t.count("times", 1)), Delay: t.count("delay", 0),
		Files: t.files("files"), Removes: t.texts("removes"), Tokens: t.count("tokens", 0),
	}
	for i, p := range a.Removes {
		if !inside(p) {
			t.fail(at(t.key("removes"), i), "is not a path within the repository")
		}
	}
	// An agent that only changes files says nothing.
	silent := t.has("files") || t.has("removes")
	t.one(!silent, "reply", "structured", "structured_json", "fail")
	switch {
	case t.has("fail"):
		a.Ending = readFail(t.table("fail"))
	case t.has("structured") || t.has("structured_json"):
		a.Ending = &Structured{Value: t.value("structured")}
	default:
		a.Ending = &Reply{Text: t.text("reply")}
	}
	return a
}

func readFail(t *table) *Fail {
	if t == nil {
		return &Fail{}
	}
	t.only("kind", "message")
	f := &Fail{Message: t.text("message")}
	kind := t.need("kind")
	if err := f.Kind.UnmarshalText([]byte(kind)); err != nil {
		var known []string
		for _, k := range task.Kinds() {
			known = append(known, string(k))
		}
		hint := "there are " + strings.Join(known, ", ")
		if near := nearest.Word(kind, known); near != "" {
			hint = "did you mean " + near + "?"
		}
		t.fail(t.key("kind"), fmt.Sprintf("unknown kind %q; %s", kind, hint))
	}
	return f
}

func readCheck(t *table) *Check {
	t.only("match", "on", "ok", "exit_code", "stdout", "stderr", "delay", "times")
	c := &Check{
		Line: t.lines.of[t.path], Match: t.pattern("match"), On: t.text("on"), OK: t.boolean("ok"),
		ExitCode: int(t.count("exit_code", 0)), Stdout: t.text("stdout"), Stderr: t.text("stderr"),
		Delay: t.count("delay", 0), Times: int(t.count("times", 1)),
	}
	switch {
	case !t.has("ok"):
		t.fail(t.path, "ok is missing: true or false")
	case c.OK && c.ExitCode != 0:
		t.fail(t.key("exit_code"), "a check that is ok ends with 0")
	case !c.OK && !t.has("exit_code"):
		c.ExitCode = 1
	case !c.OK && c.ExitCode == 0:
		t.fail(t.key("exit_code"), "a check that is not ok does not end with 0")
	}
	return c
}

func readRepo(t *table) Repo {
	t.only("files", "commits")
	r := Repo{Files: t.files("files")}
	for _, c := range t.tables("commits") {
		c.only("subject", "author", "date", "files")
		r.Commits = append(r.Commits, Commit{
			Subject: c.need("subject"), Author: c.text("author"), Date: c.text("date"), Files: c.texts("files"),
		})
	}
	return r
}

func readExpect(t *table) Expect {
	t.only("result", "result_json", "throws", "agents", "max_agents", "logs")
	t.one(false, "result", "result_json", "throws")
	t.one(false, "agents", "max_agents")
	if len(t.values) == 0 {
		t.fail(t.path, "expects nothing")
	}
	e := Expect{Result: t.value("result"), Logs: t.texts("logs")}
	if t.has("throws") {
		e.Throws = t.need("throws")
	}
	if n := int(t.count("agents", 0)); t.has("agents") {
		e.Agents = &n
	}
	if n := int(t.count("max_agents", 0)); t.has("max_agents") {
		e.MaxAgents = &n
	}
	return e
}

// inside reports whether a path lies within a repository, and has its plain
// form.
func inside(p string) bool {
	return p != "" && p != "." && p != ".." && path.Clean(p) == p &&
		!strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "../") && !strings.ContainsAny(p, "\x00\\")
}
