package gemini

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"path"

	"agentswarm/internal/boundedline"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/task"
	"agentswarm/swarm/wire"
)

var _ agent.Recorder = Adapter{}

// Recorded adds up the messages of a conversation, and those of the helpers that the
// agent started by itself.
func (Adapter) Recorded(state fs.FS, session string) (used task.Usage, model string, err error) {
	var all messages
	for _, glob := range sessions() {
		names, err := fs.Glob(state, glob)
		if err != nil {
			return task.Usage{}, "", err
		}
		for _, name := range names {
			of := session
			if folder := path.Base(path.Dir(name)); folder == session {
				of = "" // a helper has a conversation of its own
			} else if folder != chatsName {
				continue
			}
			if err := all.readFile(state, name, of); err != nil {
				return task.Usage{}, "", err
			}
		}
	}
	used, model = all.used()
	return used, model, nil
}

// maxMessages bounds how many messages are kept of foreign files.
const maxMessages = 1 << 20

// messages are those of the model that report tokens, by their ids. The CLI
// appends a message again each time it changes it.
type messages struct {
	tokens map[string]used
	model  string // of the last message
}

// message is a line of a conversation, as far as it is of interest. Lines with
// $set repeat earlier messages and have no id.
type message struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Model  string `json:"model"`
	Tokens *struct {
		Total  int64 `json:"total"`
		Input  int64 `json:"input"`
		Output int64 `json:"output"`
		Cached int64 `json:"cached"`
	} `json:"tokens"`
}

func (m *messages) readFile(state fs.FS, name, session string) error {
	f, err := state.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	return m.read(f, session)
}

// read reads a file whose first line names its conversation, and skips the file
// of another conversation. The last line may be cut off. Session "": any
// conversation.
func (m *messages) read(file io.Reader, session string) error {
	lines := bufio.NewReader(file)
	for first := true; ; first = false {
		line, err := boundedline.Read(lines, wire.MaxLine)
		tooLong := (*boundedline.LongError)(nil)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.As(err, &tooLong):
			return err
		}
		if first && session != "" {
			var head struct {
				Session string `json:"sessionId"`
			}
			if !wire.Decode(line, &head) || head.Session != session {
				return nil
			}
		}
		m.line(line)
	}
}

func (m *messages) line(text []byte) {
	var msg message
	if !wire.Decode(text, &msg) || msg.ID == "" || msg.Type != "gemini" || msg.Tokens == nil {
		return
	}
	if m.tokens == nil {
		m.tokens = map[string]used{}
	}
	if _, known := m.tokens[msg.ID]; !known && len(m.tokens) >= maxMessages {
		return
	}
	m.tokens[msg.ID] = used{Total: msg.Tokens.Total, Input: msg.Tokens.Input, Output: msg.Tokens.Output, Cached: msg.Tokens.Cached}
	if msg.Model != "" {
		m.model = msg.Model
	}
}

// used is the sum over all messages.
func (m *messages) used() (all task.Usage, model string) {
	for _, u := range m.tokens {
		all.Add(u.plain())
	}
	return all, m.model
}
