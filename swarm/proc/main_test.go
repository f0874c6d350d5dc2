package proc

import (
	"bufio"
	"context"
	"encoding/json"
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
	"testing"
	"time"
)

// TestMain makes the test binary play all three processes. With os.Exit they
// would sleep for a second under the race detector.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "__supervise":
			syscall.Exit(supervise(enterTestSandbox, patient))
		case "become":
			syscall.Exit(BecomeCommand(os.Args[2:]))
		case "keep":
			syscall.Exit(Keep())
		case "keep-patiently":
			syscall.Exit(keep(patient))
		case "keeping":
			playKeeping(os.Args[2])
		case "engine":
			playEngine(os.Args[2:])
			syscall.Exit(0)
		case "terminals":
			playTerminals(os.Args[2:])
			syscall.Exit(0)
		case "visitor":
			playVisitor(os.Args[2], os.Args[3:])
			syscall.Exit(0)
		case "agent":
			syscall.Exit(playAgent(os.Args[2], os.Args[3:]))
		}
	}
	os.Exit(m.Run())
}

// testSandbox is the value of Spec.Sandbox in these tests.
type testSandbox struct {
	Proc     bool   // mount a new /proc
	Bare     bool   // drop the right to gain rights, on this thread only
	FileSize uint64 // lower the supervisor's limit of it, if not 0
	Fail     string // refuse with this text, if any
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
}

func mustInt(s string) int {
	n, err := strconv.Atoi(s)
	must(err)
	return n
}

// playEngine starts a process, says which, and waits to be killed.
func playEngine(args []string) {
	var spec Spec
	must(json.Unmarshal([]byte(args[1]), &spec))
	for _, mode := range allModes() {
		if mode.name != args[0] {
			continue
		}
		p, err := mode.launcher().Start(context.Background(), spec)
		must(err)
		pid, start := p.Started()
		fmt.Println(pid, start)
		p.Wait()
	}
}

// playAgent is the agent with all its bad habits.
func playAgent(role string, args []string) int {
	switch role {
	case "exit":
		return mustInt(args[0])
	case "die":
		must(syscall.Kill(os.Getpid(), syscall.Signal(mustInt(args[0]))))
		forever()
	case "polite":
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Println("ready")
		<-c
		fmt.Println("bye")
		return 7
	case "halted":
		return playHalted()
	case "deaf":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		fmt.Println("ready")
		announce(args[0])
		forever()
	case "kept":
		playKept(args[0])
	case "cat":
		_, err := io.Copy(os.Stdout, os.Stdin)
		must(err)
	case "environ":
		fmt.Print(strings.Join(os.Environ(), "\x00"))
	case "args":
		fmt.Print(strings.Join(args, "\x00"))
	case "supervised":
		fmt.Println(Supervised(args[0]), Supervised("another"))
	case "where":
		dir, err := os.Getwd()
		must(err)
		fmt.Print(dir)
	case "family":
		playFamily(args[0], exe(), "child", "session", "parent")
		announce(args[0])
		if args[1] == "leaves" {
			return 3
		}
		forever()
	case "bereaved":
		// Its orphan must be buried, not only dying, when it ends.
		for orphan := mustInt(playFamily("", exe(), "bereaved")); ; {
			if syscall.Kill(orphan, 0) != nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
	case "escape":
		playFamily(args[1], args[0], "root")
	case "member":
		playMember(args[0], args[1])
	case "chain":
		spawn(true, "agent", "chain")
		if len(args) > 0 {
			fmt.Println("ready")
			forever()
		}
	default:
		return playChatter(role, args)
	}
	return 0
}

// playHalted reports when a child of its group has stopped, and ends with the
// code of the signal that ended the child.
func playHalted() int {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM) // it outlives the child
	cmd := exec.Command(exe(), "agent", "die", strconv.Itoa(int(syscall.SIGSTOP)))
	must(cmd.Start())
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err == nil && status.Stopped():
			fmt.Println("halted")
		case err == nil && status.Signaled():
			return 128 + int(status.Signal())
		default:
			must(fmt.Errorf("the child ended with %v, %w", status, err))
		}
	}
}

// playChatter is the agent that prints.
func playChatter(role string, args []string) int {
	switch role {
	case "chatty": // bytes, bytes a line, stream, and whether it stays
		out := os.Stdout
		if args[2] == "stderr" {
			out = os.Stderr
		}
		line := strings.Repeat("x", mustInt(args[1])-1) + "\n"
		w := bufio.NewWriterSize(out, 1<<16)
		for left := mustInt(args[0]); left > 0; left -= len(line) {
			_, err := w.WriteString(line[:min(left, len(line))])
			must(err)
		}
		must(w.Flush())
		if len(args) > 3 {
			forever()
		}
	case "flood":
		line := []byte(strings.Repeat("y", 1<<16))
		for {
			_, err := os.Stdout.Write(line)
			must(err)
		}
	case "devstdout":
		fmt.Println("one")
		f, err := os.OpenFile("/dev/stdout", os.O_WRONLY|os.O_TRUNC, 0)
		must(err)
		fmt.Fprintln(f, "two")
		fmt.Println("three")
	case "descriptors":
		names, err := os.ReadDir("/proc/self/fd")
		must(err)
		for _, name := range names {
			to, err := os.Readlink(filepath.Join("/proc/self/fd", name.Name()))
			if err == nil {
				fmt.Println(name.Name(), to)
			}
		}
	case "status":
		b, err := os.ReadFile("/proc/self/status")
		must(err)
		fmt.Print(string(b))
	case "processes":
		names, err := filepath.Glob("/proc/[0-9]*")
		must(err)
		fmt.Println(os.Getpid(), os.Getuid(), os.Getgid(), len(names))
	default:
		return playTyped(role, args)
	}
	return 0
}

// announce tells the test that this process lives; the descriptor stays open
// until it dies.
func announce(fifo string) {
	fd, err := syscall.Open(fifo, syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	must(err)
	_, err = syscall.Write(fd, []byte("here\n"))
	must(err)
}

// familySize is the number of processes that playFamily leaves.
const familySize = 3

// playFamily starts members, such as a plain child, a child in its own session,
// or the parent of a daemon. It returns their reports when all of them live.
func playFamily(fifo, binary string, members ...string) string {
	signal.Ignore(syscall.SIGTERM)
	r, w, err := os.Pipe()
	must(err)
	for _, how := range members {
		cmd := exec.Command(binary, "agent", "member", fifo, how)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.ExtraFiles = []*os.File{w}
		cmd.Env = []string{}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: how != "child"}
		must(cmd.Start())
		if how == "parent" || how == "bereaved" {
			must(cmd.Wait())
		}
	}
	must(w.Close())
	words, err := io.ReadAll(r)
	must(err)
	return string(words)
}

func playMember(fifo, how string) {
	ready := os.NewFile(3, "ready")
	if args, ok := map[string][]string{
		"parent":   {"agent", "member", fifo, "daemon"},
		"bereaved": {"agent", "die", "9"},
	}[how]; ok {
		cmd := exec.Command(exe(), args...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.ExtraFiles = []*os.File{ready}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		must(cmd.Start())
		if how == "bereaved" {
			_, err := fmt.Fprint(ready, cmd.Process.Pid)
			must(err)
		}
		return
	}
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	if how == "root" {
		must(syscall.Setuid(0)) // Until then its first user may kill it.
	}
	announce(fifo)
	must(ready.Close())
	forever()
}

func forever() {
	for {
		time.Sleep(time.Hour) // A Go program that only waits is ended.
	}
}

func spawn(session bool, args ...string) {
	cmd := exec.Command(exe(), args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	must(cmd.Start())
}
