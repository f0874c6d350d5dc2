package cmdline

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
)

// Attended tells whether somebody sits at the terminal of this command.
func Attended(p *Place) bool {
	in, ok := p.Env.Stdin.(interface{ Fd() uintptr })
	return ok && IsTerminal(in.Fd()) && terminal.Detect(p.Env.Stderr, p.Env.Getenv).TTY
}

// AskYes asks the person at the terminal. Only y and yes are a yes; the end of the
// input is a no. An error says that the answer cannot be read.
func AskYes(env Env, question string) (bool, error) {
	fmt.Fprint(env.Stderr, question+" [y/N] ")
	answer, err := bufio.NewReader(Input(env)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}

func YesOrNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Editor is the command line of the editor that git would open.
func Editor(p *Place, c *cli.Context) (string, error) {
	if editor := p.Env.Getenv("GIT_EDITOR"); editor != "" {
		return editor, nil
	}
	core, err := ownSetting(c.Context, p, "core", "editor")
	if err != nil {
		return "", err
	}
	for _, editor := range []string{core, p.Env.Getenv("VISUAL"), p.Env.Getenv("EDITOR")} {
		if editor != "" {
			return editor, nil
		}
	}
	return "vi", nil
}

// YesFlag leaves out the question before many agents start that cost money.
func YesFlag() cli.Flag {
	return &cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask before many paid agents start"}
}
