package tui

import (
	"strings"

	"github.com/alecthomas/chroma/v2"
)

// Token is a part of a line of code.
type Token struct {
	Role Role
	Text string
}

// Code finds the parts of lines of code. The rules of a language are compiled
// when its first line is shown: chroma's own set of lexers reads all of its
// languages before main, which each start of the program would pay for. A nil
// Code finds nothing.
type Code struct {
	lexers map[*family]chroma.Lexer
	seen   map[lineOf][]Token
}

type lineOf struct{ language, text string }

const (
	// mostCode bounds the part of a line that is looked at, in bytes.
	mostCode = 600
	// mostSeen bounds the lines that are remembered.
	mostSeen = 4096
)

// NewCode is ready to use.
func NewCode() *Code {
	return &Code{lexers: map[*family]chroma.Lexer{}, seen: map[lineOf][]Token{}}
}

// Tokens are the parts of a line in a language, which is the usual end of names
// of its files. Put together they are the line. A line is looked at by itself:
// the second line of a comment may look like code.
func (c *Code) Tokens(language, text string) []Token {
	if c == nil || text == "" {
		return []Token{{Text: text}}
	}
	key := lineOf{language, text}
	if t, ok := c.seen[key]; ok {
		return t
	}
	if len(c.seen) >= mostSeen {
		clear(c.seen)
	}
	t := c.find(language, text)
	c.seen[key] = t
	return t
}

func (c *Code) find(language, text string) []Token {
	lexer := c.lexer(language)
	if lexer == nil {
		return []Token{{Text: text}}
	}
	head, rest := text, ""
	if len(text) > mostCode {
		head = strings.ToValidUTF8(text[:mostCode], "")
		if head != text[:len(head)] {
			return []Token{{Text: text}}
		}
		rest = text[len(head):]
	}
	next, err := lexer.Tokenise(nil, head)
	if err != nil {
		return []Token{{Text: text}}
	}
	var all []Token
	n := 0
	for t := next(); t != chroma.EOF; t = next() {
		part := strings.TrimRight(t.Value, "\n")
		n += len(part)
		role := roleOf(t.Type)
		if at := len(all) - 1; at >= 0 && all[at].Role == role {
			all[at].Text += part
		} else {
			all = append(all, Token{role, part})
		}
	}
	if n != len(head) { // chroma made something else of it, such as of bytes that are no text
		return []Token{{Text: text}}
	}
	if rest != "" {
		all = append(all, Token{Text: rest})
	}
	return all
}

func roleOf(t chroma.TokenType) Role {
	switch {
	case t.InCategory(chroma.Comment):
		return Comment
	case t.InCategory(chroma.Keyword):
		return Keyword
	case t.InCategory(chroma.Literal):
		return Literal
	case t == chroma.NameFunction:
		return Name
	}
	return Plain
}

// family is a group of languages that look alike at the level of a line.
type family struct {
	languages string // names, divided by blanks
	comments  string // regular expression
	strings   string
	keywords  string
}

const (
	quoted       = `"(\\.|[^"\\])*("|$)|'(\\.|[^'\\])*('|$)`
	quotedOrTick = quoted + "|`[^`]*(`|$)"
	slashes      = `//.*$|/\*.*?(\*/|$)`
	hash         = `#.*$`
)

// families are the known languages. A language may be in a single family only.
func families() []family {
	return []family{
		{"go", slashes, quotedOrTick, "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false"},
		{"js ts vue svelte", slashes, quotedOrTick, "as async await break case catch class const continue debugger default delete do else enum export extends false finally for from function if implements import in instanceof interface let new null of private protected public readonly return static super switch this throw true try type typeof undefined var void while yield"},
		{"rs", slashes, `b?"(\\.|[^"\\])*("|$)|'(\\.|[^'\\])'`, "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while"},
		{"c h cc cpp cxx hpp hh java kt kts cs scala swift dart php groovy gradle m mm proto zig", slashes, quoted, "abstract as auto bool boolean break case catch char class const continue data default delete do double else enum extends extern false final finally float for fun func function goto if implements import in inline int interface internal is let long message namespace new nil null nullptr object operator override package private protected public return sealed short signed sizeof static struct super switch template this throw throws trait true try typedef typename union unsigned using val var virtual void volatile when while"},
		{"py bzl", hash, `[rbfuRBFU]{0,2}("""|''')|` + `[rbfuRBFU]{0,2}(` + quoted + `)`, "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield match case"},
		{"rb", hash, quoted, "alias and begin break case class def defined do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield require"},
		{"sh make docker fish", hash, quoted, "if then else elif fi case esac for while until do done in function return local export set unset exit FROM RUN COPY ADD ENV ARG WORKDIR ENTRYPOINT CMD USER EXPOSE LABEL ifeq ifneq ifdef ifndef endif include define endef"},
		{"yaml toml ini cfg conf properties env json tf hcl nix", hash, quoted, "true false null yes no on off"},
		{"sql", `--.*$|/\*.*?(\*/|$)`, quoted, "select from where and or not insert into values update set delete create table alter drop index join left right inner outer on group by order having limit as null primary key foreign references begin commit SELECT FROM WHERE AND OR NOT INSERT INTO VALUES UPDATE SET DELETE CREATE TABLE ALTER DROP INDEX JOIN LEFT RIGHT INNER OUTER ON GROUP BY ORDER HAVING LIMIT AS NULL PRIMARY KEY FOREIGN REFERENCES BEGIN COMMIT"},
		{"lua hs elm", `--.*$`, quoted, "and break do else elseif end false for function if in local nil not or repeat return then true until while module where import data type let of case class instance"},
		{"css scss less", slashes, quoted, "important media import include mixin extend"},
		{"html xml svg", `<!--.*?(-->|$)`, quoted, ""},
	}
}

// lexer is the lexer of a language, made at its first use; nil for an unknown
// language.
func (c *Code) lexer(language string) chroma.Lexer {
	for f := range c.lexers {
		if strings.Contains(" "+f.languages+" ", " "+language+" ") {
			return c.lexers[f]
		}
	}
	if language == "" || strings.Contains(language, " ") {
		return nil
	}
	for _, f := range families() {
		if !strings.Contains(" "+f.languages+" ", " "+language+" ") {
			continue
		}
		lexer, err := chroma.NewLexer(&chroma.Config{Name: language}, f.rules)
		if err != nil {
			return nil
		}
		c.lexers[&f] = lexer
		return lexer
	}
	return nil
}

func (f *family) rules() chroma.Rules {
	all := []chroma.Rule{
		{Pattern: f.comments, Type: chroma.Comment},
		{Pattern: f.strings, Type: chroma.LiteralString},
	}
	if words := strings.Fields(f.keywords); len(words) > 0 {
		all = append(all, chroma.Rule{Pattern: chroma.Words(`\b`, `\b`, words...), Type: chroma.Keyword})
	}
	return chroma.Rules{"root": append(all,
		chroma.Rule{Pattern: `\b[0-9][0-9a-zA-Z_.]*`, Type: chroma.LiteralNumber},
		chroma.Rule{Pattern: `[\p{L}_$][\p{L}\p{N}_$]*(?=\()`, Type: chroma.NameFunction},
		chroma.Rule{Pattern: `[\p{L}_$][\p{L}\p{N}_$]*`, Type: chroma.Text},
		chroma.Rule{Pattern: `\s+|.`, Type: chroma.Text},
	)}
}
