package shim

import (
	"slices"
	"strings"
)

// line is a command line of git, split into parts. Joined again the parts are
// the given line.
type line struct {
	global []string // options before the subcommand
	sub    string   // empty: git answers by itself, or with its usage
	args   []string // the words after it
}

// parse splits the words for git. Git does not cluster the options before a
// subcommand.
func parse(args []string) line {
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case !strings.HasPrefix(word, "-"):
			return line{global: args[:i], sub: word, args: args[i+1:]}
		case takesWord(word):
			i++
		case !stands(word):
			return line{global: args}
		}
	}
	return line{global: args}
}

// takesWord reports whether the value of a global option is the next word.
func takesWord(option string) bool {
	return slices.Contains([]string{
		"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env",
		"--super-prefix", "--shallow-file", "--attr-source",
	}, option)
}

// stands reports whether a word is a global option by itself after which a
// subcommand follows.
func stands(word string) bool {
	name, _, valued := strings.Cut(word, "=")
	if valued {
		return slices.Contains([]string{
			"--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path",
			"--super-prefix", "--attr-source",
		}, name)
	}
	return slices.Contains([]string{
		"-p", "--paginate", "-P", "--no-pager", "--bare", "--no-replace-objects", "--no-lazy-fetch",
		"--no-optional-locks", "--no-advice", "--literal-pathspecs", "--no-literal-pathspecs",
		"--glob-pathspecs", "--noglob-pathspecs", "--icase-pathspecs",
	}, word)
}

// placeless are the global options that do not say which repository it is.
func (l line) placeless() []string {
	var kept []string
	for i := 0; i < len(l.global); i++ {
		word := l.global[i]
		end := i + 1
		if takesWord(word) {
			end = min(end+1, len(l.global))
		}
		name, _, _ := strings.Cut(word, "=")
		if !slices.Contains([]string{"-C", "--git-dir", "--work-tree", "--bare"}, name) {
			kept = append(kept, l.global[i:end]...)
		}
		i = end - 1
	}
	return kept
}

// grammar is the knowledge about the options of a subcommand that tells them
// from operands.
type grammar struct {
	short string // letters whose value is the rest of the word, or the next word
	stuck string // letters whose value can only be the rest of the word
	// long are options by their whole names, which may be shortened. A name
	// with a final = has a value, which may be the next word.
	long []string
}

// words are the arguments of a subcommand.
type words struct {
	first    string // the first word of any kind
	options  []option
	operands []string
	// after are the operands that follow `--`; dashes says that it was there.
	after  []string
	dashes bool
}

type option struct{ name, value string }

// scan takes the arguments of a subcommand apart, as git's own parser does:
// options may follow operands.
func (g grammar) scan(args []string) words {
	var w words
	if len(args) > 0 {
		w.first = args[0]
	}
	for i := 0; i < len(args); i++ {
		word := args[i]
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		took := false
		switch {
		case word == "--" || word == "--end-of-options":
			w.dashes, w.after = word == "--", args[i+1:]
			return w
		case strings.HasPrefix(word, "--"):
			took = w.long(g, word[2:], next)
		case len(word) > 1 && word[0] == '-':
			took = w.cluster(g, word[1:], next)
		default:
			w.operands = append(w.operands, word)
		}
		if took {
			i++
		}
	}
	return w
}

// long adds an option in its whole name; took says that next is its value.
func (w *words) long(g grammar, word, next string) (took bool) {
	name, value, valued := strings.Cut(word, "=")
	name, wants := g.whole(name)
	if wants && !valued {
		value, took = next, true
	}
	w.options = append(w.options, option{name, value})
	return took
}

// whole returns the name that a shortened name stands for.
func (g grammar) whole(name string) (whole string, wants bool) {
	var found []string
	for _, long := range g.long {
		known, wants := strings.CutSuffix(long, "=")
		if known == name {
			return known, wants
		}
		if strings.HasPrefix(known, name) {
			found = append(found, long)
		}
	}
	if len(found) != 1 || name == "" {
		return name, false
	}
	return strings.CutSuffix(found[0], "=")
}

// cluster adds the letters of a word.
func (w *words) cluster(g grammar, letters, next string) (took bool) {
	for i := 0; i < len(letters); i++ {
		o, rest := option{name: letters[i : i+1]}, letters[i+1:]
		switch {
		case strings.Contains(g.stuck, o.name):
			o.value, i = rest, len(letters)
		case strings.Contains(g.short, o.name):
			if o.value, i = rest, len(letters); rest == "" {
				o.value, took = next, true
			}
		}
		w.options = append(w.options, o)
	}
	return took
}

// has reports whether any of the options was given.
func (w words) has(names ...string) bool {
	return slices.ContainsFunc(w.options, func(o option) bool { return slices.Contains(names, o.name) })
}

// value is that of the last of an option.
func (w words) value(name string) (value string, given bool) {
	for _, o := range w.options {
		if o.name == name {
			value, given = o.value, true
		}
	}
	return value, given
}

// operand is the nth, or empty.
func (w words) operand(n int) string {
	if n < len(w.operands) {
		return w.operands[n]
	}
	return ""
}
