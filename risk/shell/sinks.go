package shell

import (
	"slices"
	"strings"

	"agentswarm/risk/argv"
)

// token checks a token: whether it runs a command itself, or is the last name
// of a call in the table.
func (f *foreignCode) token(i int) {
	t := f.tok(i)
	switch {
	case t.kind == spawns:
		f.text(argv.Word{Value: t.text, Known: t.whole}, "`")
		return
	case t.kind == quote && f.language == "awk":
		f.piped(i)
		return
	case f.sign(i, ">") && f.language == "awk":
		f.printed(i)
		return
	case f.sign(i, "]") && f.sign(i+1, "(") && f.language == "javascript":
		f.computed(i)
		return
	case t.kind == sign:
		f.indirect(i)
		return
	case t.kind == quote && f.language == "javascript" && f.tok(i-1).text == "$":
		f.text(argv.Word{Value: t.text, Known: t.whole}, "$") // of Bun and of zx
		return
	case t.kind == ident && f.language == "awk" && f.tok(i-1).kind == sign:
		if f.command2(i) {
			return
		}
	case t.kind != ident || f.sign(i+1, ".") && f.tok(i+2).kind == ident, f.sign(i+1, ":") && f.sign(i+2, ":"), f.sign(i+1, "-") && f.sign(i+2, ">") && f.tok(i+3).kind == ident:
		return
	case f.tok(i-1).kind == ident && slices.Contains([]string{"def", "function", "sub", "fn"}, f.tok(i-1).text):
		return
	}
	name := f.chain(i)
	if v := f.values[t.text]; f.language == "php" && len(v) == 1 && v[0].kind == quote {
		name = v[0].text // $f = "system"; $f("…")
	}
	if f.language == "other" && t.text == "script" && f.tok(i-1).text == "shell" { // AppleScript
		f.text(f.word([]token{f.tok(i + 1)}, 0), "do shell script")
		return
	}
	if f.language == "php" {
		name = strings.ToLower(strings.TrimLeft(name, "@")) // functions of any case, and hushed
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, "globalThis."), "global.")
	kind := f.kind(name)
	if kind == "" || !f.called(i, kind) {
		f.handedOn(i, name)
		return
	}
	args := f.arguments(i + 1)
	for len(args) > 0 && len(args[0]) == 0 {
		args = args[1:]
	}
	f.call(name, kind, call{args: args, at: i})
}

// called reports whether a name is called here, and not only named.
func (f *foreignCode) called(i int, kind string) bool {
	if f.sign(i+1, "(") || f.language == "other" && f.sign(i+1, "!") && f.sign(i+2, "(") {
		return true
	}
	if f.language == "ruby" && kind == "rmtree" && f.sign(i-1, ".") {
		return true // Pathname("x").rmtree
	}
	if f.language == "other" && f.sign(i-1, "(") && f.tok(i+1).kind == quote {
		return true // (system "x")
	}
	if f.language != "perl" && f.language != "ruby" {
		return kind == "name"
	}
	next := f.tok(i + 1)
	return next.kind == quote || next.kind == ident && next.text != "if" && next.text != "unless" || f.sign(i+1, "[") || f.sign(i+1, "<") || f.sign(i+1, "-") ||
		next.kind == sign && next.text >= "0" && next.text <= "9" || f.sign(i+1, ":")
}

// chain returns the name of a called function, with the names above it.
func (f *foreignCode) chain(i int) string {
	parts := []string{f.tok(i).text}
	for {
		switch {
		case f.sign(i-1, ".") && f.tok(i-2).kind == ident:
			i -= 2
		case f.sign(i-1, ".") && f.sign(i-2, "?") && f.tok(i-3).kind == ident:
			i -= 3
		case f.sign(i-1, ":") && f.sign(i-2, ":") && f.tok(i-3).kind == ident:
			i -= 3
		case f.sign(i-1, ":") && f.language == "other" && f.tok(i-2).kind == ident && !f.sign(i, ":"): // of Erlang
			i -= 2
		case f.sign(i-1, ">") && f.sign(i-2, "-") && f.tok(i-3).kind == ident:
			i -= 3
		case f.sign(i-1, ".") && f.sign(i-2, ")") && f.tok(i-3).kind == quote && f.sign(i-4, "(") && (f.tok(i-5).text == "require" || f.tok(i-5).text == "__import__"):
			module := strings.TrimPrefix(f.tok(i-3).text, "node:")
			return strings.Join(append([]string{module}, parts...), ".")
		case f.sign(i-1, "."):
			return strings.Join(append([]string{"?"}, parts...), ".")
		default:
			if full, ok := f.names[parts[0]]; ok {
				parts[0] = full
			}
			return strings.Join(parts, ".")
		}
		parts = append([]string{f.tok(i).text}, parts...)
	}
}

// kind returns the table's kind of a call.
func (f *foreignCode) kind(name string) string {
	if kind := f.sinks[name]; kind != "" {
		return kind
	}
	return f.sinks["*"+name[strings.LastIndexByte(name, '.')+1:]]
}

// call is a call of something that matters.
type call struct {
	args [][]token
	at   int
}

// first returns the first argument, or the object of a method:
// Path("x").unlink().
func (f *foreignCode) first(c call) argv.Word {
	if len(c.args) > 0 {
		return f.word(c.args[0], 0)
	}
	i := c.at - 1
	if f.sign(i, ".") && f.tok(i-1).kind == quote {
		return argv.Word{Value: f.tok(i - 1).text, Known: f.tok(i - 1).whole}
	}
	if f.sign(i, ".") && f.sign(i-1, ")") && f.tok(i-2).kind == quote && f.sign(i-3, "(") {
		return argv.Word{Value: f.tok(i - 2).text, Known: f.tok(i - 2).whole}
	}
	return argv.Word{}
}

// named is an argument by its name: shell=True, method: "POST".
func (f *foreignCode) named(c call, name string) (argv.Word, bool) {
	for _, arg := range c.args {
		for i, t := range arg {
			if t.text == name && i+2 < len(arg)+1 && i+1 < len(arg) && (arg[i+1].text == "=" || arg[i+1].text == ":") {
				end := slices.IndexFunc(arg[i+2:], func(t token) bool { return t.kind == sign && (t.text == "," || t.text == "}") })
				if end < 0 {
					end = len(arg) - i - 2
				}
				return f.word(trim(arg[i+2:i+2+end]), 0), true
			}
		}
	}
	return argv.Word{}, false
}

// call records a call as the program with the same effect.
func (f *foreignCode) call(name, kind string, c call) {
	one := f.first(c)
	switch kind {
	case "text":
		f.command(name, c)
	case "program":
		f.program(name, c)
	case "rmtree":
		f.run(name, argv.Known("rm"), argv.Known("-rf"), one)
	case "remove", "rmdir", "rm":
		words := []argv.Word{argv.Known("rm")}
		if kind == "rmdir" {
			words[0] = argv.Known("rmdir")
		}
		if _, ok := f.named(c, "recursive"); ok {
			words = append(words, argv.Known("-rf"))
		}
		if list, ok := f.words(nth(c.args, 0), 0); ok {
			f.run(name, append(words, list...)...)
			return
		}
		if len(c.args) == 0 && !one.Known && f.tok(c.at-1).text != "." && f.language != "perl" {
			return
		}
		f.run(name, append(words, one)...)
	case "kill":
		f.kill(name, c)
	case "move", "copy", "link", "symlink":
		words := map[string][]argv.Word{
			"move": argv.Words("mv"), "copy": argv.Words("cp", "-r"), "link": argv.Words("ln", "-f"), "symlink": argv.Words("ln", "-s", "-n", "-f"),
		}[kind]
		for _, a := range c.args[:min(2, len(c.args))] {
			words = append(words, f.word(a, 0))
		}
		f.run(name, words...)
	case "send":
		f.send(name, c)
	case "open":
		f.open(name, c)
	case "write":
		f.write(name, c)
	case "eval":
		switch {
		case len(c.args) == 0:
		case one.Known:
			f.s.foreign(f.language, one.Value, f.at)
		default:
			f.s.opaque("code is made as it runs: "+name, f.at)
		}
	case "lookup":
		if f.hides(c) {
			f.s.opaque("a function is looked up as the code runs: "+name, f.at)
		}
	default:
		f.rare(name, kind, c)
	}
}

// kill reads a call that sends a signal: the process first and then the
// signal, or the other way round in Perl and Ruby.
func (f *foreignCode) kill(name string, c call) {
	pids, signal := c.args, []token(nil)
	switch {
	case (f.language == "perl" || f.language == "ruby") && len(pids) > 0:
		signal, pids = pids[0], pids[1:]
	case len(pids) > 1:
		pids, signal = pids[:1], pids[1]
	}
	words := []argv.Word{argv.Known("kill")}
	if w := f.word(signal, 0); w.Known {
		words = append(words, argv.Known("-"+strings.TrimLeft(w.Value, "-:")))
	}
	for _, p := range pids {
		words = append(words, f.word(p, 0))
	}
	f.run(name, words...)
}

func nth(args [][]token, i int) []token {
	if i < len(args) {
		return args[i]
	}
	return nil
}

// hides reports whether a lookup by name returns a module of the table, or uses
// a name that is not known there.
func (f *foreignCode) hides(c call) bool {
	if len(c.args) == 0 {
		return false
	}
	if f.language == "python" && slices.ContainsFunc(c.args[0], func(t token) bool { return t.text == "__import__" || t.text == "import_module" }) {
		return true
	}
	if len(c.args[0]) == 1 && c.args[0][0].kind == ident {
		target := c.args[0][0].text
		if full, ok := f.names[target]; ok {
			target = full
		}
		if slices.Contains([]string{"os", "subprocess", "shutil", "builtins", "__builtins__", "posix", "Kernel", "pty"}, target) {
			return true
		}
	}
	w := f.word(c.args[0], 0)
	switch f.language {
	case "python":
		return f.tok(c.at).text == "__import__" && !w.Known
	case "ruby", "php":
		if a := c.args[0]; len(a) == 2 && a[0].kind == sign && a[0].text == ":" { // a symbol
			w = argv.Known(a[1].text)
		}
		if f.language == "php" && !w.Known && w.Value == "" && slices.ContainsFunc(c.args[0], func(t token) bool { return t.text == "fn" || t.text == "function" }) {
			return false // a function that is written there
		}
		return !w.Known || f.kind(strings.TrimPrefix(w.Value, ":")) != ""
	}
	return false
}

// command reads a call that is given text for a shell, or words in a list.
func (f *foreignCode) command(name string, c call) {
	if len(c.args) == 0 {
		if before := f.first(c); f.language == "other" && before.Known {
			f.text(before, name) // "x".execute()
		}
		return
	}
	if words, ok := f.words(c.args[0], 0); ok {
		f.run(name, words...)
		return
	}
	if len(c.args) > 1 && (f.language == "perl" || f.language == "ruby" || strings.Contains(name, "exec") && f.language == "python") {
		f.program(name, c)
		return
	}
	f.text(f.word(c.args[0], 0), name)
}

// program reads a call that is given a program, and its words after it or in a
// list.
func (f *foreignCode) program(name string, c call) {
	if len(c.args) == 0 {
		return
	}
	if words, ok := f.words(c.args[0], 0); ok {
		f.run(name, words...)
		return
	}
	words := []argv.Word{f.word(c.args[0], 0)}
	if name == "Deno.Command" {
		if list, ok := f.words(f.namedTokens(c, "args"), 0); ok {
			words = append(words, list...)
		}
	}
	if strings.HasPrefix(name[strings.LastIndexByte(name, '.')+1:], "spawn") && f.language == "python" {
		c.args = c.args[1:] // the mode
		words = []argv.Word{f.word(nth(c.args, 0), 0)}
	}
	for i, a := range c.args[min(1, len(c.args)):] {
		list, ok := f.words(a, 0)
		switch {
		case ok && f.language == "python": // the name stands in it once more
			words = append(words, list[min(1, len(list)):]...)
		case ok:
			words = append(words, list...)
		case len(a) > 0 && a[0].text == "{", f.language == "javascript" && len(a) > 0 && i > 0:
		case f.language == "python" && i == 0 && !strings.Contains(name, "execv"): // argv[0]
		default:
			words = append(words, f.word(a, 0))
		}
	}
	if words[0].Known && strings.ContainsAny(words[0].Value, " \t") && len(words) == 1 {
		f.text(words[0], name)
		return
	}
	f.run(name, words...)
}

// text reads text for a shell.
func (f *foreignCode) text(w argv.Word, name string) {
	if !w.Known {
		f.s.opaque("the text that "+name+" runs is not known", f.at)
		return
	}
	sub := f.s.fork()
	sub.orphan()
	sub.code(w.Value, f.at)
}

// run reads a call as the command that does the same.
func (f *foreignCode) run(name string, words ...argv.Word) {
	if len(words) == 0 {
		return
	}
	fields := make([]field, len(words))
	for i, w := range words {
		fields[i] = field{Word: w, loose: !w.Known}
	}
	sub := f.s.fork()
	sub.orphan()
	from := len(sub.script.Invocations)
	sub.command(&command{words: fields, span: f.at, outside: true})
	if from < len(sub.script.Invocations) {
		sub.script.Invocations[from].Call = name
	}
}

// piped reads a command that awk pipes to or from: print | "sh".
func (f *foreignCode) piped(i int) {
	t := f.tok(i)
	from := f.sign(i+1, "|") && (f.tok(i+2).text == "getline" || f.sign(i+2, "&") && f.tok(i+3).text == "getline")
	if (f.sign(i-1, "|") || from || f.sign(i-1, "&") && f.sign(i-2, "|")) && !(f.sign(i-1, "|") && f.sign(i-2, "|")) {
		f.text(argv.Word{Value: t.text, Known: t.whole}, "awk")
	}
}
