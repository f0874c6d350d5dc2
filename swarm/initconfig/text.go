package initconfig

import (
	"fmt"
	"strings"

	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/project"
)

// agentCLI is a program that can be an agent.
type agentCLI struct {
	program string
	kind    string // the kind of agent that drives it; empty: none
}

// agentCLIs are the programs that init looks for.
func agentCLIs() []agentCLI {
	var all []agentCLI
	for _, k := range kinds.All() {
		if k.Program != "" {
			all = append(all, agentCLI{program: k.Program, kind: k.Name})
		}
	}
	return append(all, agentCLI{program: "aider"}, agentCLI{program: "goose"})
}

// Survey holds the findings in a checkout and on the PATH. All its words are ours: no
// name and no text of the repository gets into the file.
type Survey struct {
	ecosystems []ecosystem
	makefile   string     // a file with a target `test`
	agents     []agentCLI // on the PATH
	absent     []string   // names here that git ignores, and so in no workspace
	localShows bool       // git does not ignore the local configuration
}

// sure reports whether the scripts may stand in the file as they are: there is
// a single answer, and no doubt about it.
func (s Survey) sure() bool {
	return len(s.ecosystems) == 1 && s.ecosystems[0].doubt == ""
}

// Text is the file.
func (s Survey) Text() string {
	var b initText
	b.line("# What swarm does in this repository. Written by `swarm init`; make it yours.")
	b.line("# `swarm config show --origin` prints the values, `swarm config validate` checks")
	b.line("# this file, and `swarm config schema` has every key.")
	b.line("")
	b.line("[run]")
	b.line("# The agent that a prompt goes to where --agent names none.")
	b.line("# default_agent = %q", s.defaultAgent())
	b.line("")
	s.scripts(&b)
	b.line("[limits]")
	b.line("# How many agents run at once, and how long each may take.")
	b.line("# jobs = 4")
	b.line("# timeout = \"30m\"")
	b.line("")
	s.tables(&b)
	return b.String()
}

type initText struct{ strings.Builder }

func (b *initText) line(format string, args ...any) {
	fmt.Fprintf(b, format+"\n", args...)
}

// scripts are setup and verify: as they are, or as proposals.
func (s Survey) scripts(b *initText) {
	b.line("[workspace]")
	for _, e := range s.ecosystems {
		if e.doubt != "" {
			b.line("# Of %s only proposed: %s.", e.mark, e.doubt)
		}
	}
	if len(s.ecosystems) > 1 {
		b.line("# Several build commands were found; join those that you need with &&.")
	}
	mark := "# "
	if s.sure() {
		mark = ""
	}
	b.line("# Run by `sh -c` in each workspace before its agent.")
	if len(s.absent) > 0 {
		b.line("# Here and ignored by git, so in no workspace: %s.", strings.Join(s.absent, ", "))
		b.line("# What a file .worktreeinclude names comes along; the setup must make the rest.")
	}
	setups := 0
	for _, e := range s.ecosystems {
		if e.setup != "" {
			b.line("%ssetup = %q # %s", mark, e.setup, e.mark)
			setups++
		}
	}
	if setups == 0 {
		b.line("# setup = \"make deps\"")
	}
	b.line("")
	b.line("# Run by `sh -c` on the work of each agent, and on the result of a merge.")
	checks := 0
	for _, e := range s.ecosystems {
		if e.verify != "" {
			b.line("%sverify = %q # %s", mark, e.verify, e.mark)
			checks++
		}
	}
	if s.makefile != "" {
		if len(s.ecosystems) > 0 {
			mark = "# "
		} else {
			mark = ""
		}
		b.line("%sverify = %q # %s", mark, "make test", s.makefile)
		checks++
	}
	if checks == 0 {
		b.line("# verify = \"make test\"")
	}
	b.line("")
}

// tables are the agents.
func (s Survey) tables(b *initText) {
	b.line("# Agents. Programs that swarm drives, such as pi and codex, need no table: see")
	b.line("# `swarm agents`. Any other program gets a prompt in a workspace of its own by its")
	b.line("# command. An agent gets no variable that looks like a credential. If it needs one:")
	b.line("#   env = { MY_API_KEY = \"$MY_API_KEY\" }")
	name := "mine"
	for _, a := range s.agents {
		if a.kind == "" {
			name = a.program
		}
	}
	b.line("# [agents.%s]", name)
	b.line("# command = [\"my-agent\", \"--task\", \"{prompt}\"]")
	b.line("# input = \"arg\"")
}

func (s Survey) defaultAgent() string {
	for _, a := range s.agents {
		if a.kind != "" {
			return a.kind
		}
	}
	return "mine"
}

// Found lists the findings for a person, each in a line.
func (s Survey) Found() []string {
	var lines []string
	for _, e := range s.ecosystems {
		var does []string
		if e.setup != "" {
			does = append(does, "set up with `"+e.setup+"`")
		}
		if e.verify != "" {
			does = append(does, "verify with `"+e.verify+"`")
		}
		if len(does) == 0 {
			does = append(does, "how it is tested is not known")
		}
		line := "found " + e.mark + ": " + strings.Join(does, ", ")
		switch {
		case e.doubt != "":
			line += " (only proposed: " + e.doubt + ")"
		case !s.sure():
			line += " (only proposed: there are others)"
		}
		lines = append(lines, line)
	}
	if s.makefile != "" {
		line := "found " + s.makefile + ": verify with `make test`"
		if len(s.ecosystems) > 0 {
			line += " (only proposed: there are others)"
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		lines = append(lines, "found no build or test command")
	}
	for _, a := range s.agents {
		line := "found " + a.program + " on your PATH: swarm run --agent " + a.kind
		if a.kind == "" {
			line = "found " + a.program + " on your PATH: write its command into [agents." + a.program + "]"
		}
		lines = append(lines, line)
	}
	return lines
}

// Hints lists the steps that a person has to take.
func (s Survey) Hints() []string {
	var lines []string
	if len(s.absent) > 0 {
		lines = append(lines, "hint: "+strings.Join(s.absent, ", ")+
			": here and ignored, so not in workspaces; list them in .worktreeinclude, or let the setup make them")
	}
	if s.localShows {
		lines = append(lines, "hint: git does not ignore "+project.LocalConfigName+
			"; add this line to .gitignore: /"+project.LocalConfigName)
	}
	return lines
}
