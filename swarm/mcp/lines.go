package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// lines is the input of a session without lines that are no message. The SDK
// ends the session at such a line, and its runs with it. They are answered as
// JSON-RPC says.
type lines struct {
	in   *bufio.Reader
	from io.Closer
	out  io.Writer
	rest []byte // of a line that was read
	long bool   // rest is the beginning of a line above the limit of the SDK
}

// newLines returns the input and the output of a session with a client.
func newLines(c Client) (*lines, *locked) {
	out := &locked{to: c.Out}
	return &lines{in: bufio.NewReader(c.In), from: c.In, out: out}, out
}

func (l *lines) Close() error { return l.from.Close() }

// Read gives the next part of a line that is a message.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		if l.long {
			return l.in.Read(p)
		}
		if err := l.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// next reads a line, and keeps it if it is a message.
func (l *lines) next() error {
	var line []byte
	for {
		part, err := l.in.ReadSlice('\n')
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) && len(line) <= sdk.DefaultMaxLineLength {
			continue
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			l.rest, l.long = line, true
			return nil
		}
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
			return err
		}
		break
	}
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
	if len(line) == 0 {
		return nil
	}
	messages, code, err := split(line)
	if err != nil {
		return l.refuse(code, err)
	}
	for _, message := range messages {
		l.rest = append(append(l.rest, message...), '\n')
	}
	return nil
}

// split returns the messages of a line, or the reason why it has none, with its
// code. A batch is taken apart: from version 2025-06-18 of MCP on, the SDK ends
// the session at a batch, and clients of all versions take single answers.
func split(line []byte) (messages []json.RawMessage, code int64, err error) {
	switch {
	case !json.Valid(line):
		return nil, jsonrpc.CodeParseError, errors.New("a line of the input is not JSON")
	case json.Unmarshal(line, &messages) != nil:
		messages = []json.RawMessage{line}
	case len(messages) == 0:
		return nil, jsonrpc.CodeInvalidRequest, errors.New("a batch is empty")
	}
	for _, message := range messages {
		if _, err := jsonrpc.DecodeMessage(message); err != nil {
			return nil, jsonrpc.CodeInvalidRequest, fmt.Errorf("not a message of JSON-RPC 2.0: %w", err)
		}
	}
	return messages, 0, nil
}

// refuse answers a line that is no message.
func (l *lines) refuse(code int64, why error) error {
	answer, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": why.Error()},
	})
	if err == nil {
		_, err = l.out.Write(append(answer, '\n'))
	}
	return err
}

// locked is an output to which two write whole lines.
type locked struct {
	mu sync.Mutex
	to io.WriteCloser
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(p)
}

func (l *locked) Close() error { return l.to.Close() }
