package risk

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxItem is the longest item that is read, in bytes.
const maxItem = 1 << 10

// ParseGrant reads an item, as it stands in AGENTS.md or after --allow. It
// returns an error that tells the right form.
func ParseGrant(text string) (Grant, error) {
	if len(text) > maxItem {
		return Grant{}, fmt.Errorf("it is longer than %d bytes", maxItem)
	}
	text = strings.Trim(text, " \t\n")
	for _, c := range []byte(text) {
		// Some readers take other blanks for a space, and others take them for
		// the end of a line.
		if (c < ' ' || c > '~') && c != '\t' {
			return Grant{}, errors.New("it holds a character that is not plain ASCII")
		}
	}
	tokens, err := tokensOf(text)
	if err != nil {
		return Grant{}, err
	}
	return readItem(tokens)
}

// token is a word of an item, or a whole code span.
type token struct {
	text string
	code bool
}

// is reports whether the token equals any of the words, in any case.
func (t token) is(words ...string) bool {
	return !t.code && slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, t.text) })
}

// tokensOf cuts text with backquotes for code spans.
func tokensOf(text string) ([]token, error) {
	var tokens []token
	for i, piece := range strings.Split(text, "`") {
		if i%2 == 0 {
			tokens = append(tokens, plain(piece)...)
			continue
		}
		tokens = append(tokens, token{text: strings.TrimSpace(piece), code: true})
	}
	if strings.Count(text, "`")%2 != 0 {
		return nil, errors.New("a backquote has no other one")
	}
	if err := apart(text); err != nil {
		return nil, err
	}
	return tokens, nil
}

// apart refuses code that hangs together with a word.
func apart(text string) error {
	pieces := strings.Split(text, "`")
	for i := 1; i < len(pieces); i += 2 {
		before := pieces[i-1]
		after := ""
		if i+1 < len(pieces) {
			after = pieces[i+1]
		}
		if before != "" && !strings.HasSuffix(before, " ") || after != "" && after != "." && !strings.HasPrefix(after, " ") {
			return errors.New("a code span hangs together with a word")
		}
	}
	return nil
}

func plain(text string) []token {
	var tokens []token
	for word := range strings.FieldsSeq(text) {
		tokens = append(tokens, token{text: word})
	}
	return tokens
}

// item is an item while it is read.
type item struct {
	rest  []token
	never bool
}

// next consumes the next word if it equals any of the words.
func (i *item) next(words ...string) bool {
	if len(i.rest) == 0 || !i.rest[0].is(words...) {
		return false
	}
	i.rest = i.rest[1:]
	return true
}

// take takes the next token, whatever it is.
func (i *item) take() string {
	if len(i.rest) == 0 {
		return ""
	}
	first := i.rest[0]
	i.rest = i.rest[1:]
	return first.text
}

// readItem reads an item, all of which has to be understood.
func readItem(tokens []token) (Grant, error) {
	g := Grant{Text: written(tokens)}
	i := &item{rest: tokens}
	i.end()
	g.Never = i.next("never", "don't") || len(i.rest) > 1 && i.rest[1].is("not") && i.next("do") && i.next("not")
	i.never = g.Never
	var err error
	if g.Covers, err = i.covers(); err != nil {
		return g, err
	}
	if len(i.rest) > 0 {
		return g, fmt.Errorf("%q is not understood; an item says one thing and nothing beside it", written(i.rest))
	}
	return g, nil
}

// end takes the full stop and the tail off: "without asking" says no more
// than that the item is there.
func (i *item) end() {
	n := len(i.rest)
	if n > 0 && !i.rest[n-1].code {
		last := strings.TrimSuffix(i.rest[n-1].text, ".")
		i.rest = slices.Clone(i.rest)
		if i.rest[n-1].text = last; last == "" {
			i.rest = i.rest[:n-1]
			n--
		}
	}
	if n > 2 && i.rest[n-2].is("without") && i.rest[n-1].is("asking", "confirmation", "approval", "prompting") {
		i.rest = i.rest[:n-2]
	}
}

// covers reads the subject of the item.
func (i *item) covers() (Covers, error) {
	switch {
	case i.next("push"):
		return i.push(false)
	case i.next("force-push"):
		return i.push(true)
	case i.next("force"):
		if !i.next("push") {
			return nil, errors.New("\"force\" is followed by \"push to\" and a branch")
		}
		return i.push(true)
	case i.next("run"):
		return i.run()
	case i.next("modify"):
		path := i.take()
		if err := checkScope(path, i.never); err != nil {
			return nil, err
		}
		if guarded(path) && !i.never {
			return nil, fmt.Errorf("%q decides what agents may do; its change cannot be granted", path)
		}
		return &ModifyPaths{Paths: Scope(path)}, nil
	case i.next("amend"):
		if !i.next("published") || !i.next("commits") {
			return nil, errors.New("\"amend\" is followed by \"published commits\"")
		}
		return &AmendPublished{}, nil
	case i.next("downgrade"):
		if !i.next("dependencies") {
			return nil, errors.New("\"downgrade\" is followed by \"dependencies\"")
		}
		return &DowngradeDependencies{}, nil
	}
	return i.forge()
}

// push reads the words after "push" or "force push".
func (i *item) push(force bool) (Covers, error) {
	if !i.next("to") {
		return nil, errors.New("\"push\" is followed by \"to\" and a branch")
	}
	i.next("the")
	branches := i.take()
	if i.never && (strings.EqualFold(branches, "any") || strings.EqualFold(branches, "all")) {
		branches = string(everything)
	}
	if err := checkScope(branches, i.never); err != nil {
		return nil, err
	}
	if slices.ContainsFunc([]string{"any", "all", "every", "a", "branch", "branches"}, func(w string) bool { return strings.EqualFold(w, branches) }) {
		return nil, fmt.Errorf("%q is not a branch; name one, or a pattern as feature/*", branches)
	}
	i.next("branch", "branches")
	p := &PushTo{Branches: Scope(branches), Force: force}
	if i.next("on") {
		p.Remote = i.take()
		if err := checkScope(p.Remote, false); err != nil {
			return nil, err
		}
		if strings.ContainsAny(p.Remote, "*/") {
			return nil, fmt.Errorf("%q is not the name of a remote", p.Remote)
		}
	}
	return p, nil
}

// run reads the words after "run": the words of a command, in a code span or
// not.
func (i *item) run() (Covers, error) {
	var argv []string
	switch {
	case len(i.rest) == 0:
		return nil, errors.New("\"run\" is followed by a command")
	case i.rest[0].code:
		argv = strings.Fields(i.take())
	default:
		for len(i.rest) > 0 && !i.rest[0].code {
			if i.rest[0].is("and", "or", "if", "unless", "but", "when", "then", "except", "only", "also", "not", "until", "with", "without") {
				return nil, fmt.Errorf("%q is not understood; put the command into backquotes, and nothing beside it", i.rest[0].text)
			}
			argv = append(argv, i.take())
		}
	}
	if len(argv) == 0 {
		return nil, errors.New("\"run\" is followed by a command")
	}
	for _, word := range argv {
		for _, c := range []byte(word) {
			if !letter(c) && !strings.ContainsRune("0123456789._/:@+=%-", rune(c)) {
				return nil, fmt.Errorf("%q has the character %q; a command is granted by its plain words", word, c)
			}
		}
	}
	if strings.HasPrefix(argv[0], "-") || strings.Contains(argv[0], "=") {
		return nil, fmt.Errorf("%q is not a command", argv[0])
	}
	return &RunCommand{Argv: argv}, nil
}

// forge reads an act on issues or pull requests.
func (i *item) forge() (Covers, error) {
	f := &ForgeActs{}
	switch {
	case i.next("create", "open"):
		f.Verb = "create"
	case i.next("close"):
		f.Verb = "close"
	case i.next("reopen"):
		f.Verb = "reopen"
	case i.next("edit"):
		f.Verb = "edit"
	case i.next("merge"):
		f.Verb = "merge"
	case i.next("comment"):
		if !i.next("on") {
			return nil, errors.New("\"comment\" is followed by \"on pull requests\" or \"on issues\"")
		}
		f.Verb = "comment"
	default:
		return nil, errors.New("it begins with none of push, force push, run, modify, amend, downgrade, create, open, close, reopen, edit, merge, comment, never and do not")
	}
	switch {
	case i.next("prs"), i.next("pull") && i.next("requests"):
		f.What = "pull-request"
	case f.Verb != "merge" && i.next("issues"):
		f.What = "issue"
	default:
		return nil, fmt.Errorf("%q is about pull requests or issues", f.Verb)
	}
	return f, nil
}

// written is an item as it was written, blanks aside.
func written(tokens []token) string {
	words := make([]string, len(tokens))
	for i, t := range tokens {
		if words[i] = t.text; t.code {
			words[i] = "`" + t.text + "`"
		}
	}
	return strings.Join(words, " ")
}
