package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/store"
	"agentswarm/swarm/thought"
)

// forget blanks the thoughts of a model in the output of its ended process. All
// other output keeps its place, and the file its length. The output of a
// command is not touched.
func forget(kind, path string) error {
	if kind == agent.KindCommand {
		return nil
	}
	if err := blankThoughts(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the reasoning of its model cannot be removed from its output: %w", err)
	}
	return nil
}

func blankThoughts(path string) (err error) {
	// Without a sandbox, an agent can put anything in the place of its output.
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, fmt.Errorf("%s is not a file", filepath.Base(path)))
	}
	blanks := bytes.Repeat([]byte{' '}, 4096)
	return thought.Spans(f, func(s thought.Span) error {
		for at := s.From; at < s.To; at += int64(len(blanks)) {
			if _, err := f.WriteAt(blanks[:min(int64(len(blanks)), s.To-at)], at); err != nil {
				return err
			}
		}
		return nil
	})
}

// forgetLeft does so for the output that an earlier owner of the run left: it
// may have died before it could.
func (r recovery) forgetLeft(a *store.Agent) {
	if a.Round == nil {
		return
	}
	if err := forget(SpecThen(r.config, a).Kind, outputFile(r.deps, a)); err != nil {
		r.deps.Warn(fmt.Sprintf("%s: %v", a.ID, err))
	}
}
