package builtin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// face receives the events of the agent.
type face interface {
	session(id, model string)
	turn(n int)
	delta(text string) // a piece, as it comes
	text(text string)  // the pieces together
	toolStart(id, name string, input json.RawMessage)
	toolEnd(id string, ok bool, output string)
	usage(u task.Usage, left int)
	windows([]event.QuotaUsed)
	retry(f *Failure)
	result(text string, structured json.RawMessage)
	erred(f *Failure)
	broken() error // that nobody could be told
}

// jsonl speaks the protocol. Tools that run at the same time speak through it.
type jsonl struct {
	mu  sync.Mutex // guards the fields below
	w   io.Writer
	err error
}

func (j *jsonl) line(v any) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // commands are full of < and &
	err := enc.Encode(v)
	j.mu.Lock()
	defer j.mu.Unlock()
	if err == nil && j.err == nil {
		_, err = j.w.Write(text.Bytes())
	}
	if j.err == nil && err != nil {
		j.err = fmt.Errorf("write standard output: %w", err)
	}
}

func (j *jsonl) broken() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// protocol is the version of the protocol.
const protocol = 1

func (j *jsonl) session(id, model string) {
	j.line(struct {
		Type     string   `json:"type"`
		Protocol int      `json:"protocol"`
		ID       string   `json:"id"`
		Model    string   `json:"model"`
		Can      []string `json:"can"`
	}{"session", protocol, id, model, []string{"steer", "resume", "schema"}})
}

func (j *jsonl) turn(n int) {
	j.line(struct {
		Type string `json:"type"`
		N    int    `json:"n"`
	}{"turn", n})
}

func (*jsonl) delta(string) {}

func (j *jsonl) text(text string) {
	j.line(struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{"text", text})
}

func (j *jsonl) toolStart(id, name string, input json.RawMessage) {
	j.line(struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}{"tool_start", id, name, input})
}

func (j *jsonl) toolEnd(id string, ok bool, output string) {
	j.line(struct {
		Type   string `json:"type"`
		ID     string `json:"id"`
		OK     bool   `json:"ok"`
		Output string `json:"output"`
	}{"tool_end", id, ok, output})
}

func (j *jsonl) usage(u task.Usage, left int) {
	j.line(struct {
		Type       string `json:"type"`
		Input      int64  `json:"input"`
		Output     int64  `json:"output"`
		CacheRead  int64  `json:"cache_read"`
		CacheWrite int64  `json:"cache_write"`
		Left       int    `json:"requests_left,omitempty"`
	}{"usage", u.Input, u.Output, u.CacheRead, u.CacheWrite, left})
}

func (j *jsonl) windows(all []event.QuotaUsed) {
	for _, u := range all {
		j.line(struct {
			Type string `json:"type"`
			event.QuotaUsed
		}{"quota_used", u})
	}
}

type wireFailure struct {
	Type         string         `json:"type"`
	Kind         task.ErrorKind `json:"kind"`
	Message      string         `json:"message"`
	RetryAfterMS int64          `json:"retry_after_ms,omitempty"`
	Quota        *event.Quota   `json:"quota,omitempty"`
}

func (j *jsonl) retry(f *Failure) {
	j.line(wireFailure{"retry", f.Kind, f.Text, f.After.Milliseconds(), f.Quota})
}

func (j *jsonl) erred(f *Failure) {
	j.line(wireFailure{"error", f.Kind, f.Text, f.After.Milliseconds(), f.Quota})
}

func (j *jsonl) result(text string, structured json.RawMessage) {
	j.line(struct {
		Type       string          `json:"type"`
		Text       string          `json:"text"`
		Structured json.RawMessage `json:"structured,omitempty"`
	}{"result", text, structured})
}

// plain shows a person the model's texts on a stream, and its actions on
// another.
type plain struct {
	mu       sync.Mutex // guards the fields below
	out      io.Writer
	progress io.Writer
	form     bool // the answer is JSON: only that goes out
	err      error
}

func (p *plain) print(w io.Writer, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := io.WriteString(w, text); err != nil && p.err == nil && w == p.out {
		p.err = fmt.Errorf("write standard output: %w", err)
	}
}

func (p *plain) broken() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// aside is the stream for the model's texts beside its answer.
func (p *plain) aside() io.Writer {
	if p.form {
		return p.progress
	}
	return p.out
}

func (p *plain) delta(text string)       { p.print(p.aside(), text) }
func (p *plain) text(text string)        { p.print(p.aside(), strings.Repeat("\n", 1-trailing(text))) }
func (*plain) turn(int)                  {}
func (*plain) usage(task.Usage, int)     {}
func (*plain) windows([]event.QuotaUsed) {}
func (*plain) erred(*Failure)            {} // the command says it
func (p *plain) session(_, name string)  { p.print(p.progress, "model: "+name+"\n") }

func trailing(text string) int {
	if strings.HasSuffix(text, "\n") {
		return 1
	}
	return 0
}

func (p *plain) toolStart(_, name string, input json.RawMessage) {
	shown := []rune(strings.Join(strings.Fields(string(input)), " "))
	if len(shown) > 160 {
		shown = append(shown[:160], '…')
	}
	p.print(p.progress, name+" "+string(shown)+"\n")
}

func (p *plain) toolEnd(_ string, ok bool, output string) {
	if !ok {
		last := output[strings.LastIndexByte(strings.TrimSpace(output), '\n')+1:]
		p.print(p.progress, "  "+strings.TrimSpace(last)+"\n")
	}
}

func (p *plain) retry(f *Failure) {
	if f.After == 0 {
		p.print(p.progress, f.Text+"\n")
		return
	}
	p.print(p.progress, fmt.Sprintf("%s; trying again in %v\n", f.Text, f.After.Round(100_000_000)))
}

// result prints an answer that is not the text which was said.
func (p *plain) result(_ string, structured json.RawMessage) {
	if len(structured) > 0 {
		p.print(p.out, string(structured)+"\n")
	}
}

// order is a line of stdin.
type order struct {
	Type   string          `json:"type"`
	Text   string          `json:"text"`
	Schema json.RawMessage `json:"schema"`
}

// maxOrder bounds a line of stdin.
const maxOrder = 32 << 20

// listen reads orders until the end of stdin, which closes the channel. It
// passes over other lines. It goes on until then, or the end of the process: a
// read of stdin cannot be cancelled.
func listen(ctx context.Context, stdin io.Reader) <-chan order {
	orders := make(chan order, 64)
	go func() {
		defer close(orders)
		lines := bufio.NewReaderSize(stdin, 64<<10)
		for {
			line, err := readOrder(lines)
			var o order
			if json.Unmarshal(line, &o) == nil && o.Type != "" {
				if string(o.Schema) == "null" {
					o.Schema = nil
				}
				select {
				case orders <- o:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return orders
}

// readOrder reads a line. It passes over a line that is too long.
func readOrder(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxOrder; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull { // as it is returned
			return line, err
		}
	}
}
