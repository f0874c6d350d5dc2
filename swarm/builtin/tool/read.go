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

// maxLine is how much of one line is read to a model.
const maxLine = 4000

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
	if err := regular(in.Path, info); err != nil {
		return "", err
	}
	f, err := open(in.Path, path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	lines := bufio.NewReaderSize(f, 64<<10)
	if head, _ := lines.Peek(8000); bytes.IndexByte(head, 0) >= 0 {
		return "", fmt.Errorf("%s: is no text; it has %d bytes", in.Path, info.Size())
	}
	p := page{from: max(in.Offset, 1), most: maxLines}
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
}

func (p *page) read(ctx context.Context, lines *bufio.Reader) error {
	full := false
	for ctx.Err() == nil {
		line, whole, err := nextLine(lines)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		p.all++
		if p.all < p.from || full {
			continue
		}
		if full = p.n == p.most || p.n > 0 && p.shown.Len()+len(line) > maxBytes; full {
			continue
		}
		p.shown.Write(line)
		if !whole {
			p.shown.WriteString("… [the rest of this line is left out]\n")
		}
		p.n++
	}
	return context.Cause(ctx)
}

// nextLine is the next line with its end, of which no more is kept than is
// shown.
func nextLine(r *bufio.Reader) (line []byte, whole bool, err error) {
	size := 0
	for {
		part, err := r.ReadSlice('\n')
		size += len(part)
		if room := maxLine - len(line); room > 0 {
			line = append(line, part[:min(room, len(part))]...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && size > 0:
			err = nil
		}
		return line, len(line) == size, err
	}
}

func (p *page) text(path string) (string, error) {
	switch {
	case p.all == 0:
		return "[the file is empty]", nil
	case p.n == 0:
		return "", fmt.Errorf("%s: has only %d lines", path, p.all)
	}
	text := p.shown.String()
	if last := p.from + p.n - 1; p.from > 1 || last < p.all {
		text = strings.TrimSuffix(text, "\n")
		text += fmt.Sprintf("\n[lines %d to %d of %d", p.from, last, p.all)
		if last < p.all {
			text += fmt.Sprintf("; go on with offset %d", last+1)
		}
		text += "]"
	}
	return text, nil
}
