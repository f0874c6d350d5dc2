package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/argv"
	"agentswarm/swarm/cli/cmdline"
)

// completeName is the command that the scripts of `completion` call.
const completeName = "__complete"

// completeTime bounds how long a shell waits for candidates.
const completeTime = 2 * time.Second

// newCompleteCommand makes the hidden command behind the shells' completion:
//
//	swarm __complete [bash] -- WORD…
//
// The words are those after the program's name, the word under the cursor last
// and cut there. After `bash` they are as they were typed, quotes included;
// else the shell has removed its quotes. Each line of the answer is a
// candidate, a tab, and its meaning. A line without a candidate tells the shell
// what to complete itself: `files` or `folders`.
//
// The shell shows no errors, so the command has none: it offers nothing and
// exits 0. It writes nothing and puts no run in order.
func newCompleteCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name: completeName, Hidden: true, SkipFlagParsing: true,
		Usage: "complete a command line",
		Action: func(c *cli.Context) error {
			head, words, ok := cutWords(c.Args().Slice())
			if !ok || len(words) == 0 {
				return nil
			}
			plainOnly := false
			if head == "bash" {
				for i, w := range words {
					words[i], plainOnly = unquote(w)
				}
			}
			ctx := c.Context
			if !env.Unhurried {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, completeTime)
				defer cancel()
			}
			o := complete(ctx, env, c.App, words)
			return o.print(env.Stdout, plainOnly)
		},
	}
}

// cutWords parts the arguments at the first `--`.
func cutWords(args []string) (head string, words []string, ok bool) {
	at := slices.Index(args, argv.Dashes)
	if at < 0 {
		return "", nil, false
	}
	return strings.Join(args[:at], " "), args[at+1:], true
}

// candidate is a word that may stand at the cursor, and its meaning.
type candidate struct{ word, note string }

// offer is the answer to a request for completion.
type offer struct {
	candidates []candidate
	shell      shellOffer
}

// shellOffer names the words that the shell completes better than swarm does.
type shellOffer string

const (
	shellNothing shellOffer = ""
	shellFiles   shellOffer = "files"
	shellFolders shellOffer = "folders"
)

func (o *offer) add(word, note string) {
	o.candidates = append(o.candidates, candidate{word, note})
}

const (
	mostCandidates = 300 // more than anybody reads
	longestWord    = 250 // in bytes
	noteWidth      = 60  // in columns
)

// print writes the offer. Labels are file names and other foreign text. It
// leaves out unprintable words, since no shell can show them. With plainOnly it
// also leaves out words that need quotes.
func (o *offer) print(w io.Writer, plainOnly bool) error {
	var b strings.Builder
	seen := map[string]bool{}
	for _, c := range o.candidates {
		if len(seen) == mostCandidates {
			break
		}
		if seen[c.word] || !speakable(c.word) || plainOnly && !cmdline.NeedsNoQuotes(c.word) {
			continue
		}
		seen[c.word] = true
		fmt.Fprintf(&b, "%s\t%s\n", c.word, terminal.ShortenEnd(termtext.Line(c.note), noteWidth))
	}
	if o.shell != shellNothing {
		fmt.Fprintf(&b, "\t%s\n", o.shell)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// speakable tells whether a word can be a candidate.
func speakable(word string) bool {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	return word != "" && len(word) <= longestWord && utf8.ValidString(word) &&
		!strings.ContainsFunc(word, hidden)
}

// unquote reads a word as bash would and expands nothing. open reports that the
// word ends within quotes: a word that completes it must not need any.
func unquote(raw string) (word string, open bool) {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == '\\' && quote != '\'' && i+1 < len(raw) &&
			(quote == 0 || strings.IndexByte("$`\"\\", raw[i+1]) >= 0):
			i++
			b.WriteByte(raw[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), quote != 0
}

// completer completes a command line.
type completer struct {
	env    cmdline.Env
	app    *cli.App
	at     *argv.Prefix // the words before word
	word   string       // the word under the cursor
	dashed bool         // it stands after a `--`
	offer  offer
}

// complete offers completions of the last word.
func complete(ctx context.Context, env cmdline.Env, app *cli.App, words []string) offer {
	before, word := words[:len(words)-1], words[len(words)-1]
	c := &completer{env: env, app: app, word: word, dashed: slices.Contains(before, argv.Dashes)}
	if f := c.waiting(before); f != nil {
		c.repositories(f)
		c.value(ctx, f, "")
		return c.offer
	}
	var err error
	if c.at, err = argv.ReadPrefix(app, before); err != nil {
		return c.offer // the line is wrong already
	}
	name, value, attached := strings.Cut(word, "=")
	switch {
	case c.at.Invocation().HasAfter:
		c.offer.shell = shellFiles // a command and its arguments
	case c.dashed || !strings.HasPrefix(word, "-"):
		c.argument(ctx)
	case attached && strings.HasPrefix(name, argv.Dashes):
		if f := c.flagOf(name); f != nil && argv.TakesValue(f) {
			c.word = value
			c.value(ctx, f, name+"=")
		}
	default:
		c.flags()
	}
	return c.offer
}

// waiting is the flag before the word that takes the word as its value.
func (c *completer) waiting(before []string) cli.Flag {
	n := len(before)
	if n == 0 || c.dashed || !strings.HasPrefix(before[n-1], "-") {
		return nil
	}
	var err error
	if c.at, err = argv.ReadPrefix(c.app, before[:n-1]); err != nil {
		return nil
	}
	if f := c.flagOf(before[n-1]); f != nil && argv.TakesValue(f) {
		return f
	}
	return nil
}

// flagOf is the flag that a word ends with, such as --into, -j or -nj.
func (c *completer) flagOf(word string) cli.Flag {
	name, long := strings.CutPrefix(word, argv.Dashes)
	if !long {
		letters := []rune(strings.TrimPrefix(word, "-"))
		for i, r := range letters {
			f := c.flagNamed(string(r))
			if i == len(letters)-1 || f == nil {
				return f
			}
			if argv.TakesValue(f) {
				return nil // the rest of the word is its value
			}
		}
	}
	return c.flagNamed(name)
}

// flagNamed finds a flag of the command reached, or, before the command, of any
// command.
func (c *completer) flagNamed(name string) cli.Flag {
	if f := c.at.Flag(name); f != nil || c.at.Command() != nil {
		return f
	}
	for _, cmd := range c.app.Commands {
		for _, f := range cmd.Flags {
			if slices.Contains(f.Names(), name) {
				return f
			}
		}
	}
	return nil
}

// flags offers the flags that may still be given.
func (c *completer) flags() {
	for _, f := range c.at.Flags() {
		for _, name := range f.Names() {
			c.fitting(argv.Dashed(name), flagUsage(f))
		}
	}
	c.fitting("--help", "explain the command")
	c.fitting("-h", "explain the command")
	if c.at.Command() == nil {
		c.fitting("--version", "print the version of this program")
	}
}

// fitting offers word if it begins with the letters before the cursor.
func (c *completer) fitting(word, note string) {
	if strings.HasPrefix(word, c.word) {
		c.offer.add(word, note)
	}
}

// argument offers commands, and the words that the command's usage line has at
// this place.
func (c *completer) argument(ctx context.Context) {
	cmd, inv, args := c.at.Command(), c.at.Invocation(), c.at.Arguments()
	if len(args) == 0 {
		c.commands(c.at.Commands())
	}
	switch {
	case cmd != nil && !inv.Help:
		c.kinds(ctx, slot(cmd.ArgsUsage, len(args)))
	case cmd == nil && !inv.Help:
		c.fitting("help", "explain a command")
	}
}

func (c *completer) commands(commands []*cli.Command) {
	for _, cmd := range commands {
		if cmd.Hidden {
			continue
		}
		c.fitting(cmd.Name, cmd.Usage)
		for _, name := range cmd.Aliases {
			// Without a typed letter, a second name would only lengthen the
			// list.
			if c.word != "" && !strings.HasPrefix(cmd.Name, c.word) {
				c.fitting(name, cmd.Usage)
			}
		}
	}
}

// slot returns the kinds of the nth argument, counted from 0, from the
// command's usage line. `[RUN | AGENT…]` is RUN or AGENT at every place; `ID
// [yes|no|TEXT]` is an ID, then yes, no or TEXT.
func slot(usage string, n int) []string {
	type place struct {
		kinds []string
		more  bool
	}
	var places []place
	joined := false
	for field := range strings.FieldsSeq(usage) {
		field = strings.Trim(field, "[]()")
		if field == argv.Dashes {
			break
		}
		if field == "|" {
			joined = true
			continue
		}
		if !joined || len(places) == 0 {
			places = append(places, place{})
		}
		last := &places[len(places)-1]
		for kind := range strings.SplitSeq(field, "|") {
			short := strings.TrimSuffix(strings.TrimRight(kind, "[]()"), "…")
			short = strings.TrimSuffix(short, "...")
			last.more = last.more || short != kind
			last.kinds = append(last.kinds, strings.Trim(short, "[]()"))
		}
		joined = false
	}
	switch {
	case n < len(places):
		return places[n].kinds
	case len(places) > 0 && places[len(places)-1].more:
		return places[len(places)-1].kinds
	default:
		return nil
	}
}
