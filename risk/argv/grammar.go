package argv

import (
	"fmt"
	"strings"
)

// Grammar says which words of a program's command line are options. The zero
// value knows no option: every word with a leading dash is an unknown option
// without a value.
type Grammar struct {
	// Options lists options. Each entry has the names of an option, joined by
	// commas, and a mark for its value. "-f,--force" takes no value.
	// "-C,--directory:" takes a value, attached or as the next word. "--color?"
	// takes an attached value, or none.
	Options []string `toml:"options"`
	// Leading says that options end at the first operand, as for programs that
	// run another program.
	Leading bool `toml:"leading"`
	// Exact says that long options cannot be shortened. GNU programs and git
	// take any beginning that only a single option has.
	Exact bool `toml:"exact"`
	// Single says that a single dash begins a long option, as for find, go
	// and terraform: there are no clusters of short ones.
	Single bool `toml:"single"`
	// Sub are the programs within the program, each named by the first
	// operand, as those of git. A program with such ends its own options there.
	Sub map[string]*Grammar `toml:"sub"`

	table map[string]option
}

// option is an entry of the table.
type option struct {
	name  string // its canonical name: the first long name, else the first
	value valued
}

// valued says whether an option takes a value.
type valued int

const (
	never valued = iota
	attached
	always
)

// Prepare makes the tables of a grammar and of those below it, once, before
// its first use. Its error names an option that is spelled in no known way.
func (g *Grammar) Prepare() error {
	g.table = make(map[string]option, len(g.Options))
	for _, line := range g.Options {
		names, value := line, never
		switch {
		case strings.HasSuffix(line, ":"):
			names, value = strings.TrimSuffix(line, ":"), always
		case strings.HasSuffix(line, "?"):
			names, value = strings.TrimSuffix(line, "?"), attached
		}
		all := strings.Split(names, ",")
		o := option{name: all[0], value: value}
		for _, name := range all {
			if strings.HasPrefix(name, "--") {
				o.name = name
				break
			}
		}
		for _, name := range all {
			if len(name) < 2 || name[0] != '-' && name[0] != '+' {
				return fmt.Errorf("option %q in %q: names begin with a dash", name, line)
			}
			if _, twice := g.table[name]; twice {
				return fmt.Errorf("option %q appears twice", name)
			}
			g.table[name] = o
		}
	}
	for name, sub := range g.Sub {
		if err := sub.Prepare(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
