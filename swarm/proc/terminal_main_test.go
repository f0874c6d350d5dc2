package proc

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// playTyped is the agent on a terminal.
func playTyped(role string, args []string) int {
	switch role {
	case "isatty":
		for fd := range 3 {
			fmt.Println(fd, term.IsTerminal(fd))
		}
		tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
		must(err)
		group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
		must(err)
		// A PID namespace has numbers of its own, also in this answer.
		_, err = fmt.Fprintln(tty, "leads", group == os.Getpid() &&
			syscall.Getpgrp() == os.Getpid())
		must(err)
		fmt.Fprintln(os.Stderr, "end")
	case "sizes":
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGWINCH)
		for {
			cols, rows, err := term.GetSize(0)
			must(err)
			fmt.Printf("%d×%d\n", cols, rows)
			<-c
		}
	case "echo": // echoes the typed text in capitals, until q
		_, err := term.MakeRaw(0)
		must(err)
		fmt.Print("ready\n")
		for b := make([]byte, 4096); ; {
			n, err := os.Stdin.Read(b)
			must(err)
			fmt.Print(strings.ToUpper(string(b[:n])))
			if strings.ContainsRune(string(b[:n]), 'q') {
				return 0
			}
		}
	case "unread":
		_, err := term.MakeRaw(0)
		must(err)
		fmt.Print("ready\n")
		forever()
	case "waits": // for a line, then prints much and ends at once
		fmt.Print("ready\n")
		_, err := fmt.Scanln()
		must(err)
		_, err = io.WriteString(os.Stdout, strings.Repeat("z", mustInt(args[0])))
		must(err)
	case "party":
		playFamily(args[0], exe(), "child", "session", "parent")
		announce(args[0])
		_, err := io.WriteString(os.Stdout, strings.Repeat("p", mustInt(args[1])))
		must(err)
		return 3
	case "visits", "hands over", "usurps", "burns":
		playVisits(role, args)
	default:
		fmt.Fprintln(os.Stderr, "unknown role", role)
		return 98
	}
	return 0
}

// playTerminals is an engine that runs a process on a terminal, under the
// condition of its first argument, and prints the exit.
func playTerminals(args []string) {
	var spec Spec
	must(json.Unmarshal([]byte(args[1]), &spec))
	l := allModes()[0].launcher()
	switch args[0] {
	case "little space":
		limit := unix.Rlimit{Cur: 50_000, Max: unix.RLIM_INFINITY}
		must(unix.Setrlimit(unix.RLIMIT_FSIZE, &limit))
	case "descriptors":
		playDescriptors(l, spec)
		return
	}
	p, err := l.Start(context.Background(), spec)
	must(err)
	must(json.NewEncoder(os.Stdout).Encode(p.Wait()))
}

// playDescriptors prints the number of open descriptors after the first
// process, and after more, of which some do not start.
func playDescriptors(l *Launcher, spec Spec) {
	stdout, stderr := spec.Stdout, spec.Stderr
	once := func(i int, l *Launcher) (*Process, error) {
		spec.Stdout, spec.Stderr = fmt.Sprint(stdout, i), fmt.Sprint(stderr, i)
		p, err := l.Start(context.Background(), spec)
		if err == nil {
			w := p.Terminal().Watch()
			p.Wait()
			w.Close()
		}
		return p, err
	}
	count := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		must(err)
		return len(names)
	}
	_, err := once(0, l)
	must(err)
	fmt.Println(count())
	for i := range 10 {
		_, err := once(i+1, l)
		must(err)
		if _, err = once(i, l); err == nil {
			fmt.Println("it overwrites a file")
		}
		if _, err = once(100, &Launcher{Binary: "/no/such"}); err == nil {
			fmt.Println("it starts what is not there")
		}
	}
	fmt.Println(count())
}

// playedBy runs a spec in an engine of its own and returns the engine's output.
func playedBy(t *testing.T, engine string, spec Spec) string {
	t.Helper()
	line, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe(), "terminals", engine, string(line))
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}
