package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

func findTool() *Tool {
	return &Tool{
		Name: "find", Reads: true, use: find,
		Description: "List files and folders by a glob, at any depth. What .gitignore names is left out.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"pattern":{"type":"string","description":"such as *.go (names) or src/**/test_*.py (paths); default: all"},` +
			`"path":{"type":"string","description":"the folder; default: the working directory"},` +
			`"limit":{"type":"integer","description":"how many at most; default 1000"}}}`),
	}
}

func lsTool() *Tool {
	return &Tool{
		Name: "ls", Reads: true, use: ls,
		Description: "List one folder. Folders end in a slash, links name what they lead to.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"the folder; default: the working directory"}}}`),
	}
}

type findInput struct {
	Pattern, Path string
	Limit         int
}

// maxFound is how many paths are listed.
const maxFound = 1000

func find(ctx context.Context, b *Bench, input json.RawMessage) (string, error) {
	var in findInput
	if err := decode(input, &in); err != nil {
		return "", err
	}
	if in.Pattern != "" && !doublestar.ValidatePattern(in.Pattern) {
		return "", fmt.Errorf("pattern: %q is not a glob", in.Pattern)
	}
	if in.Limit <= 0 || in.Limit > maxFound {
		in.Limit = maxFound
	}
	var out strings.Builder
	n := 0
	at := b.absolute(in.Path)
	w := b.walker()
	w.visit = func(file, rel string, e fs.DirEntry) error {
		if !globbed(in.Pattern, rel) {
			return nil
		}
		if n == in.Limit {
			return errEnough
		}
		n++
		out.WriteString(b.shown(file) + suffix(e) + "\n")
		return nil
	}
	err := w.below(ctx, at)
	switch {
	case errors.Is(err, errEnough):
		fmt.Fprintf(&out, "[there are more than %d]\n", in.Limit)
	case err != nil:
		return "", plain(b.shown(at), err)
	case n == 0:
		out.WriteString("nothing was found\n")
	}
	out.WriteString(w.note())
	return b.bound("find", out.String())
}

func suffix(e fs.DirEntry) string {
	if e.IsDir() {
		return "/"
	}
	return ""
}

func ls(_ context.Context, b *Bench, input json.RawMessage) (string, error) {
	var in struct{ Path string }
	if err := decode(input, &in); err != nil {
		return "", err
	}
	at := b.absolute(in.Path)
	entries, err := os.ReadDir(at)
	if err != nil {
		return "", plain(b.shown(at), err)
	}
	var out strings.Builder
	for _, e := range entries {
		out.WriteString(e.Name() + suffix(e))
		if e.Type()&fs.ModeSymlink != 0 {
			if to, err := os.Readlink(at + "/" + e.Name()); err == nil {
				out.WriteString(" -> " + to)
			}
		}
		out.WriteString("\n")
	}
	if len(entries) == 0 {
		out.WriteString("[the folder is empty]\n")
	}
	return b.bound("ls", out.String())
}
