package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"agentswarm/swarm/ask"
)

func writeTool() *Tool {
	return &Tool{
		Name: "write", use: write,
		Description: "Write a whole file; folders are made as needed. What the file held is gone: to change a part of it, use edit.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"the file, in the workspace"},` +
			`"content":{"type":"string"}},"required":["path","content"]}`),
	}
}

func editTool() *Tool {
	return &Tool{
		Name: "edit", use: edit,
		Description: "Replace text in a file. old_text must be there exactly once, white space included, " +
			"unless replace_all is set.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"the file, in the workspace"},` +
			`"old_text":{"type":"string"},` +
			`"new_text":{"type":"string"},` +
			`"replace_all":{"type":"boolean"}},"required":["path","old_text","new_text"]}`),
	}
}

func write(ctx context.Context, b *Bench, input json.RawMessage) (string, error) {
	var in struct {
		Path    string
		Content *string
	}
	if err := decode(input, &in); err != nil {
		return "", err
	}
	if err := required("path", in.Path); err != nil {
		return "", err
	}
	if in.Content == nil {
		return "", errors.New("content: is missing")
	}
	root, rel, err := b.inside(in.Path)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if err := b.pass(ctx, ask.Action{Write: filepath.Join(b.Root, rel), Cwd: b.Dir}); err != nil {
		return "", err
	}
	if dir := path.Dir(rel); dir != "." {
		err := root.MkdirAll(dir, 0o777)
		if errors.Is(err, os.ErrExist) || errors.Is(err, syscall.ENOTDIR) {
			return "", fmt.Errorf("%s: a part of the path is a file", in.Path)
		}
		if err != nil {
			return "", plain(in.Path, err)
		}
	}
	if err := put(root, rel, *in.Content); err != nil {
		return "", plain(in.Path, err)
	}
	return fmt.Sprintf("wrote %s: %d bytes", in.Path, len(*in.Content)), nil
}

// pass asks the gate.
func (b *Bench) pass(ctx context.Context, a ask.Action) error {
	if err := b.Gate.Pass(ctx, a); err != nil {
		return fmt.Errorf("refused: %w", err)
	}
	return nil
}

// put writes a file and keeps its mode.
func put(root *os.Root, rel, text string) (err error) {
	if info, err := root.Stat(rel); err == nil {
		if err := regular(info); err != nil {
			return err
		}
	}
	f, err := root.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.WriteString(f, text)
	return err
}

// maxEdit is how large a file may be that is edited.
const maxEdit = 64 << 20

func edit(ctx context.Context, b *Bench, input json.RawMessage) (string, error) {
	var in struct {
		Path string
		Old  string  `json:"old_text"`
		New  *string `json:"new_text"`
		All  bool    `json:"replace_all"`
	}
	if err := decode(input, &in); err != nil {
		return "", err
	}
	if err := required("path", in.Path); err != nil {
		return "", err
	}
	if in.New == nil {
		return "", errors.New("new_text: is missing")
	}
	root, rel, err := b.inside(in.Path)
	if err != nil {
		return "", err
	}
	defer root.Close()
	info, err := root.Stat(rel)
	if err == nil {
		err = regular(info)
	}
	if err == nil && info.Size() > maxEdit {
		err = fmt.Errorf("is larger than %d bytes", maxEdit)
	}
	if err != nil {
		return "", plain(in.Path, err)
	}
	text, err := root.ReadFile(rel)
	if err != nil {
		return "", plain(in.Path, err)
	}
	changed, lines, err := replace(string(text), replacement{old: in.Old, new: *in.New, all: in.All})
	if err != nil {
		return "", fmt.Errorf("%s: %w", in.Path, err)
	}
	if err := b.pass(ctx, ask.Action{Write: filepath.Join(b.Root, rel), Cwd: b.Dir}); err != nil {
		return "", err
	}
	if err := put(root, rel, changed); err != nil {
		return "", plain(in.Path, err)
	}
	if len(lines) == 1 {
		return fmt.Sprintf("edited %s at line %d", in.Path, lines[0]), nil
	}
	return fmt.Sprintf("edited %s in %d places, at lines %s", in.Path, len(lines), numbers(lines)), nil
}

// numbers lists the first few of some lines.
func numbers(lines []int) string {
	const most = 20
	var all []string
	for _, n := range lines[:min(len(lines), most)] {
		all = append(all, fmt.Sprint(n))
	}
	text := strings.Join(all, ", ")
	if len(lines) > most {
		text += ", …"
	}
	return text
}
