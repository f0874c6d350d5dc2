package argv

import (
	"slices"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cmdline"
)

// Prefix is the beginning of a command line, for the completion of its next word.
type Prefix struct{ s *scanner }

// ReadPrefix reads the beginning of a command line. It returns an error if no
// word can make a valid command line of it.
func ReadPrefix(app *cli.App, words []string) (*Prefix, error) {
	s := newScanner(app)
	return &Prefix{s}, s.scan(words)
}

// Invocation is the part of the invocation that is known so far.
func (p *Prefix) Invocation() *cmdline.Invocation { return p.s.inv }

// Command is the command reached so far; nil for the program itself.
func (p *Prefix) Command() *cli.Command { return p.s.leaf().cmd }

// Commands are the commands below the command reached so far.
func (p *Prefix) Commands() []*cli.Command { return p.s.leaf().commands }

// Arguments are the arguments so far.
func (p *Prefix) Arguments() []string { return p.s.args }

// Flag is the flag with that name of the command reached so far, or of a command
// above it; nil if there is none.
func (p *Prefix) Flag(name string) cli.Flag {
	f, _ := p.s.lookup(name)
	return f
}

// Flags are the visible flags that may still be given, the innermost command's
// first.
func (p *Prefix) Flags() []cli.Flag {
	var all []cli.Flag
	for _, l := range slices.Backward(p.s.levels) {
		for _, f := range l.flags {
			v, ok := f.(cli.VisibleFlag)
			if ok && !v.IsVisible() || p.s.seen[f] && !Repeatable(f) {
				continue
			}
			all = append(all, f)
		}
	}
	return all
}
