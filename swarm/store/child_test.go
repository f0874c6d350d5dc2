package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"agentswarm/swarm/event"
)

// The test binary plays other processes: the word in STORE_CHILD says which,
// with the state folder and the run as arguments.
func TestMain(m *testing.M) {
	plays := map[string]func(*Run) error{
		"append": playAppend, "hold": playHold, "umask": playUmask, "full": playFull,
	}
	play, ok := plays[os.Getenv("STORE_CHILD")]
	if !ok {
		os.Exit(m.Run())
	}
	s := &State{Dir: os.Args[1]}
	r := &Run{ID: os.Args[2], Dir: s.runs() + "/" + os.Args[2], state: s}
	if err := play(r); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child is a process that plays a part.
type child struct {
	*os.Process
	out *bufio.Reader
	in  *os.File // closing it asks the child to end
}

func play(t *testing.T, part string, r *Run) *child {
	t.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.StartProcess(exe, []string{exe, r.state.Dir, r.ID}, &os.ProcAttr{
		Env:   append(os.Environ(), "STORE_CHILD="+part),
		Files: []*os.File{inR, outW, os.Stderr},
	})
	if err := errors.Join(err, inR.Close(), outW.Close()); err != nil {
		t.Fatal(err)
	}
	c := &child{Process: p, out: bufio.NewReader(outR), in: inW}
	t.Cleanup(func() {
		_ = c.Kill()
		_, _ = c.Wait()
		_ = inW.Close()
		_ = outR.Close()
	})
	return c
}

// line reads a line of the child's output; empty at its end.
func (c *child) line() string {
	text, _ := c.out.ReadString('\n')
	return strings.TrimSuffix(text, "\n")
}

// end waits for a child that must end well, and returns the rest it said.
func (c *child) end(t *testing.T) string {
	t.Helper()
	_ = c.in.Close()
	rest, err := io.ReadAll(c.out)
	if err != nil {
		t.Fatal(err)
	}
	state, err := c.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if !state.Success() {
		t.Fatalf("the child ended with %s", state)
	}
	return string(rest)
}

// sample is the n-th record's text: its length is anything up to some pages.
func sample(n int64) string {
	return strings.Repeat(strconv.FormatInt(n, 36)+"~", int(n*7919%4001))
}

// playAppend appends until it is killed or asked to end, and says the number
// of each record after it was acknowledged.
func playAppend(r *Run) error {
	for try := 0; ; try++ {
		o, err := r.Own(context.Background())
		if _, busy := errors.AsType[*BusyError](err); busy && try < 20 {
			continue // of the previous process, which is not reaped yet
		}
		if err != nil {
			return err
		}
		asked := make(chan struct{})
		go func() { // ends with the process
			_, _ = io.Copy(io.Discard, os.Stdin)
			close(asked)
		}()
		for {
			rec, err := o.Append(&event.Text{Text: sample(o.last + 1)})
			if err != nil {
				return err
			}
			fmt.Println(rec.N)
			select {
			case <-asked:
				return o.Close()
			default:
			}
		}
	}
}

// playHold owns the run until it is asked to end.
func playHold(r *Run) error {
	o, err := r.Own(context.Background())
	if err != nil {
		return err
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return o.Close()
}

// playUmask makes a run with every kind of file while nothing is masked.
func playUmask(r *Run) error {
	syscall.Umask(0)
	s := r.state
	made, o, err := s.Create(Identity{})
	if err != nil {
		return err
	}
	if _, err := o.Append(&event.Opened{Pid: 1}); err != nil {
		return err
	}
	if err := o.Close(); err != nil {
		return err
	}
	f, err := os.OpenFile(made.Journal(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteString("torn"); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if o, err = made.Own(context.Background()); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	build, err := Build(exe)
	if err != nil {
		return err
	}
	if _, err := s.Binary(build, exe); err != nil {
		return err
	}
	return o.Close()
}

// playFull appends until the file may not grow, then says how far it came.
func playFull(r *Run) error {
	o, err := r.Own(context.Background())
	if err != nil {
		return err
	}
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	limit := unix.Rlimit{Cur: 50_000, Max: old.Max}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	for err == nil {
		_, err = o.Append(&event.Text{Text: sample(o.last + 1)})
	}
	if _, full := errors.AsType[*FullError](err); !full {
		return fmt.Errorf("a full disk was told as %T: %w", err, err)
	}
	info, err := os.Stat(r.Journal())
	if err != nil {
		return err
	}
	if info.Size() != o.size {
		return fmt.Errorf("%d bytes are left of %d good ones", info.Size(), o.size)
	}
	fmt.Println(o.last)
	// With room again the same owner continues.
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	if _, err := o.Append(&event.Text{Text: sample(o.last + 1)}); err != nil {
		return err
	}
	return o.Close()
}
