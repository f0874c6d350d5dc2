package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// crowd is a small repository for runs of many agents, and the agents' output.
type crowd struct {
	tb          testing.TB
	dir, repo   string
	state, home string
	events      string // the file of events that each agent prints
	size        int64
	sum         uint32
	turns       int64 // in it
}

// eventBytes is the size of each agent's output.
const eventBytes = 10_000_000

func newCrowd(tb testing.TB) *crowd {
	tb.Helper()
	dir := tb.TempDir()
	c := &crowd{
		tb: tb, dir: dir, repo: filepath.Join(dir, "repo"), state: filepath.Join(dir, "state"),
		home: filepath.Join(dir, "home"), events: filepath.Join(dir, "events.jsonl"),
	}
	for _, d := range []string{"repo", "home/.config/swarm", "tmp"} {
		c.must(os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	c.write("home/.gitconfig", usersConfig)
	c.write("repo/one", "1\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "first"}} {
		if out, err := gitIn(c.repo, c.environ(), args...); err != nil {
			tb.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	return c
}

func (c *crowd) must(err error) {
	c.tb.Helper()
	if err != nil {
		c.tb.Fatal(err)
	}
}

func (c *crowd) write(name, text string) {
	c.tb.Helper()
	c.must(os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644))
}

func (c *crowd) environ() []string {
	return []string{
		"HOME=" + c.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "GIT_CONFIG_NOSYSTEM=1",
		"SWARM_SANDBOX=off", "SWARM_BACKEND=worktree",
		"SWARM_STATE_DIR=" + c.state, "TMPDIR=" + filepath.Join(c.dir, "tmp"),
		"GOCOVERDIR=" + os.Getenv("GOCOVERDIR"),
	}
}

func (c *crowd) command(args ...string) *exec.Cmd {
	c.tb.Helper()
	path, err := exec.LookPath("swarm")
	c.must(err)
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = c.repo, c.environ()
	return cmd
}

// record writes the agents' output: mostly inputs and results of tools, the
// most frequent output of agents.
func (c *crowd) record(output string) {
	c.tb.Helper()
	var text bytes.Buffer
	line := func(e map[string]any) {
		raw, err := json.Marshal(e)
		c.must(err)
		text.Write(append(raw, '\n'))
	}
	line(map[string]any{"type": "session", "protocol": 1, "id": "s", "model": "m"})
	for text.Len() < eventBytes {
		c.turns++
		line(map[string]any{"type": "turn", "n": c.turns})
		line(map[string]any{"type": "text", "text": "I look at that file, and then at what it says.\n"})
		line(map[string]any{"type": "tool_start", "id": "t", "name": "edit", "input": map[string]any{"path": "a/b.go", "old": output[:len(output)/2]}})
		line(map[string]any{"type": "tool_end", "id": "t", "ok": true, "output": output})
		line(map[string]any{"type": "usage", "input": 1000, "output": 10, "cost_usd": 0.0001})
	}
	line(map[string]any{"type": "result", "text": "done"})
	c.size, c.sum = int64(text.Len()), crc32.Checksum(text.Bytes(), crc32.MakeTable(crc32.Castagnoli))
	c.must(os.WriteFile(c.events, text.Bytes(), 0o644))
}

// code is text as a tool shows it of a file.
func code(lines int) string {
	return strings.Repeat("\tif err := f(1, \"x\"); err != nil {\n\t\treturn fmt.Errorf(\"do: %w\", err)\n", lines)
}

// tasks writes a list of n agents that print, and of some on a terminal, and
// returns its name. All of them wait for a line from the gate first.
func (c *crowd) tasks(printing, terminals int) (list string) {
	c.tb.Helper()
	gate := filepath.Join(c.dir, "gate")
	c.must(syscall.Mkfifo(gate, 0o600))
	c.write("home/.config/swarm/config.toml", fmt.Sprintf(`
[agents.prints]
command = ["sh", "-c", "read x <%[1]s; exec cat %[2]s"]
input = "none"
format = "jsonl"
[agents.shows]
command = ["sh", "-c", "read x <%[1]s; exec cat %[2]s"]
input = "none"
pty = true
`, gate, c.events))
	var text strings.Builder
	for i := range printing + terminals {
		kind := "prints"
		if i >= printing {
			kind = "shows"
		}
		fmt.Fprintf(&text, "{\"id\": \"t%d\", \"prompt\": \"do it\", \"agent\": %q}\n", i+1, kind)
	}
	c.write("tasks.jsonl", text.String())
	return filepath.Join(c.dir, "tasks.jsonl")
}

// open lets so many agents through the gate, now or when they come to it.
func (c *crowd) open(agents int) {
	c.tb.Helper()
	gate, err := os.OpenFile(filepath.Join(c.dir, "gate"), os.O_RDWR, 0)
	c.must(err)
	c.tb.Cleanup(func() { _ = gate.Close() })
	_, err = gate.WriteString(strings.Repeat("\n", agents))
	c.must(err)
}

// run is the only run there is; nil while there is none.
func (c *crowd) run() *store.Run {
	dirs, _ := filepath.Glob(filepath.Join(c.state, "repo-*"))
	if len(dirs) != 1 {
		return nil
	}
	runs, err := (&store.State{Dir: dirs[0]}).Runs()
	if c.must(err); len(runs) != 1 {
		return nil
	}
	return runs[0].Run
}

// await waits until something is so, and fails where it never is.
func (c *crowd) await(what string, so func() bool) {
	c.tb.Helper()
	for deadline := time.Now().Add(never); !so(); time.Sleep(20 * time.Millisecond) { // a poll
		if time.Now().After(deadline) {
			c.tb.Fatalf("waited for %s in vain", what)
		}
	}
}

// awaitView waits until the journal says something of the run.
func (c *crowd) awaitView(what string, so func(*store.View) bool) *store.View {
	c.tb.Helper()
	var v *store.View
	c.await(what, func() bool {
		run := c.run()
		if run == nil {
			return false
		}
		now, err := run.View()
		v = now
		return err == nil && so(v)
	})
	return v
}

// whole compares the recorded output of each agent with c.events, and its usage
// with the reported usage: swarm read every event.
func (c *crowd) whole(v *store.View, agents int) {
	c.tb.Helper()
	if len(v.Agents) < agents {
		c.tb.Fatalf("%d agents, want %d", len(v.Agents), agents)
	}
	for _, a := range v.Agents[:agents] {
		done, ok := a.Status.(*task.Completed)
		if !ok {
			c.tb.Fatalf("%s is %+v", a.ID, a.Status)
		}
		f, err := os.Open(filepath.Join(c.run().Attempt(a.ID, 1), "stdout"))
		c.must(err)
		sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
		n, err := io.Copy(sum, f)
		c.must(err)
		c.must(f.Close())
		if n != c.size || sum.Sum32() != c.sum {
			c.tb.Errorf("%s: %d bytes of %d are there, or are not what it wrote", a.ID, n, c.size)
		}
		if done.Answer != "done" || done.Usage.Input != 1000*c.turns {
			c.tb.Errorf("%s: answer %q, usage %+v of %d turns", a.ID, done.Answer, done.Usage, c.turns)
		}
	}
}

// cost is the use of resources by a process itself, without its children.
type cost struct {
	peak       int64         // bytes
	cpu        time.Duration // of its own
	children   time.Duration // of those it has waited for
	wall       time.Duration
	code       int
	out, wrong string
}

// meter follows a started process to its end, by the kernel's counters.
type meter struct {
	began time.Time
	cmd   *exec.Cmd
	cost  chan cost
}

func (c *crowd) measure(cmd *exec.Cmd) *meter {
	c.tb.Helper()
	m := &meter{began: time.Now(), cmd: cmd, cost: make(chan cost, 1)}
	var out, wrong strings.Builder
	if cmd.Stdout == nil {
		cmd.Stdout = &out
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &wrong
	}
	c.must(cmd.Start())
	var followed sync.WaitGroup
	followed.Go(func() {
		var all cost
		for !all.read(cmd.Process.Pid) {
			time.Sleep(5 * time.Millisecond) // a poll: the kernel tells nobody
		}
		all.wall = time.Since(m.began)
		_ = cmd.Wait() // the code says it
		all.code, all.out, all.wrong = cmd.ProcessState.ExitCode(), out.String(), wrong.String()
		m.cost <- all
	})
	c.tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		followed.Wait()
	})
	return m
}

// read takes the latest figures, and reports whether the process has ended.
func (k *cost) read(pid int) (ended bool) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	status, err := os.ReadFile(filepath.Join(proc, "status"))
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(status)) {
		var kb int64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kb); n == 1 {
			k.peak = max(k.peak, kb<<10)
		}
	}
	stat, err := os.ReadFile(filepath.Join(proc, "stat"))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	f := strings.Fields(rest)
	ticks := func(i int) time.Duration {
		n, _ := strconv.ParseInt(f[i], 10, 64)
		return time.Duration(n) * 10 * time.Millisecond // of Linux, to all programs
	}
	k.cpu, k.children = ticks(11)+ticks(12), ticks(13)+ticks(14)
	return f[0] == "Z"
}

// end waits for the process.
func (m *meter) end(tb testing.TB) cost {
	tb.Helper()
	select {
	case k := <-m.cost:
		tb.Logf("peak %d MB, %.2f cores of %s, %.2f of its children",
			k.peak>>20, k.cpu.Seconds()/k.wall.Seconds(), k.wall.Round(time.Millisecond), k.children.Seconds()/k.wall.Seconds())
		if k.peak == 0 {
			tb.Error("its memory was not seen")
		}
		return k
	case <-time.After(never):
		tb.Fatal("it does not end")
		panic("not reached")
	}
}

// stuck runs a face on a terminal without a reader. It returns once the face
// has shown something, and lets go of it at the end of the test.
func (c *crowd) stuck(args ...string) {
	c.tb.Helper()
	master, slave, err := pty.Open()
	c.must(err)
	cmd := c.command(args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	c.must(cmd.Start())
	_ = slave.Close()
	c.tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = master.Close()
		_ = cmd.Wait() // it was killed
	})
	first := make([]byte, 1)
	_, err = master.Read(first)
	c.must(err)
}
