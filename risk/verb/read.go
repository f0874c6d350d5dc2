// Package verb owns the grammar of programs that no rule knows. It finds the
// word of a command line that says that the program destroys, publishes or
// sends something. Tiers, rules and verdicts belong to package risk.
package verb

import (
	"slices"
	"strings"

	"agentswarm/risk/argv"
)

// Class is the kind of effect of a verb.
type Class uint8

// The classes of verbs. The zero value means that no such verb was found.
const (
	None        Class = iota
	Change            // it changes something that others use
	Message           // it sends a message or money
	Publication       // it shows something to others
	Removal           // it removes a program
	Destruction       // it destroys something
)

// String is the class as a word of a sentence.
func (c Class) String() string {
	switch c {
	case Change:
		return "changes"
	case Message:
		return "sends"
	case Publication:
		return "publishes"
	case Removal:
		return "uninstalls"
	case Destruction:
		return "destroys"
	case None:
	}
	return "none"
}

// Reading is how a command line was read.
type Reading struct {
	Program string
	Words   []string // the words that could hold the verb, in their order
	Verb    string   // as it was found: a word, an option, or the program's name
	Class   Class
	// Object is the local object of the verb; empty: another object.
	Object string
	// Kept says that others may need the local object.
	Kept bool
	// Restorable says that the program's removals can be restored.
	Restorable bool
	// Read is the word that makes the command a read; empty: none does.
	Read string
}

// maxWords is how many words of a command line can be subcommands.
const maxWords = 5

// Command is a command line of a program that no rule knows.
type Command struct {
	Program string
	Args    []argv.Word
	// Script says that Program is the file of a script: its name is not read.
	Script bool
	// NameOnly says that the verb can only be in the name.
	NameOnly bool
}

// Read reads a command line.
func (t *Tables) Read(cmd Command) Reading {
	r := Reading{Program: cmd.Program}
	if t.harmless[cmd.Program] {
		return r
	}
	r.Restorable = t.restorable[cmd.Program] || slices.ContainsFunc(t.endings, func(end string) bool {
		return strings.HasSuffix(cmd.Program, end) && cmd.Program != end
	})
	words := subcommands(t, cmd.Args)
	r.Words = words
	r.Restorable = r.Restorable || len(words) > 0 && t.managers[words[0]]
	if r.Read = t.dryRun(cmd.Args, words); r.Read != "" {
		return r
	}
	if cmd.NameOnly {
		t.readName(&r, words, len(cmd.Args))
		return r
	}
	if t.readWords(&r, words, len(cmd.Args)); r.Class != Destruction && !readsAll(r.Read) {
		t.readOptions(&r, cmd.Args)
	}
	if r.Class == None && r.Read == "" {
		t.readAgreed(&r, words, cmd.Args)
	}
	if r.Class == None && r.Read == "" {
		t.readLive(&r, words)
	}
	if r.Class == None && !cmd.Script && r.Read == "" {
		t.readName(&r, words, len(cmd.Args))
	}
	undoes := r.Restorable && r.Verb == "rollback" // it undoes its own changes in the work tree
	if undoes || t.staysHere(&r, cmd.Args) || t.editsFile(&r, cmd.Args) {
		r.Verb, r.Class = "", None
	}
	return r
}

// staysHere reports whether a publication stays on this machine, by a word such
// as "local" before the verb, or an option such as --local or --no-publish.
func (t *Tables) staysHere(r *Reading, args []argv.Word) bool {
	if r.Class != Publication && r.Class != Message && r.Class != Change {
		return false
	}
	for _, word := range r.Words {
		if word == r.Verb {
			break
		}
		if t.here[strings.ToLower(word)] {
			return true
		}
	}
	for _, w := range args {
		name, ok := strings.CutPrefix(w.Value, "--")
		if !ok || !w.Known {
			continue
		}
		first, verb, _ := strings.Cut(name, "-")
		if t.hereOptions[plain(name)] || t.not[first] && verb == strings.TrimLeft(strings.ToLower(r.Verb), "-") {
			return true
		}
	}
	return false
}

// editsFile reports whether the verb edits the contents of a file, and writes
// the result to another file: "--remove c.info '/usr/*' -o d.info".
func (t *Tables) editsFile(r *Reading, args []argv.Word) bool {
	if r.Class != Destruction {
		return false
	}
	edits, written := false, false
	for i, w := range args {
		if w.Value == r.Verb && i+1 < len(args) {
			edits = args[i+1].Known && t.isFile(args[i+1].Value)
		}
		if t.into[w.Value] && i+1 < len(args) {
			written = t.isFile(args[i+1].Value)
		}
	}
	return edits && written
}

// isFile says that a word is the name of a file, by its ending.
func (t *Tables) isFile(word string) bool {
	return !strings.Contains(word, "://") && t.files[ending(word)]
}

// ending is the part of a word behind its last dot, in lower case.
func ending(word string) string {
	dot := strings.LastIndexByte(word, '.')
	if dot < 1 {
		return ""
	}
	return strings.ToLower(word[dot+1:])
}

// plain is the name of an option without case, dashes and underscores.
func plain(name string) string {
	kept := make([]byte, 0, 32)
	for i := range len(name) {
		if c := name[i]; c >= 'A' && c <= 'Z' {
			kept = append(kept, c+'a'-'A')
		} else if c != '-' && c != '_' {
			kept = append(kept, c)
		}
	}
	return string(kept)
}

// readAgreed looks for a first word that destroys only with an option that
// agrees to it.
func (t *Tables) readAgreed(r *Reading, words []string, args []argv.Word) {
	if len(words) == 0 || !slices.ContainsFunc(args, func(w argv.Word) bool { return w.Known && t.agreeing[w.Value] }) {
		return
	}
	for _, c := range t.classes {
		if c.agreed[strings.ToLower(words[0])] {
			r.Verb, r.Class = words[0], c.is
			return
		}
	}
}

// readLive looks for a verb that changes a thing that others use, right behind
// the name of that thing: "service update", "orders:archive".
func (t *Tables) readLive(r *Reading, words []string) {
	before := ""
	if t.namedAfter(r.Program) != "" {
		return
	}
	if len(words) > 0 && t.control[words[0]] && !r.Restorable && t.controls(r.Program) {
		r.Verb, r.Class = words[0], Change
		return
	}
	for _, word := range words {
		if ends(word) || t.isFile(word) {
			return
		}
		all := append([]string{before}, parts(word)...)
		for i := 1; i < len(all); i++ {
			if t.live[all[i]] && i == len(all)-1 && t.liveThings[all[i-1]] {
				r.Verb, r.Class = word, Change
				return
			}
		}
		before = strings.ToLower(word)
		if t.neutral[before] && !t.groups[before] {
			return
		}
	}
}

// controls says that a program controls a system, by its name: "netctl".
func (t *Tables) controls(program string) bool {
	return slices.ContainsFunc(parts(program), func(part string) bool {
		return slices.ContainsFunc(t.controllers, func(end string) bool { return strings.HasSuffix(part, end) })
	})
}

// readsAll says that nothing but a read can have this verb.
func readsAll(word string) bool {
	return slices.Contains([]string{"list", "ls", "get", "describe", "show", "view", "search", "help", "query", "status", "info"}, word)
}

// unread stands for a subcommand that is not known, such as "$ENV".
const unread = "…"

// subcommands are the words that may be subcommands: those before the first
// option, or else those behind it that are no value of an option. A word that
// is not known may be a group, such as an environment, and a verb may follow.
func subcommands(t *Tables, args []argv.Word) (words []string) {
	ends, later := false, false
	for i, w := range args {
		switch text := w.Value; {
		case w.Glob:
			return words
		case text == "--" && w.Known:
			ends = true
		case !ends && len(text) > 1 && text[0] == '-':
			if len(words) > 0 {
				return words
			}
			later = true
		case !ends && later && len(words) == 0 && i > 0 && takesValue(t, args[i-1].Value):
		default:
			if !w.Known {
				text += unread + w.Rest
			}
			words = append(words, text)
			if len(words) == maxWords {
				return words
			}
		}
	}
	return words
}

// takesValue says that the word behind an option may be its value.
func takesValue(t *Tables, option string) bool {
	return len(option) > 1 && option[0] == '-' && option != "--" && !strings.Contains(option, "=") &&
		!t.flags[option] && !strings.HasPrefix(option, "--no-")
}

// dryRun is the word by which a command only reads; empty: there is none.
func (t *Tables) dryRun(args []argv.Word, words []string) string {
	if len(words) > 0 && words[0] == "help" {
		return words[0]
	}
	for i, w := range args {
		if !w.Known || w.Glob {
			continue
		}
		if w.Value == "--" {
			break
		}
		last := i == len(args)-1
		if i > 0 && !last && takesValue(t, args[i-1].Value) {
			continue // it may be the value of that option
		}
		// A short option such as -h may take a value: a host.
		if last && (t.dryWords[w.Value] || w.Value == "help" && i > 0 && !takesValue(t, args[i-1].Value) && len(words) > 1) {
			return w.Value
		}
		if len(w.Value) < 4 || w.Value[0] != '-' {
			continue
		}
		long := strings.HasPrefix(w.Value, "--")
		name, value, has := strings.Cut(strings.TrimLeft(w.Value, "-"), "=")
		if has && slices.Contains([]string{"", "false", "no", "0", "off", "none"}, strings.ToLower(value)) {
			continue
		}
		if t.dry[plain(name)] && (long || len(name) > 4) {
			return w.Value
		}
		bare := last || strings.HasPrefix(args[i+1].Value, "-")
		if t.bare[name] && bare && !has && long {
			return w.Value
		}
	}
	return ""
}

// ends says that a word is no subcommand, and that none follows it.
func ends(word string) bool {
	switch {
	case word == "", len(word) > maxWord, strings.ContainsAny(word, " \t\n/=@$%'\"(){}[]<>|;&*?,\\+"), strings.HasPrefix(word, "."), strings.HasPrefix(word, "~"), strings.HasPrefix(word, "-"):
		return true
	}
	return strings.Trim(word, "0123456789.") == ""
}

// readWords looks for the verb among the subcommands. n is the number of all
// words of the command line.
func (t *Tables) readWords(r *Reading, words []string, n int) {
	behind := false // behind a word that is not known
	for i, word := range words {
		if word == unread && r.Class == None {
			behind = true
			continue
		}
		lower := strings.ToLower(word)
		if ends(word) || t.isFile(word) && !t.domains[ending(word)] {
			return
		}
		if behind && !t.certain(lower) && !t.reading[lower] && !t.neutral[lower] {
			continue
		}
		if t.groups[lower] && i+1 < len(words) && t.strong(words[i+1]) {
			continue
		}
		if t.reading[lower] {
			if r.Class == None {
				r.Read = lower
			}
			return
		}
		compound := parts(word)
		for _, c := range t.classes {
			verb, object := t.match(c, i, compound, words)
			copies := t.copiers[r.Program] && (lower == "push" || lower == "transfer")
			if verb == "" || copies || c.object[lower] && i == 0 && n == 1 || t.spares(verb, object, words, i) {
				continue
			}
			if r.Class != None && (c.is != Destruction || !c.strong[lower]) {
				return // a name behind the verb
			}
			r.Verb, r.Class = word, c.is
			if i+1 < len(words) {
				object = append(object, parts(words[i+1])...)
			}
			if c.is == Destruction || c.is == Removal {
				t.local(r, append(object, words[:i]...))
				return
			}
			break // the next word may destroy
		}
		if t.neutral[lower] {
			return
		}
	}
}

// spares says that a verb in the word at i does no harm to its object: a part
// of its compound, or the word at its side.
func (t *Tables) spares(verb string, object, words []string, i int) bool {
	objects := t.spared[verb]
	switch {
	case objects == nil:
		return false
	case i > 0 && objects[strings.ToLower(words[i-1])], i+1 < len(words) && objects[strings.ToLower(words[i+1])]:
		return true
	}
	return len(object) > 0 && !slices.ContainsFunc(object, func(part string) bool { return !objects[part] })
}

// certain says that a word can be little else than a verb that destroys or
// publishes. Others behind a word that is not known may be names.
func (t *Tables) certain(word string) bool {
	return t.strong(word) || slices.ContainsFunc(t.classes, func(c *class) bool {
		return c.is == Destruction && c.whole[word] || c.is == Publication && c.whole[word] && c.first[word]
	})
}

// strong says that a word is a verb that is no noun.
func (t *Tables) strong(word string) bool {
	return slices.ContainsFunc(t.classes, func(c *class) bool { return c.strong[strings.ToLower(word)] })
}

// match finds the verb of a class in the word at i, whose parts are compound.
func (t *Tables) match(c *class, i int, compound, words []string) (verb string, object []string) {
	lower, next := strings.ToLower(words[i]), ""
	if i+1 < len(words) {
		next = strings.ToLower(words[i+1])
	}
	whole := c.whole[lower] || c.later[lower] && i > 0 || c.leading[lower] && i == 0
	// In "push build user/game" the word behind the verb is a noun.
	noun := c.first[lower] && t.groups[next] && i+2 < len(words)
	switch {
	case c.strong[lower], whole && !t.reading[next] && (c.is == Destruction || !t.neutral[next] || t.making[next] || noun):
		return lower, nil
	case c.undoing[lower] && i > 0 && t.schemas[strings.ToLower(words[i-1])]:
		return lower, nil
	case c.things[lower] && t.making[next]:
		return lower, nil
	}
	if len(compound) > 1 {
		if n := len(compound) - 1; c.undoing[compound[n]] && t.schemas[compound[n-1]] {
			return compound[n], compound[:n]
		}
		verb, object = c.compound(t, words[i], compound)
		if t.reading[next] && !c.strong[verb] {
			return "", nil // a noun: "deploy-key list"
		}
		return verb, object
	}
	return c.gluedVerb(lower)
}

// local notes the local object that a removal is about.
func (t *Tables) local(r *Reading, object []string) {
	for _, one := range object {
		switch part := strings.ToLower(one); {
		case t.own[part]:
			r.Object = part
			return
		case t.kept[part]:
			r.Object, r.Kept = part, true
		}
	}
	if part := t.namedAfter(r.Program); part != "" {
		r.Object, r.Kept = part, false
	}
}

// namedAfter is the local object that a program is named after: "vim-addons".
func (t *Tables) namedAfter(program string) string {
	all := parts(program)
	for _, part := range all {
		if t.named[part] || len(all) > 1 && t.own[part] {
			return part
		}
	}
	return ""
}

// readOptions looks for a verb among the options.
func (t *Tables) readOptions(r *Reading, args []argv.Word) {
	for _, w := range args {
		if w.Value == "--" {
			return
		}
		name, value, has := strings.Cut(w.Value, "=")
		if rest, ok := strings.CutPrefix(name, "/"); ok && w.Known && !strings.Contains(rest, "/") {
			t.readSlash(r, name, strings.ToLower(rest))
			continue
		}
		if !w.Known && !has || len(w.Value) < 3 || w.Value[0] != '-' || len(w.Value) > maxWord {
			continue
		}
		if has && slices.Contains([]string{"false", "no", "0", "off", "never"}, strings.ToLower(value)) {
			continue
		}
		for _, c := range t.classes {
			if c.is > r.Class && c.option(t, name) {
				r.Verb, r.Class, r.Object, r.Kept = name, c.is, "", false
				if c.is == Destruction {
					t.local(r, parts(strings.TrimLeft(name, "-")))
				}
				return
			}
		}
	}
}

// readSlash reads an option of Windows: "/Delete".
func (t *Tables) readSlash(r *Reading, name, word string) {
	for _, c := range t.classes {
		if c.is > r.Class && c.is >= Removal && c.options[word] {
			r.Verb, r.Class, r.Object, r.Kept = name, c.is, "", false
			return
		}
	}
}

// option says that an option is a verb of the class.
func (c *class) option(t *Tables, name string) bool {
	if c.single[name] {
		return true
	}
	long, ok := strings.CutPrefix(name, "--")
	if !ok && c.is == Destruction && strings.HasPrefix(name, "-delete") {
		return !t.modifiers[name[1:]] // of an older program
	}
	if !ok || t.modifiers[long] {
		return false
	}
	if c.is == Destruction { // "--delete1" and "--delete2" of two sides, "--eraseall"
		side := strings.TrimRight(long, "0123456789")
		if c.options[side] || c.options[strings.TrimSuffix(long, "all")] {
			return true
		}
	}
	if all := parts(long); len(all) > 2 && c.is == Destruction && t.before[all[0]] && c.strong[all[1]] { // "--forceDeleteResult"
		return true
	}
	return c.options[long] || slices.ContainsFunc(c.prefixes, func(p string) bool { return strings.HasPrefix(long, p) })
}

// readName looks for a verb in the name of the program: "x-delete". n is the
// number of all words of the command line.
func (t *Tables) readName(r *Reading, words []string, n int) {
	all := parts(r.Program)
	for _, c := range t.classes { // "sendxmpp"
		if c.is == Message && len(all) == 1 && n > 0 && (len(words) == 0 || !t.reading[strings.ToLower(words[0])]) {
			if v, rest := c.gluedVerb(r.Program); v != "" && len(rest[0]) > 2 {
				r.Verb, r.Class = r.Program, c.is
				return
			}
		}
	}
	if len(all) < 2 || len(r.Program) > maxWord || len(words) > 0 && t.reading[strings.ToLower(words[0])] {
		return
	}
	first := 0
	if all[0] == "git" {
		first = 1
	}
	for _, c := range t.classes {
		if c.is == Removal {
			continue
		}
		for at := first; at < len(all); at++ {
			if c.strong[all[at]] || c.is == Destruction && c.last[all[at]] && at == len(all)-1 && at > 0 {
				r.Verb, r.Class = r.Program, c.is
				return
			}
		}
	}
}
