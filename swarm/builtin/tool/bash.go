package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentswarm/swarm/ask"
	"agentswarm/swarm/proc"
)

func bashTool() *Tool {
	return &Tool{
		Name: "bash", use: bash,
		Description: "Run a command with bash in the working directory, with no input. " +
			"What it leaves running is ended with it. It has 120 seconds unless timeout says more.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"command":{"type":"string"},` +
			`"timeout":{"type":"integer","description":"seconds, at most 600"}},"required":["command"]}`),
	}
}

const (
	commandTime    = 2 * time.Minute
	maxCommandTime = 10 * time.Minute
	// maxCommandOutput is how much of a command's output is kept.
	maxCommandOutput = 64 << 20
)

type bashInput struct {
	Command string
	Timeout int // seconds
}

func bash(ctx context.Context, b *Bench, input json.RawMessage) (string, error) {
	var in bashInput
	if err := decode(input, &in); err != nil {
		return "", err
	}
	if err := required("command", strings.TrimSpace(in.Command)); err != nil {
		return "", err
	}
	if strings.ContainsRune(in.Command, 0) {
		return "", fmt.Errorf("command: holds a zero byte")
	}
	limit := commandTime
	if in.Timeout > 0 {
		limit = min(time.Duration(in.Timeout)*time.Second, maxCommandTime)
	}
	if err := b.pass(ctx, ask.Action{Command: in.Command, Cwd: b.Dir}); err != nil {
		return "", err
	}
	file, err := b.path("bash")
	if err != nil {
		return "", err
	}
	exit, late, err := b.run(ctx, job{command: in.Command, file: file, limit: limit})
	if err != nil {
		return "", err
	}
	text, whole, err := boundFile(file)
	if err == nil && whole {
		err = os.Remove(file) // it was shown
	}
	if err != nil && exit.Reason != proc.StartFailed {
		return "", err
	}
	return verdict(text, exit, late)
}

// job is a command to run.
type job struct {
	command, file string
	limit         time.Duration
}

// run runs a command below a supervisor of its own, which ends with it all
// that it has started, and with this process all of that.
func (b *Bench) run(ctx context.Context, j job) (exit proc.Exit, late time.Duration, err error) {
	launcher := &proc.Launcher{Binary: b.Binary, Args: b.Args}
	p, err := launcher.Start(ctx, proc.Spec{
		Run: b.Run, Argv: []string{b.shell(), "-c", j.command}, Env: b.Env, Dir: b.Dir,
		Stdout: j.file, Stderr: j.file + ".stderr", Merge: true, OutputLimit: maxCommandOutput, Sandbox: b.Sandbox,
	})
	if err != nil {
		return exit, 0, fmt.Errorf("run the command: %w", err)
	}
	gone := context.AfterFunc(ctx, p.Kill)
	timer := time.AfterFunc(j.limit, p.Stop)
	exit = p.Wait()
	gone()
	if !timer.Stop() {
		late = j.limit
	}
	_ = os.Remove(j.file + ".stderr") // always empty
	if ctx.Err() != nil {
		return exit, late, context.Cause(ctx)
	}
	return exit, late, nil
}

// shell is bash if it is installed.
func (b *Bench) shell() string {
	for _, pair := range b.Env {
		list, ok := strings.CutPrefix(pair, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			if info, err := os.Stat(filepath.Join(dir, "bash")); err == nil && info.Mode()&0o111 != 0 {
				return "bash"
			}
		}
	}
	return "sh"
}

// verdict adds to a command's output how the command ended.
func verdict(text string, exit proc.Exit, late time.Duration) (string, error) {
	text = strings.TrimSuffix(text, "\n")
	note := ""
	if exit.Left > 0 {
		note = fmt.Sprintf("\n[%d processes that it left running were ended]", exit.Left)
	}
	switch {
	case exit.Reason == proc.StartFailed, exit.Reason == proc.Lost:
		return text, fmt.Errorf("the command could not be run: %s", exit.Text)
	case late > 0:
		return text, fmt.Errorf("[it was ended after %v]", late)
	case exit.Reason == proc.OutputLimit:
		return text, fmt.Errorf("[it was ended: %s]", exit.Text)
	case exit.Code != 0:
		return text + note, fmt.Errorf("[exit code %d]", exit.Code)
	case text == "":
		return "[no output]" + note, nil
	}
	return text + note, nil
}
