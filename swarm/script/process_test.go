package script

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"
)

// The test binary is a process for scripts too: with this word, and with the
// bounds that the environment gives.
const (
	processWord   = "__script"
	processBounds = "SCRIPT_TEST_BOUNDS"
)

func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != processWord {
		os.Exit(m.Run())
	}
	text, ok := os.LookupEnv(processBounds)
	if !ok {
		os.Exit(Serve(context.Background(), os.Stdin, os.Stdout))
	}
	var b Bounds
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		panic(err)
	}
	os.Exit(serve(context.Background(), serving{in: os.Stdin, out: os.Stdout, bounds: b}))
}

// process is a process that serves scripts.
type process struct {
	io.Reader
	io.Writer
	stdin  io.Closer
	cmd    *exec.Cmd
	exited chan struct{} // closed when code is known
	code   int
}

// Close lets go of the process, as its owner's end would.
func (p *process) Close() error { return p.stdin.Close() }

// exit is how the process ended.
func (p *process) exit() int {
	<-p.exited
	return p.code
}

// start starts a process, which is gone when the test ends.
func start(t *testing.T, bounds *Bounds) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, processWord)
	cmd.Env = append(os.Environ(), "TZ=America/New_York")
	if bounds != nil {
		text, err := json.Marshal(bounds)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(cmd.Env, processBounds+"="+string(text))
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close() // the process has its own
	p := &process{Reader: out, Writer: stdin, stdin: stdin, cmd: cmd, exited: make(chan struct{})}
	go func() {
		defer close(p.exited)
		_ = cmd.Wait() // the code tells
		p.code = cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() {
		_ = p.Close()
		<-p.exited
		_ = out.Close()
	})
	return p
}
