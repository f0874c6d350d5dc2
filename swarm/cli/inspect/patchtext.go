package inspect

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/store"
)

// writeAll writes the patch of an agent, and then those of its submodules, each
// after a line that names it. If an address names a submodule, it writes the
// patch of only that, with paths as they are in the submodule.
func writeAll(ctx context.Context, p *cmdline.Place, w io.Writer, a *store.Agent) error {
	if a.Module != nil {
		return session.Patches(p).WriteModule(ctx, w, *a.Module, "")
	}
	if err := session.Patches(p).Write(ctx, w, a); err != nil {
		return err
	}
	for _, m := range a.Patch().Modules {
		if _, err := io.WriteString(w, moduleTitle(m)); err != nil {
			return err
		}
		if err := session.Patches(p).WriteModule(ctx, w, m, m.Path); err != nil {
			return fmt.Errorf("%s: %w", a.ID, err)
		}
	}
	return nil
}

// safeLines makes text safe for a terminal, line by line: an agent's text could
// drive it.
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
	line := termtext.Text(string(s.rest))
	if s.colour != nil {
		line = s.colour(line)
	}
	_, err := io.WriteString(s.w, line)
	s.rest = s.rest[:0]
	return err
}
