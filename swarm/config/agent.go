package config

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"
)

var (
	agentName    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]*$`) })
	laneName     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z0-9_][A-Za-z0-9_.:/@+-]{0,99})?$`) })
	variableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })
)

// Placeholders of a command for the prompt, or for the file that holds it.
const (
	PromptPlaceholder     = "{prompt}"
	PromptFilePlaceholder = "{prompt_file}"
)

// Agent is an [agents.NAME] table with its defaults filled in.
type Agent struct {
	Name        string
	Kind        Kind
	Command     []string // of a command never empty; of other kinds in place of their program
	Model       string
	Effort      string
	Tools       []string // of those that every kind has a word for
	ReadOnly    bool
	MaxTurns    int   // 0: no limit
	Input       Input // this and the next are unset but for a command
	Format      Format
	Success     Success
	PTY         bool              // it runs in a terminal of its own
	Env         map[string]string // values as written, see [Agent.Environ]
	Timeout     time.Duration     // 0: no limit
	IdleTimeout time.Duration     // 0: no limit
	Lane        string            // the lane whose limit its requests share; empty: none
	Write       []Path            // more folders that it may write to
	Origin      Origin
}

// Environ is the agent's own part of its environment as NAME=value, sorted. A
// value that is exactly $NAME is taken from the caller's environment through
// the lookup (os.LookupEnv); nothing else is expanded. A variable whose $NAME
// is not set there is left out and the name it asked for is returned as unset.
// The result holds secrets: only the names in Env may be recorded.
func (a Agent) Environ(lookup func(string) (string, bool)) (env, unset []string) {
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		value := a.Env[name]
		if from, ok := strings.CutPrefix(value, "$"); ok && variableName().MatchString(from) {
			if value, ok = lookup(from); !ok {
				unset = append(unset, from)
				continue
			}
		}
		env = append(env, name+"="+value)
	}
	return env, unset
}

// check finds a fault between the keys of an agent. It returns the key to blame
// and the reason, which is empty if there is no fault.
func (a Agent) check() (key, reason string) {
	prompt, file := a.mentions(PromptPlaceholder), a.mentions(PromptFilePlaceholder)
	placeholder := PromptPlaceholder
	if !prompt {
		placeholder = PromptFilePlaceholder
	}
	switch {
	case len(a.Command) == 0:
		return "command", `needs a command, such as command = ["program", "argument"]`
	case strings.TrimSpace(a.Command[0]) == "":
		return "command", "its first word, the program, is empty"
	case strings.Contains(a.Command[0], PromptPlaceholder),
		strings.Contains(a.Command[0], PromptFilePlaceholder):
		return "command", "its first word is the program and cannot hold the prompt"
	case a.PTY && a.Input != InputArg && a.Input != InputNone:
		return "input", fmt.Sprintf("%q is not for an agent with pty = true, whose "+
			"input is its terminal; use \"arg\" with {prompt} or {prompt_file} in the command, or \"none\"", a.Input)
	case a.PTY && a.Format != FormatText:
		return "format", fmt.Sprintf("%q is not for an agent with pty = true, "+
			"which writes for a person; use \"text\"", a.Format)
	case a.PTY && a.Success != SuccessExit:
		return "success", fmt.Sprintf("%q is not for an agent with pty = true, "+
			"which gives no answer; use \"exit\"", a.Success)
	case a.Input == InputArg && !prompt && !file:
		return "input", `"arg" needs {prompt} or {prompt_file} in the command`
	case a.Input != InputArg && (prompt || file):
		return "command", fmt.Sprintf(
			`holds %s, but input is %q; set input = "arg" or take it out`, placeholder, a.Input)
	case a.Input == InputJSONL && a.Format != FormatJSONL:
		return "input", `"jsonl" needs format = "jsonl": a turn ends with an event`
	case promptInScript(a.Command):
		return "command", "the shell would run the prompt as a part of its script; " +
			`pass it as an argument: ["sh", "-c", "program \"$1\"", "sh", "{prompt}"]`
	default:
		return "", ""
	}
}

// mentions tells whether a placeholder stands in the command.
func (a Agent) mentions(placeholder string) bool {
	return slices.ContainsFunc(a.Command, func(arg string) bool {
		return strings.Contains(arg, placeholder)
	})
}

// fill sets the defaults of the table.
func (d *definition) fill() {
	a := &d.agent
	if a.Kind != KindCommand {
		a.Input, a.Format = InputUnset, FormatUnset
		return
	}
	if a.Success == SuccessUnset {
		a.Success = SuccessExit
		if a.Format == FormatJSONL {
			a.Success = SuccessAnswer
		}
	}
	if !a.PTY || d.has("input") {
		return
	}
	// A person types the input of a terminal.
	a.Input = InputNone
	if a.mentions(PromptPlaceholder) || a.mentions(PromptFilePlaceholder) {
		a.Input = InputArg
	}
}

// promptInScript finds a prompt inside the script argument of a shell. Prompts
// are full of backquotes, which a shell would run.
func promptInScript(command []string) bool {
	for i, word := range command {
		switch path.Base(word) {
		case "sh", "bash", "dash", "zsh", "ksh", "ash", "fish":
			if strings.Contains(shellScript(command[i+1:]), PromptPlaceholder) {
				return true
			}
		}
	}
	return false
}

// shellScript returns the script among the arguments of a shell: the first
// operand, if there is a -c before it.
func shellScript(args []string) string {
	inline := false
	for i := 0; i < len(args); i++ {
		option := args[i]
		switch {
		case option == "--rcfile" || option == "--init-file":
			i++
		case strings.HasPrefix(option, "--") && option != "--":
		case len(option) > 1 && option != "--" && (option[0] == '-' || option[0] == '+'):
			inline = inline || strings.Contains(option, "c")
			if strings.HasSuffix(option, "o") {
				i++ // -o and -euo take a word: pipefail
			}
		default:
			if option == "--" && i+1 < len(args) {
				option = args[i+1]
			}
			if inline {
				return option
			}
			return ""
		}
	}
	return ""
}

// checkAgentName explains why a name is no name for an agent.
func checkAgentName(name string) error {
	if name == KindCommand.String() {
		return errors.New("is the name of a kind; choose another name for the agent")
	}
	if !agentName().MatchString(name) {
		return errors.New("a name holds letters, digits, - and _, and does not start with -")
	}
	return nil
}

// intoAgentName reads the name of an agent that some source may define.
func (f field) intoAgentName(to *string) error {
	name, err := f.str()
	if err != nil {
		return err
	}
	if err := checkAgentName(name); err != nil {
		return f.wrong("%s: %v", strconv.Quote(clip(name)), err)
	}
	*to = name
	return nil
}

// intoLane reads the name of a lane, which is shown to people as it is.
func (f field) intoLane(to *string) error {
	name, err := f.str()
	if err != nil {
		return err
	}
	if !laneName().MatchString(name) {
		return f.wrong("%s: a lane is up to 100 letters, digits and _ . : / @ + -, such as \"openai/gpt-5\"",
			strconv.Quote(clip(name)))
	}
	*to = name
	return nil
}

// intoEnv reads a table of variables.
func (f field) intoEnv(to *map[string]string) error {
	if f.node.kind != unstable.Table {
		return f.expected(`a table of strings, such as { NAME = "value" }`)
	}
	env := map[string]string{}
	for _, name := range f.node.names {
		child := f.child(name)
		if !variableName().MatchString(name) {
			return child.wrong("is not the name of a variable: letters, digits and _, not starting with a digit")
		}
		if strings.HasPrefix(name, "SWARM_") {
			return child.wrong("variables that start with SWARM_ are set by swarm alone")
		}
		value, err := child.str()
		if err != nil {
			return err
		}
		env[name] = value
	}
	*to = env
	return nil
}
