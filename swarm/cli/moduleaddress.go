package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// resolveModule reads an address of work that may end in the path of a submodule,
// as a7/libs/core does.
func (p *place) resolveModule(text string) (store.Address, namedWork, error) {
	a, which, err := p.resolveWork(text)
	for at := strings.LastIndexByte(text, '/'); at > 0 && err != nil; at = strings.LastIndexByte(text[:at], '/') {
		if _, missing := errors.AsType[*store.NotFoundError](err); !missing {
			break
		}
		found, of, bad := p.resolveWork(text[:at])
		if bad != nil || found.Agent == "" || at == len(text)-1 {
			continue
		}
		of.module = text[at+1:]
		return found, of, nil
	}
	return a, which, err
}

// atModule is an agent whose patch is shown in a submodule alone.
func (w namedWork) atModule(a *store.Agent) (*store.Agent, error) {
	if w.module == "" {
		return a, nil
	}
	var names []string
	if p := patchOf(a); p != nil {
		for i := range p.Modules {
			if p.Modules[i].Path == w.module {
				return a.AtModule(&p.Modules[i]), nil
			}
			names = append(names, fmt.Sprintf("%s/%s", a.ID, p.Modules[i].Path))
		}
	}
	if len(names) == 0 {
		return nil, usagef("%s has changed no submodule, so there is no %s/%s", a.ID, a.ID, Printable(w.module))
	}
	return nil, usagef("%s has not changed a submodule %q; it has changed %s", a.ID, w.module, Printable(listed(names, 5)))
}

// refuseModules refuses addresses of submodules in a command that takes whole
// patches.
func (s *selection) refuseModules(verb string) error {
	for _, a := range s.named {
		if a.Module != nil {
			return &UsageError{
				Text:   fmt.Sprintf("%s: %s/%s is a part of the patch of %s, which is taken as a whole", verb, a.ID, Printable(a.Module.Path), a.ID),
				Advice: fmt.Sprintf("name %s; only diff and show take a submodule", a.ID),
			}
		}
	}
	return nil
}

// moduleTitle is the line before the patch of a submodule. git apply skips it. An
// agent chose the path: a line break in it would begin a patch of another file.
func moduleTitle(m task.ModulePatch) string {
	return fmt.Sprintf("Submodule %s %s..%s:\n", Printable(m.Path), git10(m.Base), git10(m.Commit))
}

// printModule prints the patch of a submodule for a person.
func printModule(w io.Writer, term Terminal, o showObject, m task.ModulePatch) error {
	p := portrait{term: term}
	p.line("agent", fmt.Sprintf("%s/%s  %s", o.Run, o.ID, o.Label))
	p.line("submodule", moduleText(o.ID, m))
	p.line("base", m.Base)
	p.line("store", m.Store)
	p.line("ref", m.Ref)
	p.line("landed", yesNo(o.Landed))
	p.paths("changed", m.Paths)
	_, err := io.WriteString(w, p.String())
	return err
}
