// Package shell reads shell text the way a shell would run it, without running
// any of it. It finds the programs that would start, with their words, folder
// and input. It judges nothing, and it reads no file and no environment.
package shell

import "agentswarm/risk/argv"

// Script lists the programs that a text would start, as far as the text shows
// them.
type Script struct {
	Invocations []Invocation // in the order of the text, reachable or not
	Writes      []Write      // the targets of redirections
	Opaque      []Opaque     // the parts that could not be read; they may do anything
	Steps       int          // the work of reading it, of at most MaxSteps
}

// Invocation is a program that would start, without its wrappers: "sudo rm -r
// x" is an invocation of sudo, and an invocation of rm via sudo.
type Invocation struct {
	Program string      // the last element of its path
	Path    argv.Word   // the path or name as it is written
	Args    []argv.Word // the words after the program
	Via     []string    // the programs it stands within, outermost first
	Assigns []Assign    // variables set for it, and exported before it
	Stdin   Stdin       // its standard input
	Cwd     Folder      // where it runs
	Writes  []Write     // where its own redirections lead; Script.Writes has them too
	// Remote says that another machine or a container runs it, so that its
	// paths are not those of this machine.
	Remote bool
	// Shadowed says that the text itself defines a function of this name,
	// whose body is read in its place.
	Shadowed bool
	// Plain says that the text is this invocation and nothing else: no
	// wrapper, no assignment, no redirection, no expansion, no other command
	// before or after it.
	Plain bool
	// Call is the function of another language with the same effect as the
	// program: "shutil.rmtree" for rm. Empty: it is the program.
	Call string
	Span Span
}

// Assign is a variable that is set for a program.
type Assign struct {
	Name  string
	Value argv.Word
}

// Write is a file that a redirection opens for writing.
type Write struct {
	Path   argv.Word
	Append bool
	Cwd    Folder
	Via    []string
	Remote bool
	Span   Span
}

// Stdin is the input of a program.
type Stdin struct {
	Kind StdinKind
	Text string // of StdinText
}

// StdinKind says how much of a program's input is known.
type StdinKind uint8

// The kinds. The zero value is the kind with the least knowledge.
const (
	StdinUnknown   StdinKind = iota // something is piped into it, or a file
	StdinText                       // just this text
	StdinInherited                  // nothing is redirected
)

// Folder is where something runs.
type Folder struct {
	Path  string // absolute, cleaned; of no meaning where it is not known
	Known bool
	Moved bool // a cd, or an option of a wrapper, led there
}

// Span is a part of the text, in bytes.
type Span struct{ Start, End int }

// Opaque is a part that could not be read.
type Opaque struct {
	Why  string // such as "the name of the program is not known"
	Span Span
	Via  []string
}

// Start is the state that is known when a text starts to run.
type Start struct {
	Cwd  string            // absolute
	Home string            // absolute
	Env  map[string]string // variables whose values are known; others are not known
	// Top is the top of the work tree, and Branch the checked-out branch, for
	// texts that ask git for them. Empty: not known.
	Top, Branch string
	// GitDir is the git dir of the work tree, and CommonDir the git dir that
	// work trees share. They are absolute, or empty: not known.
	GitDir, CommonDir string
}

// MaxText is how much text is read, in bytes, MaxNesting how deep brackets and
// quotes may stand in each other, MaxDepth how deep text may stand in text
// (sh -c), and MaxSteps how much work a text may cost: about 50 ms. Beyond,
// the text is opaque.
const (
	MaxText    = 64 << 10
	MaxNesting = 200
	MaxDepth   = 8
	MaxSteps   = 200_000
)
