package asksocket

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/ask"
)

func listen(t *testing.T, decide func(context.Context, ask.Request) ask.Answer) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ask") // short: a socket's path is bounded
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	s, err := Listen(t.Context(), path, decide)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(path); err == nil {
			t.Error("the socket is still there")
		}
	})
	return s.Address()
}

func TestAsk(t *testing.T) {
	t.Parallel()
	address := listen(t, func(_ context.Context, r ask.Request) ask.Answer {
		return ask.Answer{Allow: r.Actions[0].Command == "ls", Reason: r.Actions[0].Command, Instead: "ls"}
	})
	for command, allow := range map[string]bool{"ls": true, "rm -r x": false, strings.Repeat("x", 1<<20): false} {
		a, err := ask.Ask(t.Context(), address, ask.Request{Actions: []ask.Action{{Command: command}}})
		if err != nil || a.Allow != allow || a.Instead != "ls" || !strings.HasPrefix(command, a.Reason) {
			t.Errorf("Ask(%.20q) = %.40v, %v", command, a, err)
		}
	}
	if a, err := ask.Ask(t.Context(), address, ask.Request{}); err != nil || a.Allow {
		t.Errorf("Ask of nothing = %v, %v; want a refusal", a, err)
	}
	if _, err := ask.Ask(t.Context(), address, ask.Request{Actions: []ask.Action{{Command: strings.Repeat("x", ask.MaxRequest)}}}); err == nil {
		t.Error("more than is asked about was asked")
	}
}

// TestAnotherAgentAsks: who can connect and has not the secret does not ask.
func TestAnotherAgentAsks(t *testing.T) {
	t.Parallel()
	address := listen(t, func(context.Context, ask.Request) ask.Answer {
		t.Error("it was asked")
		return ask.Answer{Allow: true}
	})
	path := ask.Path(address)
	for _, other := range []string{path, ask.Address(path, ""), ask.Address(path, "x"), address + "x", address[:len(address)-1]} {
		a, err := ask.Ask(t.Context(), other, ask.Request{Actions: []ask.Action{{Command: "ls"}}})
		if err != nil || a.Allow || !strings.Contains(a.Reason, "another agent's") {
			t.Errorf("Ask at %s = %v, %v, want a refusal", other, a, err)
		}
	}
}

// TestAskerGoes ends the wait for an answer if its asker is gone.
func TestAskerGoes(t *testing.T) {
	t.Parallel()
	asked, ended := make(chan struct{}), make(chan struct{})
	address := listen(t, func(ctx context.Context, _ ask.Request) ask.Answer {
		close(asked)
		<-ctx.Done()
		close(ended)
		return ask.Answer{}
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if a, err := ask.Ask(ctx, address, ask.Request{Actions: []ask.Action{{Command: "x"}}}); err == nil {
		t.Errorf("Ask = %v after its end", a)
	}
	<-ended
}

// TestNonsenseIsRefused refuses each text that is no request.
func TestNonsenseIsRefused(t *testing.T) {
	t.Parallel()
	address := listen(t, func(context.Context, ask.Request) ask.Answer { return ask.Answer{Allow: true} })
	for _, text := range []string{
		"\n", "{}\n", "x\n", "[]\n", `{"actions":[]}` + "\n",
		`{"actions":[{"command":"x","command":"y"}]}` + "\n", `{"actions":[{"command":"x"}],"Actions":[{"command":"y"}]}` + "\n",
	} {
		conn, err := net.Dial("unix", ask.Path(address))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte(text))
		answer := make([]byte, 1000)
		n, _ := conn.Read(answer)
		if !strings.HasPrefix(string(answer[:n]), `{"allow":false`) {
			t.Errorf("%q is answered by %q", text, answer[:n])
		}
		_ = conn.Close()
	}
}

// TestCloseAnswers checks that Close answers the open requests.
func TestCloseAnswers(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "ask")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	asked := make(chan struct{})
	s, err := Listen(t.Context(), filepath.Join(dir, "s"), func(ctx context.Context, _ ask.Request) ask.Answer {
		close(asked)
		<-ctx.Done()
		return ask.Answer{Reason: "the run ended"}
	})
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error)
	go func() { <-asked; closed <- s.Close() }()
	a, err := ask.Ask(t.Context(), s.Address(), ask.Request{Actions: []ask.Action{{Command: "x"}}})
	if err != nil || a.Allow || a.Reason != "the run ended" {
		t.Errorf("Ask = %v, %v", a, err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// TestManyWaitTheirTurn: requests beyond the limit are answered in turn, and
// refused if no turn comes.
func TestManyWaitTheirTurn(t *testing.T) {
	t.Parallel()
	held := make(chan struct{})
	address := listen(t, func(ctx context.Context, r ask.Request) ask.Answer {
		if r.Actions[0].Command == "hold" {
			select {
			case <-held:
			case <-ctx.Done():
			}
		}
		return ask.Answer{Allow: true}
	})
	several := func(command string, n int) <-chan string {
		out := make(chan string, n)
		for range n {
			go func() {
				a, err := ask.Ask(t.Context(), address, ask.Request{Actions: []ask.Action{{Command: command}}})
				switch {
				case err != nil:
					out <- err.Error()
				case a.Allow:
					out <- "yes"
				default:
					out <- a.Reason
				}
			}()
		}
		return out
	}
	quick := several("ls", 4*crowd)
	for range 4 * crowd {
		if got := <-quick; got != "yes" {
			t.Fatalf("one of many: %s", got)
		}
	}
	holding := several("hold", crowd+1)
	if got := <-holding; got != "too many actions at once; ask again" {
		t.Errorf("one too many: %s", got)
	}
	close(held)
	for range crowd {
		if got := <-holding; got != "yes" {
			t.Errorf("one that had its turn: %s", got)
		}
	}
}

// TestRefusedUnheard: a peer that is refused before it has sent its request
// gets the reason.
func TestRefusedUnheard(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "ask")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		_ = reply(conn.(*net.UnixConn), ask.Answer{Reason: "too many"})
		_ = conn.Close()
	}()
	// No socket takes so much before somebody reads.
	much := ask.Request{Actions: []ask.Action{{Command: strings.Repeat("x", 3<<20)}}}
	if a, err := ask.Ask(t.Context(), filepath.Join(dir, "s"), much); err != nil || a.Allow || a.Reason != "too many" {
		t.Errorf("Ask = %v, %v, want the refusal", a, err)
	}
}

// TestFreeSlotCounts: a slot that is free is taken, though the turn and all else is
// over as well. Which of them counts is not drawn.
func TestFreeSlotCounts(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	end()
	for range 50 {
		slots := make(chan struct{}, 1)
		if !wait(ctx, slots, time.Now().Add(-2*turn)) {
			t.Fatal("a slot was free, and was not taken")
		}
		if wait(ctx, slots, time.Now().Add(-2*turn)) {
			t.Fatal("a slot was taken twice")
		}
	}
}

// TestNothingIsAskedAfterTheEnd of the context, however quick the answer is.
func TestNothingIsAskedAfterTheEnd(t *testing.T) {
	t.Parallel()
	address := listen(t, func(context.Context, ask.Request) ask.Answer {
		t.Error("it was asked")
		return ask.Answer{Allow: true}
	})
	why := errors.New("enough")
	ctx, end := context.WithCancelCause(t.Context())
	end(why)
	for range 50 {
		if a, err := ask.Ask(ctx, address, ask.Request{Actions: []ask.Action{{Command: "ls"}}}); !errors.Is(err, why) {
			t.Fatalf("Ask = %v, %v, want the cause", a, err)
		}
	}
}
