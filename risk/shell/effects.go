package shell

import (
	"slices"
	"strings"

	"agentswarm/risk/argv"
)

// computed reads a call of a member that is named by an expression.
func (f *foreignCode) computed(end int) {
	start := end
	for start > 0 && !f.sign(start, "[") && end-start < 40 {
		start--
	}
	w := f.word(f.tokens[min(start+1, end):end], 0)
	spawns := slices.ContainsFunc(f.tokens, func(t token) bool { return t.kind == quote && strings.Contains(t.text, "process") })
	if w.Known && (f.kind("child_process."+w.Value) != "" || f.kind("fs."+w.Value) != "") || !w.Known && spawns {
		f.s.opaque("a function is looked up as the code runs", f.at)
	}
}

// open reads an open of Perl or Ruby, which runs a program where a bar stands
// in its argument.
func (f *foreignCode) open(name string, c call) {
	if f.language == "perl" {
		c.args = c.args[min(1, len(c.args)):]
	}
	w := f.word(nth(c.args, 0), 0)
	before, hasBefore := strings.CutPrefix(strings.TrimSpace(w.Value), "|")
	after, hasAfter := strings.CutSuffix(strings.TrimSpace(w.Value), "|")
	switch {
	case (w.Value == "-|" || w.Value == "|-") && len(c.args) > 1:
		f.command(name, call{args: c.args[1:], at: c.at})
	case hasBefore:
		f.text(argv.Word{Value: before, Known: w.Known}, name)
	case hasAfter && w.Known:
		f.text(argv.Known(after), name)
	case f.language == "ruby":
		f.write(name, c)
	case w.Known && strings.HasPrefix(w.Value, ">"):
		path, more := strings.CutPrefix(w.Value[1:], ">")
		to := argv.Known(strings.TrimSpace(path))
		if to.Value == "" || to.Value == ":utf8" {
			to = f.word(nth(c.args, 1), 0)
		}
		if to.Known {
			f.s.script.Writes = append(f.s.script.Writes, Write{Path: to, Append: more, Cwd: f.s.cwd, Via: f.s.via, Remote: f.s.remote, Span: f.at})
		}
	}
}

// send reads a call that sends something to another machine.
func (f *foreignCode) send(name string, c call) {
	last := strings.ToUpper(name[strings.LastIndexByte(name, '.')+1:])
	method := argv.Known(last)
	if !slices.Contains([]string{"POST", "PUT", "DELETE", "PATCH"}, last) {
		given, ok := f.named(c, "method")
		_, body := f.named(c, "data")
		_, body2 := f.named(c, "body")
		switch {
		case ok:
			method = argv.Word{Value: strings.ToUpper(given.Value), Known: given.Known}
		case body || body2 || last == "URLOPEN" && len(c.args) > 1 && !slices.ContainsFunc(c.args[1], func(t token) bool { return t.text == "=" }):
			method = argv.Known("POST")
		case last == "REQUEST" && len(c.args) > 1 && len(c.args[0]) == 1 && c.args[0][0].kind == quote:
			w := f.word(c.args[0], 0)
			method, c.args = argv.Known(strings.ToUpper(w.Value)), c.args[1:]
		default:
			return
		}
	}
	if method.Known && (method.Value == "GET" || method.Value == "HEAD" || method.Value == "OPTIONS") {
		return
	}
	f.run(name, argv.Known("curl"), argv.Known("-X"), method, f.first(c))
}

// printed records the file that awk prints to: after print, ">" compares
// nothing unless it stands in brackets.
func (f *foreignCode) printed(i int) {
	if f.sign(i-1, ">") || f.sign(i+1, "=") {
		return
	}
	depth, prints := 0, false
	for j := i - 1; j >= 0 && depth >= 0 && !prints && f.s.step(1); j-- {
		switch t := f.tok(j); {
		case t.kind == ident:
			prints = depth == 0 && (t.text == "print" || t.text == "printf")
		case t.kind != sign:
		case strings.Contains(")]", t.text):
			depth++
		case strings.Contains("([", t.text):
			depth--
		case strings.Contains(";{}\n", t.text):
			depth = -1
		}
	}
	if !prints {
		return
	}
	more := f.sign(i+1, ">")
	if more {
		i++
	}
	to := f.word(trim(f.until(i+1)), 0)
	f.s.script.Writes = append(f.s.script.Writes, Write{
		Path: to, Append: more, Cwd: f.s.cwd, Via: f.s.via, Remote: f.s.remote, Span: f.at,
	})
}

// write records a file that is opened for writing, where its path is known.
func (f *foreignCode) write(name string, c call) {
	path := f.first(c)
	if strings.HasSuffix(name, "write_text") || strings.HasSuffix(name, "write_bytes") {
		path = f.first(call{at: c.at})
	}
	more := strings.Contains(strings.ToLower(name), "append")
	if last := name[strings.LastIndexByte(name, '.')+1:]; last == "open" || last == "fopen" {
		mode := argv.Known("r")
		if len(c.args) > 1 {
			mode = f.word(c.args[1], 0)
		}
		if given, ok := f.named(c, "mode"); ok {
			mode = given
		}
		if !strings.ContainsAny(mode.Value, "wax+>") {
			return
		}
		more = strings.Contains(mode.Value, "a")
	}
	if path.Known {
		f.s.script.Writes = append(f.s.script.Writes, Write{Path: path, Append: more, Cwd: f.s.cwd, Via: f.s.via, Remote: f.s.remote, Span: f.at})
	}
}
