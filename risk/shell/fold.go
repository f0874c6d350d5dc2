package shell

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"agentswarm/risk/argv"
)

// produced returns the output of a program without other effects. It also
// reports whether the program is of this kind.
func (s *scope) produced(name string, c *command) (output, bool) {
	args, ok := texts(c.words[1:])
	if !s.step(len(s.stdin.Text) / 64) {
		return output{}, false
	}
	in := output{text: s.stdin.Text, known: s.stdin.Kind == StdinText, file: s.stdin.file}
	switch name {
	case "git":
		if out := s.repository(args); out.known {
			return out, true
		}
		return output{}, false
	case "echo":
		return check(echo(args), ok), true
	case "printf":
		return s.printf(c, args, ok), true
	case "pwd":
		return check(s.cwd.Path+"\n", s.cwd.Known), true
	case "basename":
		return check(path.Base(at(args, 0))+"\n", ok && len(args) == 1), true
	case "dirname":
		return check(path.Dir(at(args, 0))+"\n", ok && len(args) == 1), true
	case "which":
		return check(at(args, 0)+"\n", ok && len(args) == 1 && !strings.HasPrefix(at(args, 0), "-")), true
	case "mktemp":
		return s.temporary(args, ok), true
	case "cat":
		return s.cat(c.words[1:], in), true
	case "tee":
		return in, true
	case "base64", "base32", "xxd", "basenc", "openssl":
		return decoded(name, args, in, ok), true
	case "rev":
		return check(reversed(in.text), in.known && len(args) == 0), true
	case "tr":
		text, fine := translated(args, in.text)
		return check(text, ok && in.known && fine), true
	}
	return output{}, false
}

// check is an output that is known if it is fine as text.
func check(text string, ok bool) output {
	if !ok || len(text) > MaxText || !utf8.ValidString(text) {
		return output{}
	}
	return output{text: text, known: true}
}

// texts are the values of words, and whether they are all known.
func texts(words []field) ([]string, bool) {
	args := make([]string, len(words))
	ok := true
	for i, w := range words {
		args[i] = w.Value
		ok = ok && w.sure()
	}
	return args, ok
}

// at returns an element of a list, or "" beyond its end.
func at(all []string, i int) string {
	if i < len(all) {
		return all[i]
	}
	return ""
}

func echo(args []string) string {
	end, escapes := "\n", false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		for _, c := range args[0][1:] {
			switch c {
			case 'n':
				end = ""
			default:
				escapes = c == 'e'
			}
		}
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		decoded, ok := ansi(text)
		if text = decoded; !ok {
			return "\xff" // no valid text: not known
		}
	}
	return text + end
}

// printf formats, or sets a variable to the result.
func (s *scope) printf(c *command, args []string, ok bool) output {
	name := ""
	if len(args) > 1 && args[0] == "-v" {
		name, args = args[1], args[2:]
	}
	if at(args, 0) == "--" {
		args = args[1:]
	}
	out := output{}
	if ok && len(args) > 0 {
		out = formatted(args[0], args[1:])
	}
	if name == "" {
		return out
	}
	s.indexes(c.words[1:], c)
	if v := (variable{value: known(out.text)}); out.known {
		s.assign(name, v, c.span)
	} else {
		s.assign(name, variable{value: unknown()}, c.span)
	}
	return nothing()
}

// formatted returns the result of printf for a format without widths. printf
// repeats the format as long as there are words.
func formatted(format string, args []string) output {
	var b strings.Builder
	for {
		before := len(args)
		var ok bool
		if args, ok = once(&b, format, args); !ok || b.Len() > MaxText {
			return output{}
		}
		if len(args) == 0 || len(args) == before {
			return check(b.String(), true)
		}
	}
}

// once uses a format a single time, and returns the words that remain.
func once(b *strings.Builder, format string, args []string) ([]string, bool) {
	for i := 0; i < len(format); i++ {
		switch {
		case format[i] == '\\' && i+1 < len(format):
			end := i + 1
			for end < len(format) && format[end] != '%' && (format[end] != '\\' || end == i+1) {
				end++
			}
			text, ok := ansi(format[i:end])
			if !ok {
				return nil, false
			}
			b.WriteString(text)
			i = end - 1
		case format[i] != '%':
			b.WriteByte(format[i])
		case i+1 < len(format) && format[i+1] == '%':
			b.WriteByte('%')
			i++
		case i+1 < len(format):
			i++
			text, ok := verb(format[i], at(args, 0))
			if !ok {
				return nil, false
			}
			b.WriteString(text)
			args = args[min(1, len(args)):]
		default:
			return nil, false
		}
	}
	return args, true
}

// verb is a word as a verb of printf has it.
func verb(verb byte, arg string) (string, bool) {
	switch verb {
	case 's':
		return arg, true
	case 'd', 'i', 'u':
		return arg, isNumber(strings.TrimPrefix(arg, "-"))
	case 'b':
		return ansi(arg)
	case 'c':
		return arg[:min(1, len(arg))], true
	case 'q':
		text, err := syntax.Quote(arg, syntax.LangBash)
		return text, err == nil
	}
	return "", false
}

// cat returns the contents of the given files, or its input.
func (s *scope) cat(words []field, in output) output {
	in.file = false // the next program gets a text that is not known
	out, files := nothing(), 0
	for _, w := range words {
		if strings.HasPrefix(w.Value, "-") && w.Value != "-" && w.Known {
			if strings.Trim(w.Value, "-u") != "" {
				return output{}
			}
			continue
		}
		files++
		if w.Value == "-" && w.Known {
			out = out.then(in)
			continue
		}
		out = out.then(s.data(w))
	}
	if files == 0 {
		return in
	}
	out.file = false
	return out
}

// decoded returns the result of decoders of base 64, 32 and 16 for their input.
func decoded(name string, args []string, in output, ok bool) output {
	has := func(names ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(names, a) })
	}
	if !ok || !in.known {
		return output{}
	}
	text := strings.Join(strings.Fields(in.text), "")
	var bytes []byte
	var err error
	switch {
	case name == "base64" && len(args) == 0:
		return check(base64.StdEncoding.EncodeToString([]byte(in.text))+"\n", len(in.text) < 57)
	case name == "base64" && has("-d", "-D", "--decode", "-di", "-id", "--d", "--de", "--dec"),
		name == "basenc" && has("--base64") && has("-d", "--decode"),
		name == "openssl" && has("base64", "-base64", "-a") && has("-d"):
		bytes, err = base64.StdEncoding.DecodeString(text)
		if err != nil {
			bytes, err = base64.RawStdEncoding.DecodeString(text)
		}
	case name == "base32" && has("-d", "--decode"):
		bytes, err = base32.StdEncoding.DecodeString(text)
	case name == "xxd" && (has("-r") && has("-p", "-ps", "-plain") || has("-rp", "-pr")):
		bytes, err = hex.DecodeString(text)
	default:
		return output{}
	}
	return check(string(bytes), err == nil)
}

func reversed(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		r := []rune(line)
		slices.Reverse(r)
		lines[i] = string(r)
	}
	return strings.Join(lines, "\n")
}

// translated returns the result of tr for a text.
func translated(args []string, text string) (string, bool) {
	if len(args) != 2 {
		return "", false
	}
	if args[0] == "-d" {
		from, ok := set(args[1])
		return strings.Map(func(r rune) rune {
			if slices.Contains(from, r) {
				return -1
			}
			return r
		}, text), ok
	}
	from, ok := set(args[0])
	to, ok2 := set(args[1])
	if !ok || !ok2 || len(to) == 0 || strings.HasPrefix(args[0], "-") {
		return "", false
	}
	return strings.Map(func(r rune) rune {
		if i := slices.Index(from, r); i >= 0 {
			return to[min(i, len(to)-1)]
		}
		return r
	}, text), true
}

// set are the characters of an operand of tr with plain ranges.
func set(text string) ([]rune, bool) {
	switch text {
	case "[:lower:]":
		text = "a-z"
	case "[:upper:]":
		text = "A-Z"
	}
	text, ok := ansi(text)
	r := []rune(text)
	var all []rune
	if !ok || strings.Contains(text, "[:") || strings.Contains(text, "[=") {
		return nil, false
	}
	for i := 0; i < len(r); i++ {
		if i+2 < len(r) && r[i+1] == '-' {
			if r[i+2] < r[i] || r[i+2]-r[i] > 256 {
				return nil, false
			}
			for c := r[i]; c <= r[i+2]; c++ {
				all = append(all, c)
			}
			i += 2
			continue
		}
		all = append(all, r[i])
	}
	return all, true
}

// repository returns the answer of git about the repository. It is known only
// if no command before it in the text can have changed it.
func (s *scope) repository(args []string) output {
	answer := ""
	switch strings.Join(args, " ") {
	case "rev-parse --show-toplevel":
		answer = s.at.Top
	case "rev-parse --git-dir", "rev-parse --absolute-git-dir":
		answer = s.at.GitDir
	case "rev-parse --git-common-dir":
		answer = s.at.CommonDir
	case "branch --show-current", "rev-parse --abbrev-ref HEAD", "symbolic-ref --short HEAD", "symbolic-ref --short -q HEAD":
		if answer = s.at.Branch; s.changes > 0 {
			return output{}
		}
	}
	inside := s.cwd.Path == s.at.Top || strings.HasPrefix(s.cwd.Path, strings.TrimSuffix(s.at.Top, "/")+"/")
	if answer == "" || s.remote || !s.cwd.Known || !inside || s.cwd.Moved && s.cwd.Path != s.at.Top {
		return output{}
	}
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_CEILING_DIRECTORIES"} {
		if _, ok := s.vars[name]; ok {
			return output{}
		}
	}
	return check(answer+"\n", true)
}

// harmless reports whether a program reads its input, and whether it changes a
// file or a branch that the text reads later.
func harmless(name string, args []argv.Word) (reads, changes bool) {
	switch name {
	case "echo", "printf", "true", "false", ":", "cd", "pushd", "popd", "pwd", "export", "set", "shift", "unset", "test", "[", "exit", "return",
		"break", "continue", "trap", "shopt", "umask", "alias", "ls", "mkdir", "chmod", "sleep", "which", "basename", "dirname", "date":
		return false, false
	case "cat", "head", "tail", "wc", "grep", "tr", "rev", "base64", "xxd", "read", "tee", "eval", "source", ".", "command", "builtin":
		return true, false
	case "exec":
		return len(args) > 0, len(args) > 0 // alone it only redirects
	case "git":
		if len(args) == 0 {
			return false, false
		}
		switch args[0].Value {
		case "status", "add", "diff", "log", "rev-parse", "show", "push", "fetch", "branch", "symbolic-ref":
			return false, (args[0].Value == "branch" || args[0].Value == "symbolic-ref") && (len(args) > 1 && !strings.HasPrefix(args[1].Value, "--sho") || len(args) > 3)
		}
	}
	return true, true
}
