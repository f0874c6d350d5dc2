package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"agentswarm/internal/statefile"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// writePatch writes the patch of an agent by what its commit holds, which is
// what a merge lands: other agents may have written to the patch file. Where
// the commit is gone the file is all there is, and that is said.
func (p *place) writePatch(ctx context.Context, w io.Writer, a *store.Agent) error {
	kept := patchOf(a)
	err := p.agentPatches().Missing(ctx, a)
	if err == nil {
		return p.repo.WritePatch(ctx, w, git.Hash(kept.Base), git.Hash(kept.Commit))
	}
	gone, ok := errors.AsType[*patch.GoneError](err)
	if !ok || kept.File == "" {
		return err
	}
	fmt.Fprintf(p.env.Stderr, "%s: %v; this is by the file %s, which agents could write to\n",
		program, gone, Printable(kept.File))
	f, err := statefile.OpenOutput(kept.File)
	if err != nil {
		return fmt.Errorf("read the patch: %w", err)
	}
	defer f.Close()
	if _, err := io.Copy(w, f); err != nil {
		return fmt.Errorf("read the patch: %w", err)
	}
	return nil
}

// writeAll writes the patch of an agent, and then those of its submodules, each
// after a line that names it. If an address names a submodule, it writes the patch of
// that one alone, with paths as they are in the submodule.
func (p *place) writeAll(ctx context.Context, w io.Writer, a *store.Agent) error {
	if a.Module != nil {
		return p.agentPatches().WriteModule(ctx, w, *a.Module, "")
	}
	if err := p.writePatch(ctx, w, a); err != nil {
		return err
	}
	for _, m := range patchOf(a).Modules {
		if _, err := io.WriteString(w, moduleTitle(m)); err != nil {
			return err
		}
		if err := p.agentPatches().WriteModule(ctx, w, m, m.Path); err != nil {
			return fmt.Errorf("%s: %w", a.ID, err)
		}
	}
	return nil
}

// patchText is the same as a file without a name, to be read from its start.
func (p *place) patchText(ctx context.Context, run *store.Run, a *store.Agent) (*os.File, error) {
	f, err := os.CreateTemp(run.Dir, "patch-*.tmp")
	if err != nil {
		return nil, err
	}
	err = os.Remove(f.Name())
	if err == nil {
		err = p.writePatch(ctx, f, a)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// safeLines makes text safe for a terminal, line by line: what an agent wrote
// could drive it.
type safeLines struct {
	w      io.Writer
	colour func(line string) string // of a safe line; nil: none
	rest   []byte                   // the line that has not ended
}

// longestSafe bounds a line that is waited for, in bytes.
const longestSafe = 64 << 10

func (s *safeLines) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line := rest[:min(len(rest), longestSafe)]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end+1]
		}
		rest = rest[len(line):]
		s.rest = append(s.rest, line...)
		if len(s.rest) >= longestSafe || line[len(line)-1] == '\n' {
			if err := s.flush(); err != nil {
				return 0, err
			}
		}
	}
	return len(p), nil
}

func (s *safeLines) flush() error {
	line := PrintableText(string(s.rest))
	if s.colour != nil {
		line = s.colour(line)
	}
	_, err := io.WriteString(s.w, line)
	s.rest = s.rest[:0]
	return err
}
