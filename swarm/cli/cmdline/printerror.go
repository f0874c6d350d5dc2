package cmdline

import (
	"errors"
	"io"
	"strings"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/exit"
)

// PrintError prints an error for a person. A message may quote file names and
// agents. Only its own line breaks reach the terminal, and lines after the
// first are indented. So no quoted text can pass for a message of swarm.
func PrintError(env Env, err error) {
	term := terminal.Detect(env.Stderr, env.Getenv)
	first, rest, more := strings.Cut(err.Error(), "\n")
	text := term.Paint(terminal.StyleError, Program+":") + " " + termtext.Line(first) + "\n"
	if more {
		for line := range strings.SplitSeq(rest, "\n") {
			text += strings.TrimRight("  "+termtext.Text(line), " ") + "\n"
		}
	}
	var about interface{ Excerpt() string }
	if errors.As(err, &about) && about.Excerpt() != "" {
		text += "  " + termtext.Line(about.Excerpt()) + "\n"
	}
	if hint := exit.HintOf(err); hint != "" {
		text += "hint: " + termtext.Line(hint) + "\n"
	}
	// A failure of stderr cannot be reported.
	_, _ = io.WriteString(env.Stderr, text)
}
