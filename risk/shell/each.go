package shell

import (
	"slices"
	"strings"

	"agentswarm/risk/argv"
)

// each reads the command that find and fd run for each file they find.
func (s *scope) each(w *wrapping) {
	words := w.c.words[1:]
	root := field{Word: argv.Word{Value: "./"}}
	if w.name == "find" || w.name == "gfind" {
		var roots []field
		for _, f := range words {
			if f.Known && f.Value != "" && strings.ContainsAny(f.Value[:1], "-(!,)") {
				break
			}
			roots = append(roots, f)
		}
		switch {
		case len(roots) == 1 && roots[0].sure():
			root.Value = strings.TrimSuffix(roots[0].Value, "/") + "/"
		case len(roots) > 0:
			root = unknown()
		}
	}
	for i := 0; i < len(words); i++ {
		inside := false
		switch words[i].Value {
		case "-exec", "-ok":
		case "-execdir", "-okdir":
			inside = true
		case "-x", "--exec", "-X", "--exec-batch":
			if w.name == "find" || w.name == "gfind" {
				continue
			}
		default:
			if name, value, ok := strings.Cut(words[i].Value, "="); ok && (name == "--exec" || name == "--exec-batch") && strings.HasPrefix(w.name, "fd") {
				given := slices.Clone(words[i:])
				given[0].Value = value
				s.apply(w, given, func(*scope) field { return root })
				return
			}
			if !words[i].Known && words[i].loose && words[i].Value == "" {
				s.opaque("the words of "+w.name+" are not known", w.c.span)
			}
			continue
		}
		end := i + 1
		for end < len(words) && words[end].Value != ";" && (words[end].Value != "+" || words[end-1].Value != "{}") {
			end++
		}
		s.apply(w, words[i+1:end], func(sub *scope) field {
			if inside {
				sub.cwd = Folder{Moved: true}
				if at := s.folder(field{Word: argv.Known(root.Value)}); !root.loose && at.Known {
					return field{Word: argv.Word{Value: strings.TrimSuffix(at.Path, "/") + "/"}}
				}
				return field{Word: argv.Word{Value: "./"}}
			}
			return root
		})
		i = end
	}
}

// apply runs a command with a name for "{}", or at its end for fd.
func (s *scope) apply(w *wrapping, words []field, file func(*scope) field) {
	if len(words) == 0 {
		return
	}
	sub := s.child(w)
	put := file(sub)
	words, used := replaced(words, "{}", put)
	if !used && strings.HasPrefix(w.name, "fd") {
		words = append(words, put)
	}
	sub.stdin = feed{}
	sub.command(&command{words: words, assigns: w.c.assigns, span: w.c.span, outside: true})
}

// replaced are words with something unknown in the place of a mark, and
// whether it was there. Where the mark is only a part of a word the word stays
// text, because it may be a program.
func replaced(words []field, mark string, put field) ([]field, bool) {
	words, used := slices.Clone(words), false
	for i, f := range words {
		switch {
		case mark == "" || !strings.Contains(f.Value, mark):
		case f.Value == mark:
			words[i], used = put, true
		default:
			words[i].Value, used = strings.ReplaceAll(f.Value, mark, holding(put)), true
			if !strings.ContainsAny(f.Value, " \t\n") {
				before, _, _ := strings.Cut(f.Value, mark)
				words[i] = field{Word: argv.Word{Value: before + put.Value, Known: f.Known && put.Known}}
			}
		}
	}
	return words, used
}

// holding is a field as a part of text.
func holding(f field) string {
	if f.Known {
		return f.Value
	}
	return f.Value + anything
}

// xargs reads the command that is given words from the input.
func (s *scope) xargs(w *wrapping) {
	words := w.ops
	if len(words) == 0 {
		return
	}
	mark := ""
	for _, o := range w.line.Options {
		switch o.Name {
		case "-I", "-J":
			mark = o.Value.Value
		case "--replace":
			if mark = o.Value.Value; mark == "" {
				mark = "{}"
			}
		}
	}
	sub := s.child(w)
	sub.stdin = feed{Stdin: Stdin{Kind: StdinText}}
	run := func(words []field) {
		sub.command(&command{words: words, assigns: w.c.assigns, span: w.c.span, outside: true})
	}
	given, ok := s.given(w)
	switch {
	case !ok && mark != "":
		words, _ = replaced(words, mark, field{})
		run(words)
	case !ok:
		run(append(slices.Clone(words), field{}))
	case mark == "":
		run(append(slices.Clone(words), given...))
	default:
		s.repeated = true
		for _, f := range given {
			one, _ := replaced(words, mark, f)
			run(one)
		}
	}
}

// given are the words that xargs reads, where the input is known.
func (s *scope) given(w *wrapping) ([]field, bool) {
	text := s.stdin.Text
	if s.stdin.Kind != StdinText || w.line.Has("--arg-file", "-E", "--eof") || len(text) > 4096 {
		return nil, false
	}
	var parts []string
	switch {
	case w.line.Has("--null"):
		return nil, false // no text holds the separator
	case w.line.Has("--delimiter"):
		d := w.line.Values("--delimiter")[0].Value
		if sep, ok := ansi(d); ok && sep != "" {
			parts = strings.Split(strings.TrimSuffix(text, "\n"), sep)
		}
	case w.line.Has("-I", "-J", "--replace"):
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				parts = append(parts, line)
			}
		}
	default:
		parts = strings.Fields(text)
	}
	if strings.ContainsAny(text, `'"\`) && !w.line.Has("--delimiter") {
		for i, p := range parts {
			if strings.Trim(p, `'"`) == "" || strings.ContainsAny(strings.Trim(p, `'"`), `'"\`) {
				return nil, false
			}
			parts[i] = strings.Trim(p, `'"`)
		}
	}
	var all []field
	for _, p := range parts {
		all = append(all, known(p))
	}
	return all, len(all) < 200
}

// parallel reads a command, which is text, for each of the words after ":::".
func (s *scope) parallel(w *wrapping) {
	at := slices.IndexFunc(w.ops, func(f field) bool { return strings.HasPrefix(f.Value, ":::") })
	words, args := w.ops, []field{{}}
	if at < 0 && len(words) == 0 && !w.line.Has("--arg-file", "--pipe") {
		if s.stdin.Kind != StdinInherited { // each line is a command
			s.fed(s.child(w), w)
		}
		return
	}
	if at >= 0 {
		words, args = w.ops[:at], w.ops[at+1:]
	} else if given, ok := s.given(w); ok {
		args = given
	}
	if len(args) > 64 || slices.ContainsFunc(args, func(f field) bool { return !f.sure() }) {
		args = []field{{}}
	}
	s.repeated = true
	for _, arg := range args {
		if strings.HasPrefix(arg.Value, ":::") {
			continue
		}
		if len(words) == 0 { // the words are the commands
			s.optionText(w, arg.Word, "")
			continue
		}
		text, ok := joinedText(words)
		if !ok {
			s.opaque("the text that "+w.name+" runs is not known", w.c.span)
			return
		}
		put := quoted([]field{arg})[1:]
		used := false
		for _, mark := range []string{"{}", "{.}", "{/}", "{//}", "{/.}", "{1}", "{2}", "{#}"} {
			if strings.Contains(text, mark) {
				text, used = strings.ReplaceAll(text, mark, put), true
			}
		}
		if !used {
			text += " " + put
		}
		s.child(w).code(text, w.c.span)
	}
}

// env reads a command with changes to its environment. With -S, a word of it
// is taken apart.
func (s *scope) env(w *wrapping) output {
	sub := *w
	for _, o := range w.line.Options {
		if o.Name != "--split-string" {
			continue
		}
		if !o.Value.Known {
			s.opaque("the words that env splits are not known", w.c.span)
			return output{}
		}
		var more []field
		for _, word := range strings.Fields(o.Value.Value) {
			more = append(more, known(strings.Trim(word, `'"`)))
		}
		if strings.ContainsAny(o.Value.Value, `'"\$`) {
			s.child(w).code(o.Value.Value+quoted(w.ops), w.c.span)
			return output{}
		}
		sub.ops = slices.Concat(more, w.ops)
	}
	return s.tail(&sub)
}
