package model

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agentswarm/roles"
	"agentswarm/swarm/modeltest"
	"agentswarm/swarm/task"
)

// asked sends a request to a server by an API, and returns its error.
func asked(t *testing.T, api API, url string) *Error {
	t.Helper()
	m := New(&Endpoint{Spec: roles.Spec{Provider: "p", Model: "m"}, API: api, URL: url, Key: "secret"})
	_, err := m.Ask(t.Context(), &Request{Messages: []Message{NewMessage(User, "hi")}}, func(string) {})
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%s: %v, want an *Error", api, err)
	}
	return e
}

// TestRedirect checks that neither the key nor the words go to the target of a
// redirect, and that the request is not tried again.
func TestRedirect(t *testing.T) {
	t.Parallel()
	for _, api := range []API{Chat, Responses, Anthropic} {
		var reached atomic.Int32
		other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
		t.Cleanup(other.Close)
		for _, status := range []int{301, 302, 303, 307, 308} {
			here := httptest.NewServer(http.RedirectHandler(other.URL+"/v1", status))
			t.Cleanup(here.Close)
			e := asked(t, api, here.URL)
			if e.Kind != task.Invalid || e.Wait || !strings.Contains(e.Text, other.URL) {
				t.Errorf("%s, %d: %+v, want an invalid request that names %s", api, status, e, other.URL)
			}
		}
		if n := reached.Load(); n != 0 {
			t.Errorf("%s: another host was asked %d times", api, n)
		}
	}
}

// TestDown tells a server that is not there, on this machine, from a connection
// that was lost.
func TestDown(t *testing.T) {
	t.Parallel()
	here := modeltest.Nobody(t)
	want := Error{Kind: task.Overloaded, Wait: true, Down: true, Text: "no server answers at " + here + ": is the server started?"}
	for _, api := range []API{Chat, Responses, Anthropic} {
		if e := asked(t, api, here+"/v1"); *e != want {
			t.Errorf("%s: %+v, want %+v", api, *e, want)
		}
	}
	elsewhere := &url.Error{Op: "Post", URL: "https://models.test/v1", Err: unix.ECONNREFUSED}
	if e := down(elsewhere); e != nil {
		t.Errorf("of another machine: %+v", *e)
	}
}

// TestNoStream distinguishes an answer that no model sent from a lost
// connection.
func TestNoStream(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind, body string
		want       task.ErrorKind
		waits      bool
	}{
		{"text/html; charset=utf-8", "<html>log in</html>", task.Invalid, false},
		{"application/json", `{"choices":[]}`, task.Invalid, false},
		{"application/json", `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`, task.RateLimit, true},
		{"application/json", `{"error":{"message":"no","type":"authentication_error"}}`, task.Auth, false},
		{"text/event-stream", "", task.Overloaded, true},
		{"", "data: {", task.Overloaded, true},
	} {
		for _, api := range []API{Chat, Responses, Anthropic} {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = []string{test.kind}
				_, _ = w.Write([]byte(test.body))
			}))
			t.Cleanup(s.Close)
			if e := asked(t, api, s.URL); e.Kind != test.want || e.Wait != test.waits {
				t.Errorf("%s of %q %s: %+v, want %s", api, test.kind, test.body, e, test.want)
			}
		}
	}
}

// TestEndless gives a reply up that would fill the memory.
func TestEndless(t *testing.T) {
	t.Parallel()
	timer := time.AfterFunc(silence, func() {})
	defer timer.Stop()
	b := &replyBody{Reader: strings.NewReader("123456789"), timer: timer, left: 5}
	buf := make([]byte, 5)
	if n, err := b.Read(buf); n != 5 || err != nil {
		t.Fatalf("Read = %d, %v", n, err)
	}
	var e *Error
	if _, err := b.Read(buf); !errors.As(err, &e) || e.Wait {
		t.Errorf("beyond what it may take: %v", err)
	}
}
