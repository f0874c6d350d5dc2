package control

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Frame is a part of a [Stream]: [*Output], [*Notice] and [*End] go to the
// attached client, [*Input] and [*Resize] come from it.
//
//sumtype:decl
type Frame interface{ frame() byte }

// Output is text that the terminal shows.
type Output struct{ Bytes []byte }

// Notice is a line for the person at the other end.
type Notice struct{ Text string }

// End says that there is nothing more, and why.
type End struct{ Text string }

// Input is text that somebody typed.
type Input struct{ Bytes []byte }

// Resize is the size of somebody's window.
type Resize struct {
	Rows uint16 `json:"rows"`
	Cols uint16 `json:"cols"`
}

func (*Output) frame() byte { return 'o' }
func (*Notice) frame() byte { return 'n' }
func (*End) frame() byte    { return 'e' }
func (*Input) frame() byte  { return 'i' }
func (*Resize) frame() byte { return 'r' }

// maxFrame bounds the content of a frame, in bytes.
const maxFrame = 64 << 10

// Stream is a connection that carries frames: a letter, the length in four
// bytes, the highest first, and the content. A goroutine may read while others
// write.
type Stream struct {
	conn  net.Conn
	lines *bufio.Reader
	mu    sync.Mutex // keeps frames whole
}

// Write sends a frame, in several parts if it is too long. It gives up, with an
// error, on a peer that does not take a part within a few seconds.
func (s *Stream) Write(f Frame) error {
	body, err := encodeFrame(f)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	for {
		part := body[:min(len(body), maxFrame)]
		body = body[len(part):]
		head := binary.BigEndian.AppendUint32([]byte{f.frame()}, uint32(len(part)))
		if _, err := s.conn.Write(append(head, part...)); err != nil {
			return err
		}
		if len(body) == 0 {
			return nil
		}
	}
}

// Read waits for the next frame. [io.EOF] is the end of the connection
// between two frames.
func (s *Stream) Read() (Frame, error) { return readFrame(s.lines) }

// Leave ends the output of this end. The other end hangs up once it has handled
// all of it. The caller reads on until then, which fails within a few seconds.
// Then it knows that the other end has seen it leave.
func (s *Stream) Leave() error {
	half, ok := s.conn.(interface{ CloseWrite() error })
	if !ok {
		return s.conn.Close()
	}
	return errors.Join(half.CloseWrite(), s.conn.SetReadDeadline(time.Now().Add(patience)))
}

// Close ends the connection.
func (s *Stream) Close() error { return s.conn.Close() }

func encodeFrame(f Frame) ([]byte, error) {
	switch f := f.(type) {
	case *Output:
		return f.Bytes, nil
	case *Notice:
		return []byte(f.Text), nil
	case *End:
		return []byte(f.Text), nil
	case *Input:
		return f.Bytes, nil
	case *Resize:
		return json.Marshal(f)
	default:
		panic(fmt.Sprintf("unhandled %T", f))
	}
}

func readFrame(r io.Reader) (Frame, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > maxFrame {
		return nil, fmt.Errorf("a frame of %d bytes is longer than %d", size, maxFrame)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	switch head[0] {
	case 'o':
		return &Output{Bytes: body}, nil
	case 'n':
		return &Notice{Text: string(body)}, nil
	case 'e':
		return &End{Text: string(body)}, nil
	case 'i':
		return &Input{Bytes: body}, nil
	case 'r':
		r := &Resize{}
		if err := json.Unmarshal(body, r); err != nil {
			return nil, fmt.Errorf("decode the size of a window: %w", err)
		}
		return r, nil
	default:
		return nil, fmt.Errorf("unknown frame %q", head[0])
	}
}
