package shell

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"agentswarm/risk/argv"
)

// entry is the table's entry for a program or a subcommand: the command that it
// runs, and its place in the command line.
type entry struct {
	Names   []string `toml:"names"`
	Sub     []string `toml:"sub"` // paths such as "compose exec"; none: the program itself
	Options []string `toml:"options"`
	Single  bool     `toml:"single"`
	// Inner is where the other command stands; empty: in options alone.
	Inner inner `toml:"inner"`
	// After are the words after which it stands, where Inner is "after".
	After []string `toml:"after"`
	// Skip is how many operands stand before it.
	Skip int `toml:"skip"`
	// Assigns says that NAME=VALUE may stand before it.
	Assigns bool `toml:"assigns"`
	// Text are the options of which the value is text for a shell, Appends
	// those to whose value words are added that are not known.
	Text    []string `toml:"text"`
	Appends []string `toml:"appends"`
	// Settings are options of which the value is a setting as ssh has them.
	Settings []string `toml:"settings"`
	// Shell are options with which the operands are text for a shell.
	Shell []string `toml:"shell"`
	// Words are options with which the operands are words, not text.
	Words []string `toml:"words"`
	// Only are options without which the operands are something else.
	Only []string `toml:"only"`
	// Never are options with which nothing is run.
	Never []string `toml:"never"`
	// Chdir are options of which the value is where the other command runs.
	Chdir []string `toml:"chdir"`
	// Input says that the program reads text for a shell: "always", or "alone"
	// if no operands name another command.
	Input  string `toml:"input"`
	Remote bool   `toml:"remote"`
	// Typed says that the text is typed into a terminal: see keys.
	Typed bool `toml:"typed"`
	// Versions says that a version may follow the program's name: "x@1".
	Versions bool   `toml:"versions"`
	Language string `toml:"language"`
}

// inner says where a command stands in the command line of another.
type inner string

// program is an entry with its grammar and those of the programs within it.
type program struct {
	grammar *argv.Grammar
	entries map[string]*entry // by the path of the program within
}

// tables is the file.
type tables struct {
	Wrapper   []*entry            `toml:"wrapper"`
	Variables map[string][]string `toml:"variables"`
	Idioms    []string            `toml:"idioms"`
	// Sinks are the calls of each language that matter, by their effect.
	Sinks map[string]map[string][]string `toml:"sinks"`
}

// load reads the table and verifies it.
func (r *Reader) load(text []byte) error {
	var t tables
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&t); err != nil {
		return err
	}
	r.programs, r.variables = map[string]*program{}, map[string]string{}
	for _, e := range t.Wrapper {
		if err := r.enter(e); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(e.Names, ", "), err)
		}
	}
	for name, p := range r.programs {
		if err := p.grammar.Prepare(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for kind, names := range t.Variables {
		if !slices.Contains([]string{"command", "text", "prompt", "file"}, kind) {
			return fmt.Errorf("variables of no known kind: %s", kind)
		}
		for _, name := range names {
			if r.variables[name] != "" {
				return fmt.Errorf("variables: %s appears twice", name)
			}
			r.variables[name] = kind
		}
	}
	r.sinks = map[string]map[string]string{}
	for language, kinds := range t.Sinks {
		r.sinks[language] = map[string]string{}
		for kind, names := range kinds {
			if !slices.Contains([]string{"text", "program", "rmtree", "remove", "rm", "rmdir", "kill", "move", "copy", "link", "symlink", "send", "write", "eval", "lookup", "open", "reads", "truncate", "sql", "post", "remote", "words"}, kind) {
				return fmt.Errorf("sinks of no known kind: %s", kind)
			}
			for _, name := range names {
				if r.sinks[language][name] != "" { // of two kinds it would have either
					return fmt.Errorf("sinks of %s: %s appears twice", language, name)
				}
				r.sinks[language][name] = kind
			}
		}
	}
	for _, e := range t.Wrapper {
		if e.Language != "" && r.sinks[e.Language] == nil && e.Language != "shell" && e.Language != "opaque" {
			return fmt.Errorf("%s: no sinks of the language %s", strings.Join(e.Names, ", "), e.Language)
		}
	}
	for _, idiom := range t.Idioms {
		r.idioms = append(r.idioms, strings.Fields(idiom))
	}
	return nil
}

// enter adds an entry under each of its names.
func (r *Reader) enter(e *entry) error {
	kinds := []inner{"", "tail", "text", "first", "dashes", "after", "exec", "xargs", "parallel", "env", "git", "shell", "code", "awk", "sed", "command", "make", "tar", "editor", "bwrap", "socat", "script", "flake", "corepack"}
	switch {
	case len(e.Names) == 0:
		return fmt.Errorf("an entry without names")
	case !slices.Contains(kinds, e.Inner):
		return fmt.Errorf("inner is %q", e.Inner)
	case e.Input != "" && e.Input != "always" && e.Input != "alone":
		return fmt.Errorf("input is %q", e.Input)
	}
	subs := e.Sub
	if len(subs) == 0 {
		subs = []string{""}
	}
	for _, name := range e.Names {
		p := r.programs[name]
		if p == nil {
			p = &program{grammar: &argv.Grammar{}, entries: map[string]*entry{}}
			r.programs[name] = p
		}
		for _, sub := range subs {
			if p.entries[sub] != nil {
				return fmt.Errorf("%q appears twice", sub)
			}
			g := p.grammar
			for _, part := range strings.Fields(sub) {
				if g.Sub == nil {
					g.Sub = map[string]*argv.Grammar{}
				}
				if g.Sub[part] == nil {
					g.Sub[part] = &argv.Grammar{}
				}
				g = g.Sub[part]
			}
			g.Options, g.Single = e.Options, e.Single
			g.Leading = e.leading()
			p.entries[sub] = e
		}
	}
	return e.verify()
}

// leading reports whether the program's own options end at its first operand.
func (e *entry) leading() bool {
	switch e.Inner {
	case "tail", "text", "xargs", "parallel", "env", "shell", "code", "command":
		return true
	}
	return false
}

// verify reports an option that the entry names and its grammar has not.
func (e *entry) verify() error {
	for _, name := range slices.Concat(e.Text, e.Appends, e.Settings, e.Shell, e.Words, e.Only, e.Never, e.Chdir) {
		if !slices.ContainsFunc(e.Options, func(line string) bool {
			names := strings.Split(strings.TrimRight(line, ":?"), ",")
			i := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, "--") })
			return names[max(i, 0)] == name
		}) {
			return fmt.Errorf("%q is not what an option is known by", name)
		}
	}
	return nil
}
