package builtin

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/swarm/builtin/model"
)

// sessionVersion is the version of the files. A file of another version is not
// read.
const sessionVersion = 1

// header is the first line of a session: all that comes before its messages.
type header struct {
	Type     string          `json:"type"`
	Version  int             `json:"version"`
	ID       string          `json:"id"`
	Parent   string          `json:"parent,omitempty"`
	Provider string          `json:"provider,omitempty"`
	Model    string          `json:"model"`
	API      model.API       `json:"api"`
	Shared   string          `json:"shared"`
	Own      string          `json:"own,omitempty"`
	Contract string          `json:"contract,omitempty"`
	Part     string          `json:"part,omitempty"` // its own part of the prompt
	Tools    []model.Tool    `json:"tools"`
	Schema   json.RawMessage `json:"schema,omitempty"`
}

// record is any later line: a message, or all messages that stand in the place
// of those before.
type record struct {
	Type     string          `json:"type"` // message or compacted
	Message  *model.Message  `json:"message,omitempty"`
	Messages []model.Message `json:"messages,omitempty"`
}

// idOf is the id of the conversation in a folder: the folder's name, by which
// its caller finds it again.
func idOf(session string) string {
	if session != "" {
		return filepath.Base(session)
	}
	return strings.ToLower(rand.Text()[:12])
}

// session is a conversation that is being written down.
type session struct{ f *os.File }

const (
	sessionName = "session"
	sessionExt  = ".jsonl"
	maxSessions = 1000 // in a folder
)

// sessionFile is the name of the n-th session in a folder: a process that
// follows another there overwrites nothing.
func sessionFile(dir string, n int) string {
	if n == 1 {
		return filepath.Join(dir, sessionName+sessionExt)
	}
	return filepath.Join(dir, fmt.Sprintf("%s-%d%s", sessionName, n, sessionExt))
}

// createSession creates a session that only its owner can read.
func createSession(dir string, h *header) (*session, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("keep the conversation: %w", err)
	}
	for n := 1; n <= maxSessions; n++ {
		f, err := os.OpenFile(sessionFile(dir, n), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("keep the conversation: %w", err)
		}
		s := &session{f}
		return s, s.add(h)
	}
	return nil, fmt.Errorf("keep the conversation: %s holds %d already", dir, maxSessions)
}

// add writes a line.
func (s *session) add(v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = s.f.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep the conversation: %w", err)
	}
	return nil
}

func (s *session) close() error { return s.f.Close() }

// stored is a conversation that was kept.
type stored struct {
	header
	messages []model.Message
}

// openSession reads the latest session in a folder.
func openSession(dir string) (*stored, error) {
	n := 1
	for n < maxSessions {
		if _, err := os.Stat(sessionFile(dir, n+1)); err != nil {
			break
		}
		n++
	}
	f, err := os.Open(sessionFile(dir, n))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: holds no conversation", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("read a conversation: %w", err)
	}
	defer f.Close()
	s, err := readSession(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return s, nil
}

// maxRecord bounds a line of a session.
const maxRecord = 64 << 20

// readSession reads a session. A last line without an end does not count: its
// agent was killed in the middle of the write.
func readSession(r io.Reader) (*stored, error) {
	lines := bufio.NewReaderSize(r, 64<<10)
	var s stored
	for n := 1; ; n++ {
		line, err := recordLine(lines)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && n == 1 {
			err = s.begin(line)
		} else if err == nil {
			err = s.take(line)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if s.Type == "" {
		return nil, errors.New("holds no conversation")
	}
	s.messages = mended(s.messages)
	return &s, nil
}

func recordLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxRecord {
			return nil, fmt.Errorf("is longer than %d bytes", maxRecord)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func (s *stored) begin(line []byte) error {
	if err := json.Unmarshal(line, &s.header); err != nil {
		return err
	}
	if s.Type != "session" || s.Version != sessionVersion {
		return fmt.Errorf("is %q of version %d: want a session of version %d", s.Type, s.Version, sessionVersion)
	}
	for _, t := range s.Tools {
		if !json.Valid(t.Schema) {
			return fmt.Errorf("the tool %q has no schema", t.Name)
		}
	}
	return nil
}

func (s *stored) take(line []byte) error {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	switch {
	case r.Type == "message" && r.Message != nil:
		s.messages = append(s.messages, *r.Message)
	case r.Type == "compacted":
		s.messages = r.Messages
	default:
		return fmt.Errorf("unknown record %q", r.Type)
	}
	return nil
}

// mended adds answers to calls without an answer, whose agent was killed; no
// API takes calls without. It leaves out answers without a call.
func mended(all []model.Message) []model.Message {
	var out []model.Message
	var open []string
	for _, m := range all {
		m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p model.Part) bool {
			_, called := p.(*model.Call)
			_, came := p.(*model.Result)
			return called && m.Role == model.User || came && m.Role == model.Assistant
		})
		if m.Role == model.Assistant && len(open) > 0 {
			out, open = append(out, model.Message{Role: model.User, Parts: interrupted(open)}), nil
		}
		if m.Role == model.User {
			m.Parts, open = matched(m.Parts, open)
		}
		for _, c := range m.Calls() {
			open = append(open, c.ID)
		}
		if len(m.Parts) > 0 {
			out = append(out, m)
		}
	}
	if len(open) > 0 {
		out = append(out, model.Message{Role: model.User, Parts: interrupted(open)})
	}
	return out
}

// matched are the parts of a message of the user, with a result for each call
// that is open before anything else is said.
func matched(parts []model.Part, open []string) (out []model.Part, left []string) {
	var said []model.Part
	for _, p := range parts {
		r, ok := p.(*model.Result)
		if !ok {
			said = append(said, p)
			continue
		}
		if i := slices.Index(open, r.ID); i >= 0 {
			open = slices.Delete(slices.Clone(open), i, i+1)
			out = append(out, p)
		}
	}
	out = append(out, interrupted(open)...)
	return append(out, said...), nil
}

func interrupted(open []string) []model.Part {
	var all []model.Part
	for _, id := range open {
		all = append(all, &model.Result{ID: id, Text: "it was interrupted; what came of it is not known", Bad: true})
	}
	return all
}
