package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"agentswarm/risk/argv"
)

// wrapping is a command that may run another command, split into its parts.
type wrapping struct {
	*entry
	c    *command
	name string
	line *argv.Line
	ops  []field // its operands
}

// lookUp returns the table's entry for a program: under its name, or under that
// name without a version.
func (r *Reader) lookUp(name string) (*program, string) {
	if p := r.programs[name]; p != nil {
		return p, name
	}
	short := strings.TrimRight(strings.TrimSuffix(name, ".exe"), "0123456789.-")
	return r.programs[short], short
}

// unwrap reads the commands that a program runs, by the table.
func (s *scope) unwrap(name string, c *command) output {
	p, name := s.lookUp(name)
	if p == nil {
		return s.own(c)
	}
	s.step(len(c.words)) // it is taken apart once more
	words := values(c.words)
	line := p.grammar.Parse(words[1:])
	w := &wrapping{c: c, name: name, line: line}
	last := len(words) - len(line.Operands)
	w.ops = slices.Clone(c.words[last:])
	for i, o := range line.Operands {
		if words[last+i] != o { // an option stands between operands
			w.ops[i] = field{Word: o}
		}
	}
	e := p.entries[strings.Join(line.Sub, " ")]
	if top := p.entries[""]; top != nil && top.Inner == "git" {
		s.git(w)
	}
	if w.entry = e; e == nil {
		return output{}
	}
	if slices.ContainsFunc(line.Options, func(o argv.Option) bool { return slices.Contains(e.Never, o.Name) }) {
		return output{}
	}
	for _, o := range line.Options {
		switch {
		case slices.Contains(e.Text, o.Name) && o.Valued:
			s.optionText(w, o.Value, "")
		case slices.Contains(e.Appends, o.Name) && o.Valued:
			s.optionText(w, o.Value, " '"+anything+"'")
		case slices.Contains(e.Settings, o.Name):
			s.setByKey(w, o.Value)
		}
	}
	if len(e.Only) > 0 && !line.Has(e.Only...) {
		return output{}
	}
	return s.inside(w)
}

// optionText reads the value of an option as text.
func (s *scope) optionText(w *wrapping, value argv.Word, more string) {
	if !value.Known {
		s.opaque("the text that "+w.name+" runs is not known", w.c.span)
		return
	}
	s.child(w).code(value.Value+more, w.c.span)
}

// setByKey reads a setting of ssh that is a command.
func (s *scope) setByKey(w *wrapping, value argv.Word) {
	i := strings.IndexAny(value.Value, "= ")
	if i < 0 {
		if !value.Known {
			s.opaque("which setting is set is not known", w.c.span)
		}
		return
	}
	switch strings.ToLower(value.Value[:i]) {
	case "proxycommand", "localcommand", "knownhostscommand", "remotecommand":
		text := strings.TrimLeft(value.Value[i:], "= ")
		if text != "none" {
			local := *w.entry
			local.Remote = false
			one := *w
			one.entry = &local
			s.optionText(&one, argv.Word{Value: text, Known: value.Known}, "")
		}
	}
}

// inside reads the command that stands in the operands.
func (s *scope) inside(w *wrapping) output {
	switch w.Inner {
	case "tail":
		if w.line.Has(w.Shell...) && len(w.Shell) > 0 {
			return s.joined(w, w.ops[min(w.Skip, len(w.ops)):])
		}
		return s.tail(w)
	case "command":
		if len(w.ops) > 0 {
			sub := *w.c
			sub.words, sub.noFuncs = w.ops, true
			return s.commandIn(w.name, &sub)
		}
	case "text":
		if w.line.Has(w.Words...) && len(w.Words) > 0 {
			return s.tail(w)
		}
		return s.joined(w, w.ops[min(w.Skip, len(w.ops)):])
	case "first":
		for _, op := range w.ops[min(w.Skip, len(w.ops)):] {
			s.optionText(w, op.Word, "")
		}
	case "dashes":
		return s.dashes(w)
	case "after":
		return s.after(w)
	case "flake":
		return s.flake(w)
	case "corepack":
		return s.corepack(w)
	case "exec":
		s.each(w)
	case "xargs":
		s.xargs(w)
	case "parallel":
		s.parallel(w)
	case "env":
		return s.env(w)
	case "shell":
		return s.shell(w)
	case "code":
		s.interpreter(w)
	case "script":
		s.recorded(w)
	case "awk", "sed", "make", "tar", "editor", "bwrap", "socat":
		s.special(w)
	default:
		s.input(w)
	}
	return output{}
}

// commandIn reads a command that a builtin runs in the shell itself.
func (s *scope) commandIn(via string, c *command) output {
	before := s.via
	s.via = append(slices.Clip(before), via)
	out := s.command(c)
	s.via = before
	return out
}

// child returns the scope of a program that another program starts.
func (s *scope) child(w *wrapping) *scope {
	sub := s.within(w.name)
	sub.orphan()
	if w.entry == nil {
		return sub
	}
	if w.Remote {
		sub.remote, sub.vars = true, nil
		sub.cwd, sub.old, sub.files = Folder{Moved: true}, Folder{Moved: true}, nil
	}
	for _, o := range w.line.Options {
		if o.Valued && slices.Contains(w.Chdir, o.Name) {
			sub.cwd = sub.folder(field{Word: o.Value})
		}
	}
	return sub
}

// orphan removes the state that a program does not get from the shell that
// starts it.
func (s *scope) orphan() {
	for name, v := range s.vars {
		if !v.exported {
			if _, ok := s.at.Env[name]; ok || name == "HOME" || name == "PWD" { // the environment has it, with this value
				continue
			}
			delete(s.vars, name)
		}
	}
	s.aliases, s.params, s.locals, s.loops = nil, nil, nil, 0
}

// tail reads the last operands as a command.
func (s *scope) tail(w *wrapping) output {
	sub := s.child(w)
	ops, assigns := w.ops, slices.Clone(w.c.assigns)
	take := func() {
		for w.Assigns && len(ops) > 0 {
			name, value, ok := strings.Cut(ops[0].Value, "=")
			if body, is := strings.CutPrefix(name, "BASH_FUNC_"); is && ok && body != "" {
				sub.code("f"+value, w.c.span) // a function, for every bash below
			} else if !ok || !syntax.ValidName(name) && (w.Inner != "env" || name == "") {
				return
			}
			f := field{Word: argv.Word{Value: value, Known: ops[0].Known}, guess: ops[0].guess}
			sub.assign(name, variable{value: f, exported: true}, w.c.span)
			assigns = append(assigns, Assign{Name: name, Value: f.Word})
			ops = ops[1:]
		}
	}
	take()
	if w.name == "sudo" && len(ops) > 0 && len(ops) < len(w.ops) && strings.HasPrefix(ops[0].Value, "-") {
		c := *w.c // sudo takes options after assignments, too
		c.words, c.assigns = append([]field{w.c.words[0]}, ops...), assigns
		return sub.unwrap(w.name, &c)
	}
	ops = undashed(ops[min(w.Skip, len(ops)):])
	take()
	if len(ops) == 0 {
		if w.name == "exec" && !w.c.outside && w.c.r != nil {
			w.c.r.keep = true
		}
		s.input(w)
		return output{}
	}
	if w.name == "flock" && (ops[0].Value == "-c" || ops[0].Value == "--command") && len(ops) > 1 {
		s.optionText(w, ops[1].Word, "")
		return output{}
	}
	if w.name == "bun" && len(w.line.Sub) > 0 && w.line.Sub[0] == "exec" {
		return s.joined(w, ops) // it reads this as text
	}
	ops = slices.Clone(ops)
	if w.Versions {
		ops[0].Value = unversioned(ops[0].Value)
	}
	out := sub.command(&command{words: ops, assigns: assigns, writes: w.c.writes, span: w.c.span, outside: true})
	if w.name == "exec" && !w.c.outside {
		return output{known: out.known, text: out.text}
	}
	return out
}

// unversioned is the name of a package without the version after it.
func unversioned(name string) string {
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		return name[:i]
	}
	return name
}

// joined reads operands as a single text.
func (s *scope) joined(w *wrapping, ops []field) output {
	ops = undashed(ops)
	if len(ops) == 0 {
		s.input(w)
		return output{}
	}
	text, ok := joinedText(ops)
	if !ok {
		s.opaque("the text that "+w.name+" runs is not known", w.c.span)
		return output{}
	}
	if w.Typed {
		text = keys.Replace(text)
	}
	s.child(w).code(text, w.c.span)
	return output{}
}

// keys are the forms in which multiplexers take a key that ends a line.
var keys = strings.NewReplacer("^M", "\n", "^J", "\n", `\r`, "\n", `\n`, "\n", `\015`, "\n", `\012`, "\n")

// input reads the input of a program that runs it as text.
func (s *scope) input(w *wrapping) {
	switch {
	case w.Input == "alone" && len(w.Text) > 0 && w.line.Has(w.Text...):
	case w.Input == "", w.Input == "always" && slices.ContainsFunc(w.line.Operands, func(o argv.Word) bool { return o.Value != "-" }) && w.name == "crontab":
	case s.stdin.Kind == StdinText:
		text := s.stdin.Text
		if w.name == "crontab" {
			text = jobs(text)
		}
		sub := s.child(w)
		sub.stdin = feed{Stdin: Stdin{Kind: StdinInherited}}
		sub.code(text, w.c.span)
	case s.stdin.Kind == StdinUnknown && !s.stdin.file:
		s.opaque("what "+w.name+" is given to run is not known", w.c.span)
	}
}

// jobs are the commands of a crontab.
func jobs(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		n := 5
		if len(fields) > 0 && strings.HasPrefix(fields[0], "@") {
			n = 1
		}
		if len(fields) > n && !strings.HasPrefix(fields[0], "#") && !strings.Contains(fields[0], "=") {
			b.WriteString(strings.Join(fields[n:], " ") + "\n")
		}
	}
	return b.String()
}

// recorded reads the command that script records: its option, or on BSD the
// words after the file.
func (s *scope) recorded(w *wrapping) {
	if w.line.Has(w.Text...) || len(w.ops) < 2 {
		s.input(w)
		return
	}
	at := slices.IndexFunc(w.c.words[1:], func(f field) bool { return f.Word == w.ops[0].Word })
	sub := *w
	sub.ops = w.c.words[1:][at+1:]
	s.tail(&sub)
}

// dashes reads the command after "--". Without "--" it reads the command after
// the program's own operands, if it has a fixed number of them.
func (s *scope) dashes(w *wrapping) output {
	at := w.line.Dashes
	if at < 0 {
		at = min(w.Skip, len(w.ops))
	}
	sub := *w
	own := *w.entry
	own.Skip = 0
	sub.entry, sub.ops = &own, w.ops[at:]
	if len(sub.ops) == 0 {
		s.input(w)
		return output{}
	}
	return s.tail(&sub)
}

// after reads the command after the first of some options.
func (s *scope) after(w *wrapping) output {
	words := w.c.words[1:]
	at := slices.IndexFunc(words, func(f field) bool { return slices.Contains(w.After, f.Value) })
	if at < 0 {
		return output{}
	}
	sub := *w
	if sub.ops = words[at+1:]; len(sub.ops) == 1 && strings.Contains(sub.ops[0].Value, " ") {
		s.optionText(w, sub.ops[0].Word, "")
		return output{}
	}
	return s.tail(&sub)
}

// flake reads the program that "nix run" starts from a package, "nixpkgs#npm", with
// the words behind it. A package that names no program is left alone.
func (s *scope) flake(w *wrapping) output {
	if len(w.ops) == 0 || !w.ops[0].Known || w.line.Dashes == 0 {
		return output{}
	}
	_, attribute, ok := strings.Cut(w.ops[0].Value, "#")
	attribute, _, _ = strings.Cut(attribute, "^")
	name := attribute[strings.LastIndexByte(attribute, '.')+1:]
	if !ok || name == "" {
		return output{}
	}
	sub := *w
	sub.ops = slices.Clone(w.ops)
	sub.ops[0] = field{Word: argv.Known(name)}
	return s.tail(&sub)
}

// corepack reads the package manager that corepack starts: its first word, unless that
// is a command of its own.
func (s *scope) corepack(w *wrapping) output {
	if len(w.ops) == 0 || !w.ops[0].Known {
		return output{}
	}
	switch unversioned(w.ops[0].Value) {
	case "npm", "npx", "pnpm", "pnpx", "yarn", "yarnpkg":
		return s.tail(w)
	}
	return output{}
}

// undashed are operands without a "--" that stands before them.
func undashed(ops []field) []field {
	if len(ops) > 0 && ops[0].Known && ops[0].Value == "--" {
		return ops[1:]
	}
	return ops
}

// own reads a file that is run as a program, if the text has written it.
func (s *scope) own(c *command) output {
	where := s.folder(c.words[0])
	out, ok := s.files[where.Path]
	if !ok || !where.Known || !strings.Contains(c.words[0].Value, "/") {
		return output{}
	}
	if !out.known {
		s.opaque("the text has written this program, and what is not known", c.span)
		return output{}
	}
	sub := s.within(base(where.Path))
	sub.orphan()
	sub.params = &params{zero: c.words[0], rest: c.words[1:]}
	sub.run(out.text, c.span)
	return output{}
}

// run reads a file by its first line, which names the interpreter.
func (s *scope) run(text string, at Span) {
	line, _, _ := strings.Cut(text, "\n")
	if hash, ok := strings.CutPrefix(line, "#!"); ok {
		for _, part := range strings.Fields(hash) {
			p, _ := s.lookUp(base(part))
			if p != nil && p.entries[""] != nil && p.entries[""].Inner == "code" {
				s.foreign(p.entries[""].Language, text, at)
				return
			}
		}
	}
	s.code(text, at)
}
