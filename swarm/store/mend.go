package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// mend puts the journal back as its owner wrote it, if somebody else wrote to
// it or put another file in its place. What was found there is kept. An agent
// without walls can do both.
func (o *Owner) mend() error {
	same, err := o.untouched()
	if err != nil || same {
		return err
	}
	var text []byte
	for _, r := range o.written {
		if text, err = appendLine(text, r); err != nil {
			return err
		}
	}
	kept, err := o.setAside(o.Run.Journal(), "journal")
	if err != nil {
		return err
	}
	if err := writeFile(o.Run.Journal(), text); err != nil { // replaces what is there
		return fmt.Errorf("restore journal of run %s: %w", o.Run.ID, err)
	}
	o.Notices = append(o.Notices, fmt.Sprintf("somebody else wrote to the journal of run %s; "+
		"it is as it was, and what was found is in %s", o.Run.ID, kept))
	return nil
}

// untouched reports whether the journal is the file we have open and holds
// what we wrote, and nothing else.
func (o *Owner) untouched() (bool, error) {
	ours, err := o.file.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Lstat(o.Run.Journal())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err != nil || !os.SameFile(ours, named) || ours.Size() != o.size {
		return false, nil
	}
	now := sha256.New()
	if _, err := io.Copy(now, io.NewSectionReader(o.file, 0, o.size)); err != nil {
		return false, err
	}
	return bytes.Equal(now.Sum(nil), o.sum.Sum(nil)), nil
}

// mendIdentity puts run.json back as it was when the run was opened: what was
// started, with which configuration, is read from it by every later command.
func (o *Owner) mendIdentity() error {
	same, err := holds(o.Run.file(), o.runFile)
	if err != nil || same {
		return err
	}
	kept, err := o.setAside(o.Run.file(), "run.json")
	if err != nil {
		return err
	}
	if err := writeFile(o.Run.file(), o.runFile); err != nil { // replaces what is there
		return fmt.Errorf("restore run.json of run %s: %w", o.Run.ID, err)
	}
	o.Notices = append(o.Notices, fmt.Sprintf("somebody else wrote to run.json of run %s; "+
		"it is as it was, and what was found is in %s", o.Run.ID, kept))
	return nil
}

// holds reports whether a path is a file, not a link to one, with exactly this
// text. It waits for nobody, should a pipe be there.
func holds(path string, text []byte) (bool, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, nil // whatever is there, it is not what was written
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(text)) {
		return false, err
	}
	now, err := io.ReadAll(io.LimitReader(f, int64(len(text))+1))
	return bytes.Equal(now, text), err
}

// setAside gives what is in a file's place another name too, so that replacing
// it loses nothing. At no moment is there no such file, unless there was none:
// a run without a journal looks as if it had no agents.
func (o *Owner) setAside(file, name string) (string, error) {
	for n := 1; ; n++ {
		kept := filepath.Join(o.Run.Dir, fmt.Sprintf("%s.foreign.%d", name, n))
		err := os.Link(file, kept)
		switch {
		case errors.Is(err, fs.ErrExist):
			continue
		case errors.Is(err, fs.ErrNotExist):
			return kept, nil
		case err != nil: // a folder, or a file system without links
			err = os.Rename(file, kept)
		}
		if err != nil {
			return "", fmt.Errorf("set a foreign %s aside: %w", name, err)
		}
		return kept, nil
	}
}
