package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// idiomCommand reports whether a command is a program that is known to print
// settings for the shell, or a filter of its lines.
func (s *scope) idiomCommand(stmt *syntax.Stmt) bool {
	if pipe, ok := stmt.Cmd.(*syntax.BinaryCmd); ok {
		return pipe.Op == syntax.Pipe && len(stmt.Redirs) == 0 && s.choosesLines(pipe.Y) && s.idiomCommand(pipe.X) && s.singleLines()
	}
	words, ok := s.fixedCall(stmt)
	return ok && slices.ContainsFunc(s.idioms, func(idiom []string) bool {
		return slices.EqualFunc(idiom, words, func(a, b string) bool { return a == b || a == "*" })
	})
}

// fixedCall returns the words of a command that is a single call of a program
// with fixed words.
func (s *scope) fixedCall(stmt *syntax.Stmt) (words []string, ok bool) {
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || stmt.Negated || stmt.Background || len(call.Assigns) > 0 || slices.ContainsFunc(stmt.Redirs, func(r *syntax.Redirect) bool {
		return r.Word.Lit() != "/dev/null" && r.Op != syntax.DplOut
	}) {
		return nil, false
	}
	for _, a := range call.Args {
		text, ok := constant(a.Parts, false)
		if !ok {
			return nil, false
		}
		words = append(words, text)
	}
	if len(words) == 0 || len(s.funcs[words[0]]) > 0 {
		return nil, false
	}
	words[0] = base(words[0])
	return words, true
}

// choosesLines reports whether a command passes on whole lines of its input,
// and no others.
func (s *scope) choosesLines(stmt *syntax.Stmt) bool {
	words, ok := s.fixedCall(stmt)
	if !ok {
		return false
	}
	options, operands := 0, 0
	for i, w := range words[1:] {
		switch {
		case !strings.HasPrefix(w, "-") || w == "-":
			operands++
		case slices.Contains(choiceOptions(words[0]), w), words[0] != "grep" && len(w) > 1 && strings.Trim(w[1:], "0123456789") == "":
			options++
			if w == "-e" || w == "-n" && words[0] != "sort" && words[0] != "uniq" {
				operands--
				if i+2 >= len(words) {
					return false
				}
			}
		default:
			return false
		}
	}
	switch words[0] {
	case "grep", "egrep", "fgrep":
		return operands == 1 || operands == 0 && slices.Contains(words, "-e")
	case "head", "tail", "sort", "uniq", "cat":
		return operands == 0
	}
	return false
}

// choiceOptions are the options of a program that leave lines whole, and read
// no file.
func choiceOptions(program string) []string {
	switch program {
	case "grep", "egrep", "fgrep":
		return []string{"-E", "-F", "-i", "-v", "-w", "-x", "-e", "-iE", "-Ei", "-vE", "-Ev", "-a"}
	case "head", "tail":
		return []string{"-n"}
	case "sort", "uniq":
		return []string{"-u", "-r", "-n"}
	}
	return nil
}

// singleLines reports whether the text gives no variable several lines. A
// choice of the lines of such a setting could be code.
func (s *scope) singleLines() bool {
	for _, v := range s.vars {
		if v.exported && !v.outside && !v.value.Known || strings.Contains(v.value.Value, "\n") {
			return false
		}
	}
	return true
}

// isGetopt reports whether a word is the output of getopt, which quotes all
// that it is given.
func (s *scope) isGetopt(w *syntax.Word) bool {
	parts := w.Parts
	if q, ok := first(parts).(*syntax.DblQuoted); ok && len(parts) == 1 {
		parts = q.Parts
	}
	subst, ok := first(parts).(*syntax.CmdSubst)
	if !ok || len(parts) != 1 || len(subst.Stmts) != 1 || len(s.funcs["getopt"]) > 0 {
		return false
	}
	call, ok := subst.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) < 3 || len(call.Assigns)+len(subst.Stmts[0].Redirs) > 0 {
		return false
	}
	for i, a := range call.Args {
		text, fixed := constant(a.Parts, false)
		switch {
		case i == 0 && (!fixed || base(text) != "getopt"):
			return false
		case fixed && (strings.HasPrefix(text, "--un") || strings.HasPrefix(text, "-u") || strings.HasPrefix(text, "-T") || strings.HasPrefix(text, "--s")):
			return false // it would not quote, or for another shell
		case !fixed && i > 0:
			if before, _ := constant(call.Args[i-1].Parts, false); before != "--" || i != len(call.Args)-1 {
				return false
			}
		}
	}
	return true
}
