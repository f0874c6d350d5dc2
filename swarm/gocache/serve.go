package gocache

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// maxRequest bounds a request without its body, in bytes. The go command needs
// some 300.
const maxRequest = 64 << 10

// maxBody bounds a body, in bytes.
const maxBody = 1 << 40

// maxGets bounds how many entries are looked up at once.
const maxGets = 8

// The commands of the protocol.
const (
	cmdGet   = "get"
	cmdPut   = "put"
	cmdClose = "close"
)

// request is a line of the go command. The body of a put follows.
type request struct {
	ID       int64
	Command  string
	ActionID []byte
	OutputID []byte
	BodySize int64
}

// response is an answer. The first response has no request and names the
// commands.
type response struct {
	ID            int64
	Err           string     `json:",omitempty"`
	KnownCommands []string   `json:",omitempty"`
	Miss          bool       `json:",omitempty"`
	OutputID      []byte     `json:",omitempty"`
	Size          int64      `json:",omitempty"`
	Time          *time.Time `json:",omitempty"`
	DiskPath      string     `json:",omitempty"`
}

// Serve answers requests until the go command says that it has no more, or until
// its end. An error says that they cannot be read or answered.
func (c *Cache) Serve(in io.Reader, out io.Writer) (err error) {
	s := &server{cache: c, in: bufio.NewReaderSize(in, maxRequest), out: out, gets: make(chan struct{}, maxGets)}
	defer func() { err = errors.Join(err, s.wait()) }()
	s.answer(response{KnownCommands: []string{cmdGet, cmdPut, cmdClose}})
	for {
		r, err := readRequest(s.in)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read a request of the go command: %w", err)
		case r.Command == cmdClose:
			s.going.Wait()
			s.answer(response{ID: r.ID})
			return nil
		}
		if err := s.serve(r); err != nil {
			return fmt.Errorf("read the body of a request of the go command: %w", err)
		}
	}
}

type server struct {
	cache *Cache
	in    *bufio.Reader
	out   io.Writer
	gets  chan struct{}
	going sync.WaitGroup

	mu     sync.Mutex // of out
	failed error      // to write to it
}

// serve answers a request. After an error the next request cannot be found.
func (s *server) serve(r request) error {
	switch r.Command {
	case cmdGet:
		s.gets <- struct{}{}
		s.going.Go(func() {
			s.answer(s.get(r))
			<-s.gets
		})
		return nil
	case cmdPut:
		body := newBody(s.in, r.BodySize)
		answer := s.put(r, body)
		if err := body.end(); err != nil {
			return err
		}
		s.answer(answer)
		return nil
	default:
		s.answer(response{ID: r.ID, Err: fmt.Sprintf("unknown command %q; want %s, %s or %s", r.Command, cmdGet, cmdPut, cmdClose)})
		return nil
	}
}

func (s *server) get(r request) response {
	action, err := idOf(r.ActionID)
	if err != nil {
		return response{ID: r.ID, Miss: true}
	}
	e, path, ok := s.cache.Get(action)
	if !ok {
		return response{ID: r.ID, Miss: true}
	}
	return response{ID: r.ID, OutputID: e.Output[:], Size: e.Size, Time: &e.Time, DiskPath: path}
}

func (s *server) put(r request, body io.Reader) response {
	action, err := idOf(r.ActionID)
	out, err2 := idOf(r.OutputID)
	if err = errors.Join(err, err2); err != nil {
		return response{ID: r.ID, Err: err.Error()}
	}
	path, err := s.cache.Put(action, out, r.BodySize, body)
	if err != nil {
		return response{ID: r.ID, Err: err.Error()}
	}
	return response{ID: r.ID, DiskPath: path}
}

// answer writes a line.
func (s *server) answer(r response) {
	text, err := json.Marshal(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && s.failed == nil {
		_, err = s.out.Write(append(text, '\n'))
	}
	if s.failed == nil && err != nil {
		s.failed = fmt.Errorf("answer the go command: %w", err)
	}
}

// wait waits for the answers to all requests, and says whether they were written.
func (s *server) wait() error {
	s.going.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// readRequest reads the next line that is not blank; io.EOF: there is none.
func readRequest(in *bufio.Reader) (r request, err error) {
	for {
		line, err := in.ReadSlice('\n')
		text := bytes.TrimSpace(line)
		switch {
		case errors.Is(err, io.EOF) && len(text) > 0:
			return r, io.ErrUnexpectedEOF
		case errors.Is(err, bufio.ErrBufferFull):
			return r, fmt.Errorf("it is longer than %d bytes", maxRequest)
		case err != nil:
			return r, err
		case len(text) == 0:
			continue
		}
		if err := json.Unmarshal(text, &r); err != nil {
			return r, err
		}
		if r.BodySize < 0 || r.BodySize > maxBody {
			return r, fmt.Errorf("its body has %d bytes; want 0 to %d", r.BodySize, int64(maxBody))
		}
		return r, nil
	}
}

// body is the text behind a put: a JSON string in Base64, on its own line. There
// is none where its size is 0.
type body struct {
	in   *bufio.Reader
	size int64
	text *io.LimitedReader // in Base64; nil: nothing has been read
	data io.Reader
	// ended tells that the quote behind the text was read.
	ended bool
}

func newBody(in *bufio.Reader, size int64) *body { return &body{in: in, size: size} }

func (b *body) Read(p []byte) (int, error) {
	if b.size == 0 {
		return 0, io.EOF
	}
	if err := b.begin(); err != nil {
		return 0, err
	}
	n, err := b.data.Read(p)
	if errors.Is(err, io.EOF) {
		// An output is stored only if its text ends where it must.
		if err = b.end(); err == nil {
			err = io.EOF
		}
	}
	return n, err
}

// begin finds the quote before the text.
func (b *body) begin() error {
	if b.text != nil {
		return nil
	}
	for {
		c, err := b.in.ReadByte()
		switch {
		case err != nil:
			return noEOF(err)
		case c == '\n':
		case c != '"':
			return fmt.Errorf("it begins with %q; want a quote", c)
		default:
			b.text = &io.LimitedReader{R: b.in, N: (b.size + 2) / 3 * 4}
			b.data = io.LimitReader(base64.NewDecoder(base64.StdEncoding, b.text), b.size)
			return nil
		}
	}
}

// end reads to the end of the text, however much of it was needed.
func (b *body) end() error {
	if b.size == 0 || b.ended {
		return nil
	}
	if err := b.begin(); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, b.text); err != nil {
		return err
	}
	c, err := b.in.ReadByte()
	if err != nil {
		return noEOF(err)
	}
	if c != '"' {
		return fmt.Errorf("it has more than %d bytes", b.size)
	}
	b.ended = true
	return nil
}

// noEOF is the error of a text that ends too early.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
