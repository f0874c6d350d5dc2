package argv

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
)

// Parse puts the words of a command line in the order that App.Run reads, by these
// rules:
//
//   - Up to the first `--` every word that starts with - is a flag, wherever it
//     stands; a lone - is an argument. A flag may even precede its command.
//   - A value flag takes its value from its own word (--max=3, -j4, -j=4) or
//     else the next word, whatever that starts with; only `--` is never taken.
//     A bool flag takes none, short ones may share a word (-fn).
//   - Words after `--` are untouched. A command whose ArgsUsage shows a `--`
//     gets them apart, see [cmdline.Invoked]; others get more arguments.
//   - A command with SkipFlagParsing gets all words after its name as they are.
//
// urfave/cli stops at the first argument and swallows `--` in some positions,
// so it is given flags first, each in a single word, then `--`, then arguments.
//
// Parse returns an error for an unknown command or flag, and for a value of the
// wrong type. The invocation then tells no more than whether JSON was asked for.
func Parse(app *cli.App, words []string) (*cmdline.Invocation, error) {
	s := newScanner(app)
	if len(words) == 0 {
		s.inv.Help = true
		return s.inv, nil
	}
	err := s.scan(words)
	if err == nil {
		err = s.complete()
	}
	if err == nil {
		err = s.filtered()
	}
	if err != nil {
		if i := slices.Index(words, Dashes); i >= 0 {
			words = words[:i]
		}
		return &cmdline.Invocation{JSON: slices.Contains(words, "--json")}, err
	}
	s.assemble()
	return s.inv, nil
}

// Dashes ends the flags.
const Dashes = "--"

// level is a command on the path to the called command. The first level is the
// program itself and has no cmd.
type level struct {
	cmd      *cli.Command
	flags    []cli.Flag
	commands []*cli.Command
	given    []string // its flags as urfave reads them
}

type scanner struct {
	levels  []level
	args    []string
	pending []string // flags that stand before the command they belong to
	seen    map[cli.Flag]bool
	inv     *cmdline.Invocation
}

func newScanner(app *cli.App) *scanner {
	return &scanner{
		levels: []level{{flags: app.Flags, commands: app.Commands}},
		seen:   map[cli.Flag]bool{}, inv: &cmdline.Invocation{},
	}
}

func (s *scanner) leaf() *level { return &s.levels[len(s.levels)-1] }

// place says which command a message is about.
func (s *scanner) place() string {
	if len(s.inv.Path) > 0 {
		return cmdline.Path(s.inv.Path) + ": "
	}
	return ""
}

func (s *scanner) scan(words []string) error {
	for len(words) > 0 {
		if cmd := s.leaf().cmd; cmd != nil && cmd.SkipFlagParsing {
			s.args = words
			return nil
		}
		var err error
		switch word := words[0]; {
		case word == Dashes:
			s.finish(words[1:])
			return nil
		case len(word) > 1 && word[0] == '-':
			words, err = s.flag(words)
		default:
			words, err = s.word(words)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// finish takes the words after `--`.
func (s *scanner) finish(words []string) {
	cmd := s.leaf().cmd
	if cmd != nil && takesAfter(cmd) {
		s.inv.After, s.inv.HasAfter = slices.Clone(words), true
		return
	}
	s.args = append(s.args, words...)
}

// takesAfter reports whether words after `--` differ from arguments for cmd.
// The usage line of the command shows it, to users and to this function.
func takesAfter(cmd *cli.Command) bool {
	for field := range strings.FieldsSeq(cmd.ArgsUsage) {
		if strings.Trim(field, "[]()") == Dashes {
			return true
		}
	}
	return false
}

// word takes a word that is no flag: the name of a command, or an argument.
func (s *scanner) word(words []string) ([]string, error) {
	at, name, rest := s.leaf(), words[0], words[1:]
	if len(s.args) > 0 || len(at.commands) == 0 {
		s.args = append(s.args, name)
		return rest, nil
	}
	if cmd := FindCommand(at.commands, name); cmd != nil {
		return s.descend(cmd, rest), nil
	}
	if at.cmd == nil && name == "help" {
		s.inv.Help = true
		return rest, nil
	}
	if at.cmd != nil && at.cmd.Action != nil {
		s.args = append(s.args, name)
		return rest, nil
	}
	return nil, s.unknownCommand(name)
}

// descend enters a command and gives back its flags that stood before it.
func (s *scanner) descend(cmd *cli.Command, rest []string) []string {
	s.levels = append(s.levels, level{
		cmd: cmd, flags: cmd.Flags, commands: cmd.Subcommands,
	})
	s.inv.Path = append(s.inv.Path, cmd)
	rest = slices.Concat(s.pending, rest)
	s.pending = nil
	return rest
}

// FindCommand returns the command with that name or alias; nil if there is none.
func FindCommand(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

// complete checks that the words amount to a command.
func (s *scanner) complete() error {
	cmd := s.leaf().cmd
	switch {
	case s.inv.Help:
		return nil
	case cmd == nil:
		return &exit.UsageError{
			Text:   "no command given",
			Advice: cmdline.Program + " help lists the commands",
		}
	case cmd.Action == nil:
		return exit.Usagef("%sneeds one of its own commands: %s", s.place(),
			strings.Join(cmdline.VisibleNames(cmd.Subcommands), ", "))
	}
	return nil
}

// assemble builds the arguments for urfave.
func (s *scanner) assemble() {
	argv := []string{cmdline.Program}
	for _, l := range s.levels {
		if l.cmd != nil {
			argv = append(argv, l.cmd.Name)
		}
		argv = append(argv, l.given...)
	}
	if cmd := s.leaf().cmd; cmd != nil && !cmd.SkipFlagParsing {
		argv = append(argv, Dashes)
	}
	s.inv.Argv = append(argv, s.args...)
}

// flag takes the flag at words[0] and its value.
func (s *scanner) flag(words []string) ([]string, error) {
	word, next := words[0], words[1:]
	if !strings.HasPrefix(word, "--") {
		return s.shortFlags(words)
	}
	name, value, attached := strings.Cut(word[2:], "=")
	f, at := s.lookup(name)
	switch {
	case f == nil || utf8.RuneCountInString(name) < 2:
		return s.foreignFlag(words, "--"+name)
	case attached:
		return next, s.set(at, f, given{"--" + name, value})
	case !TakesValue(f):
		return next, s.set(at, f, given{"--" + name, "true"})
	}
	value, next, err := s.nextWord(f, "--"+name, next)
	if err == nil {
		err = s.set(at, f, given{"--" + name, value})
	}
	return next, err
}

// shortFlags takes a word such as -n, -fn, -j4 or -j, with the value of the
// last flag in it.
func (s *scanner) shortFlags(words []string) ([]string, error) {
	body, next := words[0][1:], words[1:]
	if long, _, _ := strings.Cut(body, "="); utf8.RuneCountInString(long) > 1 {
		if f, _ := s.lookup(long); f != nil {
			return nil, exit.Usagef("%sunknown flag -%s, did you mean --%s?",
				s.place(), termtext.Line(long), long)
		}
	}
	for body != "" {
		_, size := utf8.DecodeRuneInString(body)
		name := body[:size]
		body = body[size:]
		f, at := s.lookup(name)
		switch {
		case f == nil && name == "h":
			s.inv.Help, s.inv.Short = true, true
			continue
		case f == nil:
			return s.foreignFlag(words, "-"+name)
		case TakesValue(f) && body == "":
			value, rest, err := s.nextWord(f, "-"+name, next)
			if err == nil {
				err = s.set(at, f, given{"-" + name, value})
			}
			return rest, err
		case TakesValue(f) || body != "" && body[0] == '=':
			value := strings.TrimPrefix(body, "=")
			return next, s.set(at, f, given{"-" + name, value})
		}
		if err := s.set(at, f, given{"-" + name, "true"}); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// lookup finds a flag of the command reached so far, or of those above it.
func (s *scanner) lookup(name string) (cli.Flag, *level) {
	for i := len(s.levels) - 1; i >= 0; i-- {
		for _, f := range s.levels[i].flags {
			if slices.Contains(f.Names(), name) {
				return f, &s.levels[i]
			}
		}
	}
	return nil, nil
}

// nextWord takes the next word as a value. A `--` is never a value. Else a user
// who forgot the value of --each would lose the start of the agent's command.
func (s *scanner) nextWord(f cli.Flag, shown string, next []string) (string, []string, error) {
	if len(next) == 0 || next[0] == Dashes {
		return "", nil, exit.Usagef("%sflag %s needs a value: %s %s",
			s.place(), shown, shown, Placeholder(f))
	}
	return next[0], next[1:], nil
}

// foreignFlag takes a flag that the command reached so far does not know.
func (s *scanner) foreignFlag(words []string, shown string) ([]string, error) {
	if shown == "--help" {
		s.inv.Help = true
		return words[1:], nil
	}
	if s.leaf().cmd == nil {
		if cmd := FindCommand(s.leaf().commands, "version"); shown == "--version" && cmd != nil {
			return s.descend(cmd, words[1:]), nil
		}
		if n := s.reach(words); n > 0 {
			s.pending = append(s.pending, words[:n]...)
			return words[n:], nil
		}
	}
	return nil, s.unknownFlag(words[0], shown)
}

// reach counts the words of a flag that stands before its command. It is zero
// where no command knows the flag, or where they disagree about its value.
func (s *scanner) reach(words []string) int {
	name, _, attached := strings.Cut(strings.TrimLeft(words[0], "-"), "=")
	if !strings.HasPrefix(words[0], "--") {
		_, size := utf8.DecodeRuneInString(name)
		attached = attached || len(name) > size
		name = name[:size]
	}
	n := 0
	for _, cmd := range s.leaf().commands {
		for _, f := range cmd.Flags {
			if !slices.Contains(f.Names(), name) {
				continue
			}
			want := 1
			if TakesValue(f) && !attached {
				want = 2
			}
			if n != 0 && n != want {
				return 0
			}
			n = want
		}
	}
	if n > len(words) || n == 2 && words[1] == Dashes {
		return 1 // the command itself will say that the value is missing
	}
	return n
}

// given is a flag as the user wrote it.
type given struct{ shown, value string }

// set records a flag for urfave, in a single word and under its first name.
func (s *scanner) set(at *level, f cli.Flag, g given) error {
	if s.seen[f] && !Repeatable(f) {
		return exit.Usagef("%sflag %s is given twice", s.place(), g.shown)
	}
	s.seen[f] = true
	value, err := canonical(f, g)
	if err != nil {
		return &exit.UsageError{Text: s.place() + err.Error()}
	}
	name := f.Names()[0]
	switch {
	case name == "json":
		s.inv.JSON = value == "true"
	case at.cmd == nil:
		if err := setGlobal(s.inv, name, value); err != nil {
			return err
		}
	}
	at.given = append(at.given, Dashes+name+"="+value)
	return nil
}
