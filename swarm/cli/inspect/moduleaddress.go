package inspect

import (
	"fmt"
	"io"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/task"
)

// moduleTitle is the line before the patch of a submodule. git apply skips it. An
// agent chose the path: a line break in it would begin a patch of another file.
func moduleTitle(m task.ModulePatch) string {
	return fmt.Sprintf("Submodule %s %s..%s:\n", termtext.Line(m.Path), view.Git10(m.Base), view.Git10(m.Commit))
}

// printModule prints the patch of a submodule for a person.
func printModule(w io.Writer, term terminal.Output, o showObject, m task.ModulePatch) error {
	p := portrait{term: term}
	p.line("agent", fmt.Sprintf("%s/%s  %s", o.Run, o.ID, o.Label))
	p.line("submodule", moduleText(o.ID, m))
	p.line("base", m.Base)
	p.line("store", m.Store)
	p.line("ref", m.Ref)
	p.line("landed", cmdline.YesNo(o.Landed))
	p.paths("changed", m.Paths)
	_, err := io.WriteString(w, p.String())
	return err
}
