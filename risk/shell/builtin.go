package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// builtin reads a builtin of a shell, and reports whether the command is a
// builtin.
func (s *scope) builtin(name string, c *command) (output, bool) {
	args := c.words[1:]
	switch name {
	case "cd", "chdir":
		s.cd(args)
	case "pushd":
		s.pushed = append(s.pushed, s.cwd)
		if len(args) == 0 || strings.IndexByte("+-", (args[0].Value + " ")[0]) >= 0 {
			args = []field{unknown()} // it goes round
		}
		s.cd(args)
	case "popd":
		s.old, s.cwd = s.cwd, Folder{Moved: true}
		if n := len(s.pushed); n > 0 && len(args) == 0 {
			s.cwd, s.pushed = s.pushed[n-1], s.pushed[:n-1]
			s.cwd.Moved = true
		}
	case "eval":
		return s.eval(args, c), true
	case ".", "source":
		s.source(args, c)
		return output{}, true
	case "trap":
		s.trap(args, c)
	case "export", "readonly", "declare", "typeset", "local":
		for _, a := range args {
			s.exported(a, c.span)
		}
		return nothing(), !s.indexes(args, c)
	case "set":
		s.setParams(args)
	case "shift":
		s.params = s.shifted(args)
	case "unset":
		for _, a := range args {
			delete(s.funcs, a.Value)
			s.set(a.Value, variable{})
			s.vars[a.Value] = variable{unset: true}
		}
		return nothing(), !s.indexes(args, c)
	case "read", "mapfile", "readarray", "getopts":
		s.read(name, args)
		s.indexes(args, c)
		return nothing(), name == "read" || name == "getopts"
	case "alias":
		s.aliased(args, c)
	case "hash":
		if len(args) > 0 && strings.HasPrefix(args[0].Value, "-p") {
			s.opaque("a name is given to another program", c.span)
		}
	case "test", "[", "wait", "let":
		return nothing(), !s.indexes(args, c)
	case "true", "false", ":", "exit", "return", "break", "continue", "shopt", "umask", "ulimit", "unalias":
	default:
		return output{}, false
	}
	return nothing(), true
}

// aliased reads the texts that get a name.
func (s *scope) aliased(args []field, c *command) {
	for _, a := range args {
		if name, text, ok := strings.Cut(a.Value, "="); ok && a.Known {
			s.alias(name, text)
			s.within("alias").code(text, c.span)
		} else if ok {
			s.opaque("the text of an alias is not known", c.span)
		}
	}
}

// indexes looks for words that are taken for names of variables and hold
// commands, and records them as opaque. It always returns false, for its caller
// to return.
func (s *scope) indexes(args []field, c *command) bool {
	for _, a := range args {
		if indexed(a.Value) {
			s.opaque("a value is read as an expression that runs commands", c.span)
		}
	}
	return false
}

// cd goes to another folder.
func (s *scope) cd(args []field) {
	for len(args) > 0 && args[0].Known && len(args[0].Value) > 1 && args[0].Value[0] == '-' {
		done := args[0].Value == "--"
		if args = args[1:]; done {
			break
		}
	}
	from := s.cwd
	switch {
	case len(args) == 0:
		s.cwd = s.folder(s.lookup("HOME").value)
	case args[0].Known && args[0].Value == "-":
		s.cwd = s.old
		s.cwd.Moved = true
	case s.lookup("CDPATH").value.Value != "" && !strings.HasPrefix(args[0].Value, "/"):
		s.cwd = Folder{Moved: true}
	default:
		s.cwd = s.folder(args[0])
	}
	if s.cwd.Path == from.Path && s.cwd.Known && from.Known {
		s.cwd.Moved = from.Moved
	}
	s.old = from
}

// eval reads the text that words make.
func (s *scope) eval(args []field, c *command) output {
	args = undashed(args)
	text, ok := joinedText(args)
	switch {
	case len(args) == 0:
		return nothing()
	case ok:
		via := s.via
		s.via = append(via[:len(via):len(via)], "eval")
		out := s.code(text, c.span)
		s.via = via
		return out
	case c.node != nil && len(c.node.Args) == 2 && s.idiom(c.node.Args[1]):
		s.forget()
		return output{}
	case c.node != nil && len(c.node.Args) == 4 && args[0].Value == "set" && args[1].Value == "--" && s.isGetopt(c.node.Args[3]):
		return output{}
	}
	s.opaque("the text that eval runs is not known", c.span)
	return output{}
}

// source reads the text of a file, if it is known. A file with unknown text
// counts as a program.
func (s *scope) source(args []field, c *command) {
	if args = undashed(args); len(args) == 0 {
		return
	}
	out := s.open(args[0])
	given := s.params
	if len(args) > 1 {
		s.params = &params{zero: unknown(), rest: args[1:]}
	}
	defer func() { s.params = given }()
	switch {
	case out.known:
		via := s.via
		s.via = append(via[:len(via):len(via)], base(c.words[0].Value))
		s.code(out.text, c.span)
		s.via = via
	case out.file:
	case args[0].piped == nil && s.pathed(args[0]):
	case c.node != nil && len(c.node.Args) == 2 && s.idiom(c.node.Args[1]):
		s.forget()
	default:
		s.opaque("the text that is sourced is not known", c.span)
	}
}

// pathed reports whether a word is the path of a file, even if the path is not
// known.
func (s *scope) pathed(f field) bool {
	if f.piped != nil || f.Known && (strings.HasPrefix(f.Value, "/dev/") || strings.HasPrefix(f.Value, "/proc/")) {
		return false
	}
	if out, made := s.files[s.folder(f).Path]; made && !out.known {
		return false // the text has put it there
	}
	_, ok := f.program()
	return ok || f.Known || f.Value != "" && path.Dir(f.Value) != "/dev/fd" || !f.loose && f.tail != ""
}

// trap reads the command of a signal.
func (s *scope) trap(args []field, c *command) {
	args = undashed(args)
	switch {
	case len(args) < 2:
	case !args[0].sure():
		s.opaque("the text of a trap is not known", c.span)
	case args[0].Value != "-" && args[0].Value != "-p" && args[0].Value != "-l":
		s.within("trap").code(args[0].Value, c.span)
	}
}

// setParams reads set: the words after its options become $1 and so on.
func (s *scope) setParams(args []field) {
	for i, a := range args {
		switch {
		case !a.Known && a.Value == "":
			s.params = nil
			return
		case a.Value == "--":
			s.params = &params{zero: unknown(), rest: args[i+1:]}
			return
		case strings.HasPrefix(a.Value, "-") || strings.HasPrefix(a.Value, "+"):
		case i > 0 && len(args[i-1].Value) > 0 && strings.HasSuffix(args[i-1].Value, "o"):
		default:
			s.params = &params{zero: unknown(), rest: args[i:]}
			return
		}
	}
}

func (s *scope) shifted(args []field) *params {
	n := 1
	switch {
	case s.params == nil:
		return nil
	case len(args) > 0 && args[0].sure() && isNumber(args[0].Value) && len(args[0].Value) < 4:
		n = 0
		for _, d := range args[0].Value {
			n = 10*n + int(d-'0')
		}
	case len(args) > 0:
		return nil
	}
	if s.loops > 0 && n > 0 {
		return nil // how often is not known
	}
	return &params{zero: s.params.zero, rest: s.params.rest[min(n, len(s.params.rest)):]}
}

// read sets variables from input: to its first line, where that is known and
// no other line can follow.
func (s *scope) read(name string, args []field) {
	var names []string
	for _, a := range args {
		if a.Known && syntax.ValidName(a.Value) {
			names = append(names, a.Value)
		} else if !a.Known {
			s.forget()
		}
	}
	if len(names) == 0 {
		names = []string{"REPLY", "MAPFILE"}
	}
	for _, n := range names {
		s.set(n, variable{value: unknown()})
	}
	if name == "read" && len(names) == 1 && s.loops == 0 && s.stdin.Kind == StdinText && len(args) <= 2 {
		line, _, _ := strings.Cut(s.stdin.Text, "\n")
		if !strings.Contains(line, "\\") {
			s.set(names[0], variable{value: known(strings.Trim(line, " \t"))})
		}
	}
}
