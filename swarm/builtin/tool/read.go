package tool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

func readTool() *Tool {
	return &Tool{
		Name: "read", Reads: true, use: read,
		Description: "Read a text file. Long files come in parts: go on with offset.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"the file"},` +
			`"offset":{"type":"integer","description":"the first line to read, from 1"},` +
			`"limit":{"type":"integer","description":"how many lines at most"}},"required":["path"]}`),
	}
}

type readInput struct {
	Path          string
	Offset, Limit int
}

const (
	// maxLine is how much of a line a model gets.
	maxLine = 4000
	// maxCount is how much of a file is read for its lines to be counted.
	maxCount = 1 << 30
)

// mark is how long the mark of the order of bytes is that a file begins with. It
// is no part of its first line.
func mark(r *bufio.Reader) int {
	const bom = "\uFEFF"
	if head, _ := r.Peek(len(bom)); string(head) == bom {
		return len(bom)
	}
	return 0
}

func read(ctx context.Context, b *Bench, input json.RawMessage) (string, error) {
	var in readInput
	if err := decode(input, &in); err != nil {
		return "", err
	}
	if err := required("path", in.Path); err != nil {
		return "", err
	}
	path := b.absolute(in.Path)
	info, err := os.Stat(path)
	if err != nil {
		return "", plain(in.Path, err)
	}
	if err := regular(info); err != nil {
		return "", plain(in.Path, err)
	}
	f, err := open(in.Path, path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	lines := bufio.NewReaderSize(f, 64<<10)
	if head, _ := lines.Peek(8000); bytes.IndexByte(head, 0) >= 0 {
		return "", fmt.Errorf("%s: is not text; it has %d bytes", in.Path, info.Size())
	}
	_, _ = lines.Discard(mark(lines))
	p := page{from: max(in.Offset, 1), most: maxLines, left: maxCount}
	if in.Limit > 0 {
		p.most = min(in.Limit, maxLines)
	}
	if err := p.read(ctx, lines); err != nil {
		return "", plain(in.Path, err)
	}
	return p.text(in.Path)
}

// page is a part of a file.
type page struct {
	from, most int // lines
	shown      strings.Builder
	n          int // lines that are shown
	all        int // lines of the file
	left       int // bytes that may still be read
	uncounted  bool
	bytes      bool // some are no text
}

func (p *page) read(ctx context.Context, lines *bufio.Reader) error {
	full := false
	for ctx.Err() == nil {
		line, size, err := nextLine(lines)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		p.all++
		if p.left -= size; p.left < 0 {
			p.uncounted = true
			return nil
		}
		if p.all < p.from || full {
			continue
		}
		if full = p.n == p.most || p.n > 0 && p.shown.Len()+len(line) > maxBytes; full {
			continue
		}
		p.shown.Write(line)
		p.bytes = p.bytes || !utf8.Valid(line[:len(line)-cutRune(line, size)])
		if len(line) < size {
			p.shown.WriteString("… [the rest of this line is left out]\n")
		}
		p.n++
	}
	return context.Cause(ctx)
}

// cutRune is how many bytes at the end of a line belong to a character that was
// cut off with the rest of it.
func cutRune(line []byte, size int) int {
	if len(line) == size {
		return 0
	}
	for n := 1; n < utf8.UTFMax && n <= len(line); n++ {
		if utf8.RuneStart(line[len(line)-n]) {
			if utf8.FullRune(line[len(line)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

// nextLine is the next line with its end, of which no more is kept than is
// shown, and how long it is.
func nextLine(r *bufio.Reader) (line []byte, size int, err error) {
	for {
		part, err := r.ReadSlice('\n')
		size += len(part)
		if room := maxLine - len(line); room > 0 {
			line = append(line, part[:min(room, len(part))]...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && size <= maxCount:
			continue
		case errors.Is(err, bufio.ErrBufferFull), errors.Is(err, io.EOF) && size > 0:
			err = nil
		}
		return line, size, err
	}
}

func (p *page) text(path string) (string, error) {
	switch {
	case p.all == 0:
		return "[the file is empty]", nil
	case p.n == 0 && p.uncounted:
		return "", fmt.Errorf("%s: the first %d bytes have only %d lines, and what follows is not looked at; use bash", path, maxCount, p.all)
	case p.n == 0:
		return "", fmt.Errorf("%s: has only %d lines", path, p.all)
	}
	text := p.shown.String()
	note := func(format string, args ...any) {
		text = strings.TrimSuffix(text, "\n") + "\n[" + fmt.Sprintf(format, args...) + "]"
	}
	if p.bytes {
		note("this is not all UTF-8: bytes that are none are shown as \uFFFD, which edit will not find")
	}
	last, more := p.from+p.n-1, ""
	if p.uncounted {
		more = " or more"
	}
	switch {
	case last < p.all:
		note("lines %d to %d of %d%s; go on with offset %d", p.from, last, p.all, more, last+1)
	case p.from > 1:
		note("lines %d to %d of %d", p.from, last, p.all)
	}
	return text, nil
}
