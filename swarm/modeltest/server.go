package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Server answers on an address of this machine until it is closed.
type Server struct {
	script Script
	rules  []rule
	http   *httptest.Server
	ledger ledger
	cache  cache

	open sync.Once
	held chan struct{} // closed by Release
	gone chan struct{} // closed by Close
	shut sync.Once
}

// New starts a server on a free port.
func New(script Script) (*Server, error) { return Listen("127.0.0.1:0", script) }

// Listen starts a server at an address.
func Listen(address string, script Script) (*Server, error) {
	rules, err := narrow(script)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("model server: %w", err)
	}
	s := &Server{
		script: script, rules: rules, held: make(chan struct{}), gone: make(chan struct{}),
		ledger: ledger{limit: script.Limit, forget: script.Forget},
	}
	s.http = &httptest.Server{Listener: listener, Config: &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}}
	s.http.Start()
	return s, nil
}

// TB is the part of a test that Start and Nobody need.
type TB interface {
	Helper()
	Cleanup(func())
	Fatal(...any)
}

// Start starts a server that ends with the test.
func Start(t TB, script Script) *Server {
	t.Helper()
	s, err := New(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// URL is where the server is, without a path: clients of Anthropic and Gemini
// want it so, those of OpenAI with /v1 behind it.
func (s *Server) URL() string { return s.http.URL }

// Close ends the server and every request in work: held requests are cut off.
func (s *Server) Close() {
	s.shut.Do(func() {
		close(s.gone)
		s.http.CloseClientConnections()
		s.http.Close()
	})
}

// Release lets held turns continue, from now on.
func (s *Server) Release() { s.open.Do(func() { close(s.held) }) }

// Stats returns counts of the requests.
func (s *Server) Stats() Stats {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	return s.ledger.stats
}

// Requests are those that came, in the order in which they were understood.
func (s *Server) Requests() []Request {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	return slices.Clone(s.ledger.kept)
}

// Await returns once this many requests have come, answered or not.
func (s *Server) Await(ctx context.Context, requests int) error {
	return s.ledger.await(ctx, func(st Stats, kept []Request) bool {
		if s.script.Forget {
			return st.Requests >= requests
		}
		return len(kept) >= requests
	})
}

// Idle returns once no request is in work.
func (s *Server) Idle(ctx context.Context) error {
	return s.ledger.await(ctx, func(st Stats, _ []Request) bool { return st.Working == 0 })
}

// mostBody bounds the bytes that are read of a request.
const mostBody = 64 << 20

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	name, d := dialectOf(r.URL.Path)
	switch {
	case d == nil || r.Method != http.MethodPost:
		s.serveAside(w, r, body)
	case !s.admits(r):
		refuse(w, d, newFault(&Error{Status: http.StatusUnauthorized}))
	default:
		s.serveModel(w, r, &asked{dialect: d, body: body, record: Request{
			Dialect: name, Path: pathOf(r.URL), Header: headerOf(r), Body: bodyOf(body), Rule: -1,
		}})
	}
}

// admits tells whether the request brings the key there is to bring.
func (s *Server) admits(r *http.Request) bool {
	return s.script.Key == "" || slices.ContainsFunc(credentials(r), func(c string) bool {
		return strings.TrimPrefix(c, "Bearer ") == s.script.Key
	})
}

// asked is a request on its way.
type asked struct {
	dialect dialect
	body    []byte
	record  Request
}

func (s *Server) serveModel(w http.ResponseWriter, r *http.Request, q *asked) {
	serial, ok := s.ledger.enter()
	q.record.Serial = serial
	if ok {
		defer s.ledger.leave()
	}
	c, err := q.dialect.read(r.URL, q.body)
	if err != nil {
		q.record.Status = http.StatusBadRequest
		s.ledger.keep(q.record)
		refuse(w, q.dialect, newFault(&Error{Status: http.StatusBadRequest, Message: err.Error()}))
		return
	}
	q.record.describe(c)
	if !ok {
		s.refuseBeyond(w, q)
		return
	}
	rule, turn, err := choose(s.rules, c, earlier{tries: s.ledger.again(c), serial: serial})
	if err != nil {
		turn.Error = &Error{Status: http.StatusBadRequest, Message: err.Error()}
	}
	a := newAnswer(c, turn, serial)
	cached := 0
	if s.script.Cache && turn.Error == nil && !c.uncached {
		cached = s.cache.lookUp(c.model, c.prompt)
	}
	a.count(c, turn, cached)
	q.record.Rule, q.record.Usage, q.record.Status = rule, a.usage, statusOf(turn)
	s.ledger.keep(q.record)
	if !s.wait(r.Context(), turn) {
		// A handler that returns without a word has answered an empty 200. Close
		// cuts connections as well, and may come later than that.
		panic(http.ErrAbortHandler)
	}
	if left := strconv.Itoa(s.script.Left); s.script.Left > 0 {
		w.Header().Set("X-Ratelimit-Remaining-Requests", left)
		w.Header().Set("X-Ratelimit-Reset-Requests", "1s")
		w.Header().Set("Anthropic-Ratelimit-Requests-Remaining", left)
		w.Header().Set("Anthropic-Ratelimit-Requests-Reset", time.Now().Add(time.Second).UTC().Format(time.RFC3339))
	}
	s.send(w, r, q.dialect, sending{c, a, turn})
}

func (s *Server) refuseBeyond(w http.ResponseWriter, q *asked) {
	after := s.script.RetryAfter
	if after == 0 {
		after = Duration(time.Second)
	}
	q.record.Status = http.StatusTooManyRequests
	s.ledger.keep(q.record)
	refuse(w, q.dialect, newFault(&Error{Status: http.StatusTooManyRequests, RetryAfter: after}))
}

func statusOf(t Turn) int {
	switch {
	case t.Error != nil && !t.Error.Midway:
		return t.Error.Status
	case t.Drop == DropStart:
		return 0
	default:
		return http.StatusOK
	}
}

// wait holds and delays an answer as its turn asks. It returns false if the
// server or the client is gone.
func (s *Server) wait(ctx context.Context, turn Turn) bool {
	if turn.Hold {
		select {
		case <-s.held:
		case <-s.gone:
			return false
		case <-ctx.Done():
			return false
		}
	}
	return pause(ctx, time.Duration(turn.Delay))
}

type sending struct {
	c    *conversation
	a    *answer
	turn Turn
}

func (s *Server) send(w http.ResponseWriter, r *http.Request, d dialect, to sending) {
	e := to.turn.Error
	switch {
	case e != nil && (!e.Midway || !to.c.stream):
		refuse(w, d, newFault(e))
		return
	case to.turn.Drop == DropStart:
		panic(http.ErrAbortHandler)
	case !to.c.stream:
		sendWhole(w, d.whole(to.a), to.turn.Drop == DropMiddle)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	out := &stream{ctx: r.Context(), w: w, gap: time.Duration(to.turn.Gap)}
	switch {
	case to.turn.Drop == DropMiddle:
		out.end = func() { panic(http.ErrAbortHandler) }
	case e != nil:
		out.end = func() { out.send(d.fault(newFault(e), out)) }
	}
	d.stream(out, to.c, to.a)
}

func sendWhole(w http.ResponseWriter, body any, cut bool) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // the value is made here
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	if cut {
		_, _ = w.Write(text[:len(text)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(text)
}

func refuse(w http.ResponseWriter, d dialect, f fault) {
	f.header(w.Header())
	_, body := d.fault(f, nil)
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // the value is made here
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.status)
	_, _ = w.Write(text)
}
