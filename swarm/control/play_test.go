package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"

	"agentswarm/swarm/store"
)

// The test binary plays other processes: CONTROL_CHILD says which.
func TestMain(m *testing.M) {
	var err error
	switch os.Getenv("CONTROL_CHILD") {
	case "":
		os.Exit(m.Run())
	case "speak":
		err = playSpeak(os.Args[1], os.Args[2])
	case "shed":
		if err = setTag(1); err == nil {
			err = playSpeak(os.Args[1], os.Args[2])
		}
	case "supervise":
		err = playSupervise(os.Args[1], os.Args[2], "speak")
	case "supervise another run":
		if err = setTag(anotherRun); err == nil {
			err = playSupervise(os.Args[1], os.Args[2], "shed")
		}
	case "serve":
		err = playServe(os.Args[1], os.Args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// playSpeak pings a socket and prints the reply.
func playSpeak(path, secret string) error {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(conn, `{"verb":"ping","secret":%q}`+"\n", secret) // a refusal comes first
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err
	}
	fmt.Print(line)
	return nil
}

// anotherRun is the tag of a supervisor.
const anotherRun = 1<<62 | 1<<32

// playSupervise waits for its number to be known, then has a child do something.
func playSupervise(path, secret, do string) error {
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	exe, err := self()
	if err != nil {
		return err
	}
	p, err := os.StartProcess(exe, []string{exe, path, secret}, &os.ProcAttr{
		Env:   []string{"CONTROL_CHILD=" + do},
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
	})
	if err != nil {
		return err
	}
	_, err = p.Wait()
	return err
}

// playServe owns a run and listens until it is killed.
func playServe(dir, runtime string) error {
	s := &store.State{Dir: dir}
	a, err := s.Resolve("")
	if err != nil {
		return err
	}
	o, err := a.Run.Own(context.Background())
	if err != nil {
		return err
	}
	if _, err := Listen(context.Background(), o, &target{}, in(runtime)); err != nil {
		return err
	}
	fmt.Println("listening")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// start runs the test binary as another process with its input and output.
func start(t *testing.T, attr *os.ProcAttr, args ...string) (p *os.Process, in *os.File, out *bufio.Reader) {
	t.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	exe, err := self()
	if err != nil {
		t.Fatal(err)
	}
	attr.Files = []*os.File{inR, outW, os.Stderr}
	p, err = os.StartProcess(exe, append([]string{exe}, args...), attr)
	if cerr := errors.Join(inR.Close(), outW.Close()); cerr != nil {
		t.Fatal(cerr)
	}
	t.Cleanup(func() {
		if p != nil {
			_ = p.Kill()
			_, _ = p.Wait()
		}
		_ = inW.Close()
		_ = outR.Close()
	})
	if err != nil {
		if attr.Sys != nil {
			t.Skipf("this machine does not allow it: %v", err)
		}
		t.Fatal(err)
	}
	return p, inW, bufio.NewReader(outR)
}
