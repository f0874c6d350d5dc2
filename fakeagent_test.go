package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// gitIn runs git in a folder with exactly the given environment.
func gitIn(dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, env
	return cmd.CombinedOutput()
}

// fakeAgent is an agent made of the steps on its command line, in order. A step
// is a word, or a word and its values after colons:
//
//	write:FILE:TEXT append:FILE:TEXT rm:FILE mkdir:DIR touch:FILE
//	print:TEXT err:TEXT env:NAME cwd stdin hear:FILE chatty:BYTES line:BYTES
//	await:FILE hang deaf fork exit:CODE kill:SIGNAL git:ARGS…
//	ask:ID:ACTION result:TEXT run:COMMAND speak:REQUEST forge:HOW
//
// `hang` waits for a signal, and `deaf` ignores all it can. `fork` leaves a
// process in a session of its own behind. `await` waits for a file. `hear`
// writes a line of stdin, or its end, to a file. `ask` asks by the protocol for
// an action, which is JSON, and `result` answers by it. `run` runs a shell
// command and ignores its result; `speak` and `forge` attack. A step may name
// $WORK, $SIGNALS, $SWARM_AGENT and $SWARM_RUN. In a sandbox an agent sees only
// the workspace and $SIGNALS of $WORK.
func fakeAgent() {
	names := stepNames()
	for _, step := range os.Args[1:] {
		step = names.Replace(step)
		if err := fakeStep(step); err != nil {
			fmt.Fprintf(os.Stderr, "fakeagent: %s: %v\n", step, err)
			os.Exit(99)
		}
	}
}

// stepNames replaces the names in steps by their values.
func stepNames() *strings.Replacer {
	var pairs []string
	for _, name := range []string{"WORK", "SIGNALS", "SWARM_AGENT", "SWARM_RUN"} {
		pairs = append(pairs, "$"+name, os.Getenv(name))
	}
	return strings.NewReplacer(pairs...)
}

func fakeStep(step string) error {
	verb, rest, _ := strings.Cut(step, ":")
	first, second, _ := strings.Cut(rest, ":")
	switch verb {
	case "write":
		if err := os.MkdirAll(filepath.Dir(first), 0o755); err != nil {
			return err
		}
		return os.WriteFile(first, []byte(second), 0o644)
	case "append":
		f, err := os.OpenFile(first, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		if _, err := f.WriteString(second); err != nil {
			return err
		}
		return f.Close()
	case "rm":
		return os.RemoveAll(rest)
	case "mkdir":
		return os.MkdirAll(rest, 0o755)
	case "touch":
		return os.WriteFile(rest, nil, 0o644)
	case "print":
		_, err := fmt.Println(rest)
		return err
	case "err":
		_, err := fmt.Fprintln(os.Stderr, rest)
		return err
	case "env":
		_, err := fmt.Printf("%s=%s\n", rest, os.Getenv(rest))
		return err
	case "cwd":
		dir, err := os.Getwd()
		fmt.Println(dir)
		return err
	case "stdin":
		_, err := io.Copy(os.Stdout, os.Stdin)
		return err
	default:
		return fakeDeed(verb, rest)
	}
}

func fakeDeed(verb, rest string) error {
	switch verb {
	case "chatty", "line":
		n, err := strconv.Atoi(rest)
		if err != nil {
			return err
		}
		text := bytes.Repeat([]byte("chatter\n"), n/8+1)[:n]
		if verb == "line" {
			text = bytes.Repeat([]byte("x"), n)
		}
		_, err = os.Stdout.Write(text)
		return err
	case "hear":
		var heard []byte
		for b := make([]byte, 1); ; {
			_, err := os.Stdin.Read(b)
			if err != nil || b[0] == '\n' {
				return fakeStep(fmt.Sprintf("append:%s:heard %q %v\n", rest, heard, err))
			}
			heard = append(heard, b[0])
		}
	case "await":
		for {
			if _, err := os.Stat(rest); err == nil {
				return nil
			}
			time.Sleep(5 * time.Millisecond) // a poll for another process
		}
	case "hang":
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		<-signals
		os.Exit(143)
	case "deaf":
		// It takes the signals. A process without cgo that ignores them has no
		// goroutine that could run, and the runtime ends it as deadlocked.
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		for {
			<-signals
		}
	case "fork":
		cmd := exec.Command(os.Args[0], "deaf", "mark:"+rest)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return cmd.Start()
	case "exit":
		code, err := strconv.Atoi(rest)
		if err != nil {
			return err
		}
		os.Exit(code)
	case "kill":
		n, err := strconv.Atoi(rest)
		if err != nil {
			return err
		}
		return syscall.Kill(os.Getpid(), syscall.Signal(n))
	case "git":
		out, err := exec.Command("git", strings.Fields(rest)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	case "ask":
		id, action, _ := strings.Cut(rest, ":")
		_, err := fmt.Printf("{\"type\":\"ask\",\"id\":%q,\"action\":%s}\n", id, action)
		return err
	case "result":
		_, err := fmt.Printf("{\"type\":\"result\",\"text\":%q}\n", rest)
		return err
	case "run":
		cmd := exec.Command("sh", "-c", rest)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		var failed *exec.ExitError
		if err := cmd.Run(); err != nil && !errors.As(err, &failed) {
			return err
		}
		return nil
	case "ledger":
		dir, writes, _ := strings.Cut(rest, ":")
		return ledgerSteps(dir, writes)
	case "mark":
		return nil
	case "obey":
		return obey()
	}
	return hostileStep(verb, rest)
}

// obey takes the steps that its prompt has on lines which begin with "! ".
func obey() error {
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	names := stepNames()
	for line := range strings.Lines(string(prompt)) {
		step, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "! ")
		if !ok {
			continue
		}
		if err := fakeStep(names.Replace(step)); err != nil {
			return err
		}
	}
	return nil
}
