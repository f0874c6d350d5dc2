package shell

import (
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirects are the redirections of a command, as far as they matter.
type redirects struct {
	writes []Write
	away   bool // its output goes elsewhere
	to     *field
	append bool
	file   *output // the file that "<" opens
	keep   bool    // exec: they hold from here on
}

// redirect reads redirections, and sets the input of the command.
func (s *scope) redirect(all []*syntax.Redirect) redirects {
	var r redirects
	for _, x := range all {
		fd := ""
		if x.N != nil {
			fd = x.N.Value
		}
		switch x.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			body := s.document(x)
			if fd == "" || fd == "0" {
				s.stdin = body.feed()
			}
		case syntax.WordHdoc:
			f := s.single(x.Word, false)
			if fd == "" || fd == "0" {
				s.stdin = output{text: f.Value + "\n", known: f.Known && !f.guess}.feed()
			}
		case syntax.RdrIn:
			f := s.single(x.Word, false)
			from := s.data(f)
			if fd == "" || fd == "0" {
				s.stdin, r.file = from.feed(), &from
			}
		case syntax.DplIn:
			s.single(x.Word, false)
			if fd == "" || fd == "0" {
				s.stdin = feed{}
			}
		default:
			s.written(x, fd, &r)
		}
	}
	return r
}

// open returns the known contents of a file that is read.
func (s *scope) open(f field) output {
	switch {
	case f.piped != nil:
		return *f.piped
	case f.sure() && f.Value == "/dev/stdin", f.sure() && f.Value == "/proc/self/fd/0", f.sure() && f.Value == "/dev/fd/0":
		return output{text: s.stdin.Text, known: s.stdin.Kind == StdinText, file: s.stdin.file}
	case f.sure() && f.Value == "/dev/null":
		return nothing()
	}
	if where := s.folder(f); where.Known {
		if out, ok := s.files[where.Path]; ok {
			return output{text: out.text, known: out.known}
		}
	}
	return output{file: f.Known && !strings.HasPrefix(f.Value, "/dev/") && !strings.HasPrefix(f.Value, "/proc/")}
}

// temporary returns the output of mktemp. Each file gets a name of its own, in
// place of the name that mktemp makes at run time.
func (s *scope) temporary(args []string, ok bool) output {
	folder := "/tmp"
	if v := s.lookup("TMPDIR"); !v.outside && v.value.Value != "" {
		folder, ok = v.value.Value, ok && v.value.sure()
	}
	template := folder + "/tmp.XXXXXXXXXX"
	for i, a := range args {
		switch {
		case a == "-d" || a == "-q" || a == "-u" || a == "--directory" || a == "--quiet" || a == "--dry-run":
		case i == len(args)-1 && strings.HasPrefix(a, "/") && strings.HasSuffix(a, "XXX"):
			template = a
		default:
			return output{}
		}
	}
	s.temps++
	return check(fmt.Sprintf("%s%010d\n", strings.TrimRight(template, "X"), s.temps), ok && strings.HasPrefix(folder, "/"))
}

// data returns the known contents of a file that is read, and not run. Wrong
// knowledge is worse than none here: programs may have changed the file since.
func (s *scope) data(f field) output {
	if where := s.folder(f); where.Known {
		if out, ok := s.files[where.Path]; ok && out.changes != s.changes {
			return output{}
		}
	}
	return s.open(f)
}

// written reads a redirection to a file or to another descriptor.
func (s *scope) written(x *syntax.Redirect, fd string, r *redirects) {
	f := s.single(x.Word, false)
	one := fd == "" || fd == "1"
	switch x.Op {
	case syntax.DplOut:
		if fd == "" && !isNumber(f.Value) && f.Value != "-" { // ">&file" is "&>file"
			break
		}
		if f.sure() && isNumber(strings.TrimSuffix(f.Value, "-")) || f.Value == "-" {
			r.away = r.away || one
			return
		}
	case syntax.RdrInOut:
		one = fd == "1"
	}
	r.away = r.away || one
	more := x.Op == syntax.AppOut || x.Op == syntax.AppAll
	w := Write{Path: f.Word, Append: more, Cwd: s.cwd, Via: s.via, Remote: s.remote, Span: s.span(x)}
	r.writes = append(r.writes, w)
	s.script.Writes = append(s.script.Writes, w)
	if one {
		r.to, r.append = &f, more
	}
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// document is the body of a here-document. Unless its end is quoted, it is
// expanded.
func (s *scope) document(x *syntax.Redirect) output {
	if x.Hdoc == nil {
		return output{known: x.Word != nil}
	}
	for _, part := range x.Word.Parts {
		lit, ok := part.(*syntax.Lit)
		if ok && !strings.Contains(lit.Value, "\\") {
			continue
		}
		var b strings.Builder
		for _, body := range x.Hdoc.Parts {
			if lit, ok := body.(*syntax.Lit); ok {
				b.WriteString(lit.Value)
			}
		}
		return output{text: undash(b.String(), x.Op), known: true}
	}
	p := splitter{s: s, join: true, begun: true, hdoc: true}
	p.cur.Known = true
	for _, part := range x.Hdoc.Parts {
		p.part(part, true)
	}
	f := p.end()[0]
	return output{text: undash(f.Value, x.Op), known: f.Known && !f.guess}
}

// undash takes the tabs away that "<<-" ignores.
func undash(text string, op syntax.RedirOperator) string {
	if op != syntax.DashHdoc {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimLeft(line, "\t")
	}
	return strings.Join(lines, "\n")
}

// wrote records the contents that a file gets, so that they can be read if the
// file is run.
func (s *scope) wrote(to field, out output, more bool) {
	where := s.folder(to)
	if !where.Known || s.remote || path.Dir(where.Path) == "/dev" {
		return
	}
	if s.files == nil {
		s.files = map[string]written{}
	}
	if more {
		before, ok := s.files[where.Path]
		if !ok { // its old contents count as an unknown file
			before.output = nothing()
		}
		out = before.then(out)
	}
	if s.loops > 0 && more {
		out = output{}
	}
	s.files[where.Path] = written{out, s.changes}
}
