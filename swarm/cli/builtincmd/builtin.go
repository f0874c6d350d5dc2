package builtincmd

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/fspath"
	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/roles"
	"agentswarm/swarm/ask"
	"agentswarm/swarm/box"
	builtinagent "agentswarm/swarm/builtin"
	"agentswarm/swarm/builtin/model"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/early"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/prompt"
	"agentswarm/swarm/provider"
	"agentswarm/swarm/schema"
	"agentswarm/swarm/task"
)

// New returns the command builtin.
func New(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "builtin",
		Usage:     "run the built-in agent alone",
		ArgsUsage: "PROMPT",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "model", Usage: "`PROVIDER/MODEL[:EFFORT]` (default: $SWARM_BUILTIN_MODEL, else that of the role default)"},
			&cli.StringFlag{Name: "role", Usage: "use the model of the role `NAME`, such as smol"},
			&cli.StringFlag{Name: "effort", Usage: "reasoning effort: `WORD`, such as low, medium or high"},
			&cli.Int64Flag{Name: "max-thinking-tokens", Usage: "at most `N` reasoning tokens for each answer, if the API supports it"},
			&cli.StringFlag{Name: "endpoint", Usage: "endpoint `URL`, such as a local server"},
			&cli.StringFlag{Name: "api", Usage: "API of the endpoint: `API` is chat (default), responses or anthropic"},
			&cli.StringFlag{Name: "key-env", Usage: "the key is in the variable `NAME`"},
			&cli.StringFlag{Name: "provider-file", Usage: "use the providers in `FILE` (JSON) instead of the configured ones"},
			&cli.Int64Flag{Name: "context-window", Usage: "context window in `TOKENS` (default: the known one)"},
			&cli.BoolFlag{Name: "read-only", Usage: "only read, grep, find and ls"},
			&cli.StringFlag{Name: "tools", Usage: "only these tools: `A,B`"},
			&cli.StringFlag{Name: "system-file", Usage: "add the text of `FILE` to the system prompt"},
			&cli.StringFlag{Name: "opening-file", Hidden: true, Usage: "the parts of the prompt that a run knows, as JSON in `FILE`"},
			&cli.StringFlag{Name: "session", Usage: "keep the conversation in the folder `DIR`"},
			&cli.StringFlag{Name: "fork", Usage: "continue the conversation in `DIR`"},
			&cli.BoolFlag{Name: "cold", Usage: "with --fork: also without the provider's cache"},
			&cli.IntFlag{Name: "max-turns", Usage: "end after `N` turns without an answer"},
			&cli.StringFlag{Name: "schema-file", Usage: "the answer is JSON that matches the schema in `FILE`"},
			&cli.BoolFlag{Name: "jsonl", Usage: "speak the protocol of agents on standard input and output"},
		},
		Description: `Has a language model carry out a task in the current folder, with the tools read,
grep, find, ls, edit, write and bash. It prints its answer on standard output and its
actions on standard error. With - it reads the prompt from standard input.

Providers are anthropic, cerebras, deepseek, fireworks, groq, mistral, openai, openai-chat
(the same, by Chat Completions), openrouter, together and xai, with the key in NAME_API_KEY;
ollama and lmstudio on this machine, without a key; and those of [providers] in your own
configuration. NAME_BASE_URL is another address. Keys are read from the environment only,
and no tool sees them.

Its actions are judged as in any run. An action that is not SAFE and not granted asks
on the terminal, and is refused where there is none.

Examples:
  swarm builtin --model anthropic/claude-sonnet-4-5 "fix the failing test"
  swarm builtin --model openrouter/qwen/qwen3-coder "fix the failing test"
  swarm builtin --role smol "which package parses the flags?"
  swarm builtin --model ollama/qwen3:30b --read-only "what does main.go do?"
  swarm builtin --endpoint http://127.0.0.1:80/v1 --model mine "rename x to y"`,
		Action: func(c *cli.Context) error { return builtinAction(c, env) },
	}
}

func builtinAction(c *cli.Context, env cmdline.Env) error {
	o, err := newOptions(c, env)
	if err != nil {
		if c.Bool("jsonl") {
			printRefusal(env.Stdout, err)
		}
		return err
	}
	// The keys in its environment are not for the commands that the model runs.
	if err := proc.Conceal(); err != nil {
		return fmt.Errorf("shut /proc to commands: %w", err)
	}
	err = builtinagent.Run(c.Context, o)
	var invalid *builtinagent.InvalidError
	var failure *builtinagent.Failure
	switch {
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		if c.Bool("jsonl") {
			printRefusal(env.Stdout, err)
		}
		return exit.Usagef("builtin: %s", invalid.Text)
	case errors.As(err, &failure):
		return &taskError{failure}
	}
	return err
}

// printRefusal says by the protocol why nothing was begun.
func printRefusal(out io.Writer, err error) {
	kind := task.Invalid
	var key *model.KeyError
	if errors.As(err, &key) {
		kind = task.Auth
	}
	// A failure to print it changes nothing: the code is already an error's.
	_ = cmdline.PrintJSON(out, struct {
		Type    string         `json:"type"`
		Kind    task.ErrorKind `json:"kind"`
		Message string         `json:"message"`
	}{"error", kind, err.Error()})
}

// taskError is a task that was not carried out.
type taskError struct{ failure *builtinagent.Failure }

func (e *taskError) Error() string { return "builtin: " + e.failure.Text }

// Kind is that of the failure.
func (e *taskError) Kind() string { return string(e.failure.Kind) }

// ExitCode is [exit.Paused] for a failure that time or money ends, else
// [exit.Degraded].
func (e *taskError) ExitCode() int {
	switch e.failure.Kind {
	case task.RateLimit, task.Overloaded, task.Quota, task.CauseBudget:
		return int(exit.Paused)
	default:
		return int(exit.Degraded)
	}
}

// newOptions collects the options of the agent.
func newOptions(c *cli.Context, env cmdline.Env) (builtinagent.Options, error) {
	dir := cmdline.Invoked(c).Dir
	o := builtinagent.Options{
		Root: workspaceOf(dir, env.Getenv("SWARM_WORKTREE")), Dir: dir, Environ: withPath(env),
		Binary: env.Self, Args: []string{early.Supervise}, Run: env.Getenv("SWARM_RUN"),
		ReadOnly: c.Bool("read-only"), Session: pathFrom(dir, c.String("session")),
		Artifacts: env.Getenv("SWARM_ARTIFACTS"), Fork: pathFrom(dir, c.String("fork")), Cold: c.Bool("cold"),
		MaxTurns: c.Int("max-turns"), Window: c.Int64("context-window"), JSONL: c.Bool("jsonl"),
		Stdin: cmdline.Input(env), Stdout: env.Stdout, Stderr: tame(env, env.Stderr),
	}
	if o.MaxTurns < 0 || o.Window < 0 {
		return o, exit.Usagef("builtin: --max-turns and --context-window cannot be negative")
	}
	if !o.JSONL {
		o.Stdout = tame(env, env.Stdout)
	}
	if o.Cold && o.Fork == "" {
		return o, exit.Usagef("builtin: --cold is about --fork, which is not given")
	}
	if tools := c.String("tools"); tools != "" {
		o.Tools = strings.Split(tools, ",")
	}
	var err error
	if o.Sandbox, err = json.Marshal(box.Sandbox{Level: box.None}); err != nil {
		return o, err // those that stand around us stand around commands
	}
	alone, err := newStandalone(c, env)
	if err != nil {
		return o, err
	}
	if o.Environ, err = alone.environ(o.Environ); err != nil {
		return o, err
	}
	spec, err := alone.model(&o)
	if err != nil {
		return o, err
	}
	if o.Endpoint, err = findEndpoint(c, env, spec); err != nil {
		return o, err
	}
	if o.Variants, err = alone.variants(); err != nil {
		return o, err
	}
	o.Gate = &personGate{c: c, env: env}
	if socket := env.Getenv(ask.Variable); socket != "" {
		o.Gate = &builtinagent.Socket{Path: socket}
	}
	return o, errors.Join(readTexts(c, env, &o), readPrompt(c, env, &o))
}

// readTexts reads the texts that flags and variables give as files.
func readTexts(c *cli.Context, env cmdline.Env, o *builtinagent.Options) error {
	dir := cmdline.Invoked(c).Dir
	for _, f := range []struct {
		what, path string
		to         *string
	}{
		{"--system-file", c.String("system-file"), &o.Role},
		{"SWARM_CONTRACT", env.Getenv("SWARM_CONTRACT"), &o.Contract},
	} {
		if f.path == "" {
			continue
		}
		text, err := os.ReadFile(pathFrom(dir, f.path))
		if err != nil {
			return exit.Usagef("builtin: %s: %v", f.what, err)
		}
		*f.to = string(text)
	}
	if path := c.String("opening-file"); path != "" {
		text, err := os.ReadFile(pathFrom(dir, path))
		if err == nil {
			o.Opening = &prompt.Parts{}
			err = json.Unmarshal(text, o.Opening)
		}
		if err != nil {
			return exit.Usagef("builtin: --opening-file: %v", err)
		}
	}
	path := cmp.Or(c.String("schema-file"), env.Getenv("SWARM_SCHEMA"))
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(pathFrom(dir, path))
	if err == nil {
		_, err = schema.Compile(text)
	}
	if err != nil {
		return exit.Usagef("builtin: --schema-file %s: %v", path, err)
	}
	o.Schema = text
	return nil
}

// readPrompt takes the prompt: an argument, or standard input.
func readPrompt(c *cli.Context, env cmdline.Env, o *builtinagent.Options) error {
	if o.JSONL {
		_, err := cmdline.Arguments(c, 0, 0) // it comes as a line
		return err
	}
	args, err := cmdline.Arguments(c, 1, 1)
	if err != nil {
		return err
	}
	if o.Prompt = args[0]; o.Prompt == "-" {
		text, err := io.ReadAll(cmdline.Input(env))
		if err != nil {
			return fmt.Errorf("read the prompt: %w", err)
		}
		o.Prompt = string(text)
	}
	if strings.TrimSpace(o.Prompt) == "" {
		return exit.Usagef("builtin: the prompt is empty")
	}
	return nil
}

// findEndpoint finds where a model is.
func findEndpoint(c *cli.Context, env cmdline.Env, spec roles.Spec) (*model.Endpoint, error) {
	if spec == (roles.Spec{}) {
		return nil, &exit.UsageError{
			Text:   "builtin: no model is named: give --model PROVIDER/MODEL, or set SWARM_BUILTIN_MODEL",
			Advice: "swarm help builtin lists the providers",
		}
	}
	if effort := c.String("effort"); effort != "" {
		with, err := roles.ParseSpec("p/m:" + effort)
		if err != nil || with.Effort == "" {
			return nil, exit.Usagef("builtin: --effort %q: want one of %s", effort, strings.Join(roles.Efforts(), ", "))
		}
		spec.Effort = effort
	}
	search := model.Search{Spec: spec, Getenv: env.Getenv, Endpoint: c.String("endpoint"), KeyEnv: c.String("key-env")}
	if api := c.String("api"); api != "" {
		if err := search.API.UnmarshalText([]byte(api)); err != nil {
			return nil, exit.Usagef("builtin: --api: %v", err)
		}
	}
	var err error
	if search.More, err = moreProviders(c, env); err != nil {
		return nil, err
	}
	e, err := search.Find()
	if err != nil {
		return nil, &modelError{err}
	}
	if !c.IsSet("max-thinking-tokens") {
		return e, nil
	}
	if err := e.Think(c.Int64("max-thinking-tokens")); err != nil {
		return nil, exit.Usagef("builtin: --max-thinking-tokens: %v", err)
	}
	return e, nil
}

// moreProviders are the providers beside the known ones: those of the user's
// own configuration, or of the file that --provider-file names. It does not
// read the repository's providers.
func moreProviders(c *cli.Context, env cmdline.Env) (map[string]provider.Provider, error) {
	file := c.String("provider-file")
	if file == "" {
		conf, err := cmdline.UserConfig(env)
		if err != nil {
			return nil, err
		}
		return conf.Providers(), nil
	}
	var more map[string]provider.Provider
	text, err := os.ReadFile(pathFrom(cmdline.Invoked(c).Dir, file))
	if err == nil {
		err = json.Unmarshal(text, &more)
	}
	if err != nil {
		return nil, exit.Usagef("builtin: --provider-file %s: %v", file, err)
	}
	return more, nil
}

// modelError is a model that cannot be asked.
type modelError struct{ err error }

func (e *modelError) Error() string { return "builtin: " + e.err.Error() }

func (e *modelError) Unwrap() error { return e.err }

// ExitCode is always [exit.Usage].
func (*modelError) ExitCode() int { return int(exit.Usage) }

// workspaceOf is the top folder of the agent's workspace, else of the
// repository, else the folder itself.
func workspaceOf(dir, workspace string) string {
	if _, ok := fspath.Below(workspace, dir); ok {
		return filepath.Clean(workspace)
	}
	for at := dir; ; at = filepath.Dir(at) {
		if fspath.Exists(filepath.Join(at, ".git")) {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// pathFrom is a path as seen from a folder; empty stays empty.
func pathFrom(dir, path string) string {
	if path == "" {
		return ""
	}
	return fspath.From(dir, path)
}

// withPath is the environment with the PATH that this process was given:
// commands of an agent meet its guards, which swarm's own git does without.
func withPath(env cmdline.Env) []string {
	if env.Path == "" {
		return env.Environ
	}
	var all []string
	for _, pair := range env.Environ {
		if !strings.HasPrefix(pair, "PATH=") {
			all = append(all, pair)
		}
	}
	return append(all, "PATH="+env.Path)
}

// tame keeps a model from drawing on a terminal; a file gets all of it.
func tame(env cmdline.Env, w io.Writer) io.Writer {
	to := w
	if out, ok := w.(*cmdline.Sink); ok {
		to = out.Writer
	}
	if !terminal.Detect(to, env.Getenv).TTY {
		return w
	}
	return &tamed{w}
}

type tamed struct{ w io.Writer }

func (t *tamed) Write(p []byte) (int, error) {
	if _, err := io.WriteString(t.w, termtext.Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
