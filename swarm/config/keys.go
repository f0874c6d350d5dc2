package config

import (
	"math"
	"slices"
)

// key is the whole description of a key of the file. Reading, the output of
// `config show`, the JSON Schema and the page of the documentation are made
// from it, so that they cannot disagree.
type key[T any] struct {
	name      string
	takes     shape
	initial   any    // its default; nil: there is no fixed default
	otherwise string // its default in words, where initial says too little
	meaning   string // a sentence for the documentation
	read      func(*T, field) error
	value     func(*T) any // for [Config.Settings]; nil: it has no value
}

// agentKeys are the keys of an [agents.NAME] table.
func agentKeys() []key[definition] {
	return slices.Concat(programKeys(), choiceKeys(), protocolKeys(), spaceKeys())
}

// programKeys say which program an agent is.
func programKeys() []key[definition] {
	return []key[definition]{
		{
			"kind", wordShape(anyOf(kinds())...), nil,
			"`\"command\"`; the kind of that name",
			"the program: any command, or a known agent",
			func(d *definition, f field) error { return f.intoWord(&d.agent.Kind) },
			func(d *definition) any { return d.agent.Kind.String() },
		}, {
			"command", argvShape(), nil, "required for a command; else the program on your PATH",
			"the program and its arguments, started without a shell; a command may contain " +
				"`{prompt}` and `{prompt_file}`",
			func(d *definition, f field) error { return f.intoStrings(&d.agent.Command) },
			func(d *definition) any { return orUnset(d.agent.Command) },
		},
	}
}

// choiceKeys are the settings of an agent that is not a command.
func choiceKeys() []key[definition] {
	return []key[definition]{
		{
			"model", optionShape(), nil, "that of the program",
			"the model, by the program's name; not for a command",
			func(d *definition, f field) error { return f.intoOption(&d.agent.Model) },
			func(d *definition) any { return orUnsetWord(d.agent.Model) },
		}, {
			"effort", optionShape(), nil, "that of the program",
			"reasoning effort, in the program's words, such as `\"low\"`; not for a command",
			func(d *definition, f field) error { return f.intoOption(&d.agent.Effort) },
			func(d *definition) any { return orUnsetWord(d.agent.Effort) },
		}, {
			"tools", toolsShape(), nil, "those of the program",
			"allowed tools; not for a command",
			func(d *definition, f field) error { return f.intoTools(&d.agent.Tools) },
			func(d *definition) any { return orUnset(d.agent.Tools) },
		}, {
			"read_only", boolShape(), false, "",
			"only tools that read; not for a command",
			func(d *definition, f field) error { return f.intoBool(&d.agent.ReadOnly) },
			func(d *definition) any { return d.agent.ReadOnly },
		}, {
			"max_turns", wholeShape(0, math.MaxInt), 0, "none",
			"turns of an attempt; not for a command",
			func(d *definition, f field) error { return f.intoInt(&d.agent.MaxTurns, 0, math.MaxInt) },
			func(d *definition) any { return d.agent.MaxTurns },
		},
	}
}

// protocolKeys say how a command takes a prompt and answers.
func protocolKeys() []key[definition] {
	return []key[definition]{
		{
			"input", wordShape(InputStdin, InputArg, InputNone, InputJSONL), InputStdin.String(),
			"`\"stdin\"`; with `pty`: `\"arg\"` if the command contains the prompt, else `\"none\"`",
			"how it gets the prompt; only for a command",
			func(d *definition, f field) error { return f.intoWord(&d.agent.Input) },
			func(d *definition) any { return d.agent.Input.String() },
		}, {
			"format", wordShape(FormatText, FormatJSONL), FormatText.String(), "",
			"its standard output: the answer, or one event a line; only for a command",
			func(d *definition, f field) error { return f.intoWord(&d.agent.Format) },
			func(d *definition) any { return d.agent.Format.String() },
		}, {
			"success", wordShape(SuccessExit, SuccessAnswer), nil,
			"`\"exit\"` for text, `\"answer\"` for jsonl",
			"success: exit status 0 alone, or with an answer or a change; only for a command",
			func(d *definition, f field) error { return f.intoWord(&d.agent.Success) },
			func(d *definition) any { return d.agent.Success.String() },
		}, {
			"pty", boolShape(), false, "",
			"it runs in its own terminal; only for a command, with `input` `\"arg\"` or `\"none\"`, " +
				"`format` `\"text\"` and `success` `\"exit\"`",
			func(d *definition, f field) error { return f.intoBool(&d.agent.PTY) },
			func(d *definition) any { return d.agent.PTY },
		},
	}
}

// spaceKeys are the settings of an agent's surroundings and its time.
func spaceKeys() []key[definition] {
	return []key[definition]{
		{
			"env", envShape(), nil, "empty",
			"its variables; the value `$NAME` is taken from your environment, nothing else is expanded",
			func(d *definition, f field) error { return d.readEnv(f) },
			nil, // each variable is a setting of its own
		}, {
			"timeout", durationShape(), nil, "that of `[limits]`",
			"time of one attempt",
			func(d *definition, f field) error { return f.intoDuration(&d.agent.Timeout) },
			func(d *definition) any { return durationText(d.agent.Timeout) },
		}, {
			"idle_timeout", durationShape(), nil, "that of `[limits]`",
			"time without output",
			func(d *definition, f field) error { return f.intoDuration(&d.agent.IdleTimeout) },
			func(d *definition) any { return durationText(d.agent.IdleTimeout) },
		}, {
			"lane", laneShape(), "", "none",
			"the concurrency limit it shares, such as a provider and a model, with agents of the same lane in all your runs",
			func(d *definition, f field) error { return f.intoLane(&d.agent.Lane) },
			func(d *definition) any { return d.agent.Lane },
		}, {
			"write", foldersShape(), []string{}, "none",
			"shared folders that it may write to in addition to its workspace",
			func(d *definition, f field) error { return f.intoFolders(&d.agent.Write) },
			func(d *definition) any { return texts(d.agent.Write) },
		},
	}
}

// readEnv reads the variables and remembers where each of them stands.
func (d *definition) readEnv(f field) error {
	if err := f.intoEnv(&d.agent.Env); err != nil {
		return err
	}
	for _, name := range f.node.names {
		d.given["env."+name] = f.child(name).origin()
	}
	return nil
}
