package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// Differ is a `git diff-tree` that writes patches of the quarantine's current
// objects, in sequence. It serves a single goroutine at a time. After an error
// it cannot be used again. The caller must close it.
type Differ struct{ *talk }

// Differ starts the process.
func (q *Quarantine) Differ(ctx context.Context) (*Differ, error) {
	t, err := q.talk(ctx, Cmd{
		Args:   append([]string{"diff-tree", "--stdin"}, patchArgs()...),
		Config: []string{"diff.suppressBlankEmpty=false"},
	})
	return &Differ{talk: t}, err
}

// Close ends the process and waits for it.
func (d *Differ) Close() error { return d.close() }

// endOfPatch is a line that git repeats after each patch. No line of a patch
// begins so.
const endOfPatch = "~swarm: that was all~\n"

// WritePatch is [Quarantine.WritePatch], from tree to tree. Where it fails, w
// may have got a part.
func (d *Differ) WritePatch(ctx context.Context, w io.Writer, from, to Hash) error {
	if err := d.writePatch(ctx, w, from, to); err != nil {
		return fmt.Errorf("write patch: %w", err)
	}
	return nil
}

func (d *Differ) writePatch(ctx context.Context, w io.Writer, from, to Hash) error {
	defer d.asking(ctx)()
	head := string(from) + " " + string(to) + "\n"
	if _, err := io.WriteString(d.in, head+endOfPatch); err != nil {
		return d.why(ctx, err)
	}
	// Git prints no answer if it knows that a name is not a tree.
	said, err := d.out.ReadString('\n')
	if err != nil {
		return d.why(ctx, err)
	}
	if said != head {
		return fmt.Errorf("unexpected answer %.60q", said)
	}
	out := bufio.NewWriterSize(w, 64<<10)
	for begins := true; ; {
		line, err := d.out.ReadSlice('\n')
		cut := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !cut {
			return d.why(ctx, err)
		}
		if begins && bytes.Equal(line, []byte(endOfPatch)) {
			d.broken = false
			return out.Flush()
		}
		begins = !cut
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
}
