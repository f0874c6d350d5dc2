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

// mend restores the journal as its owner wrote it, if another process wrote to
// it or put another file in its place. It keeps the found file. An agent
// without a sandbox can do both.
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
	kept, err := o.replace(o.Run.Journal(), "journal", text)
	if err != nil {
		return fmt.Errorf("restore journal of run %s: %w", o.Run.ID, err)
	}
	o.Notices = append(o.Notices, fmt.Sprintf("somebody else wrote to the journal of run %s; "+
		"it is as it was%s", o.Run.ID, foundIn(kept)))
	return nil
}

// foundIn says where a file is that was set aside.
func foundIn(kept string) string {
	if kept == "" {
		return ""
	}
	return ", and what was found is in " + kept
}

// untouched reports whether the journal is the file we have open and holds
// exactly the bytes we wrote.
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

// mendIdentity restores run.json as it was when the run was opened: every later
// command reads the run's instruction and configuration from it.
func (o *Owner) mendIdentity() error {
	same, err := holds(o.Run.file(), o.runFile)
	if err != nil || same {
		return err
	}
	kept, err := o.replace(o.Run.file(), "run.json", o.runFile)
	if err != nil {
		return fmt.Errorf("restore run.json of run %s: %w", o.Run.ID, err)
	}
	o.Notices = append(o.Notices, fmt.Sprintf("somebody else wrote to run.json of run %s; "+
		"it is as it was%s", o.Run.ID, foundIn(kept)))
	return nil
}

// holds reports whether a path is a file, not a link to a file, with exactly
// this text. It does not block, should a pipe be there.
func holds(path string, text []byte) (bool, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, nil // another kind of file is not the written file
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(text)) {
		return false, err
	}
	now, err := io.ReadAll(io.LimitReader(f, int64(len(text))+1))
	return bytes.Equal(now, text), err
}

// replace puts a text in the place of a file, and renames the old file. It
// loses no text that was written to that file until then. Where the file system
// exchanges names, the file exists at every moment: a run without a journal
// looks as if it had no agents. Kept is empty if no file was there.
func (o *Owner) replace(file, name string, text []byte) (kept string, err error) {
	fresh, err := o.writeFresh(text)
	if err != nil {
		return "", err
	}
	switch err := exchange(fresh, file); {
	case errors.Is(err, fs.ErrNotExist):
		return "", errors.Join(os.Rename(fresh, file), syncFolder(o.Run.Dir))
	case errors.Is(err, errors.ErrUnsupported):
		kept, err = o.setAside(file, name)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = os.Rename(fresh, file)
		}
		return kept, errors.Join(err, syncFolder(o.Run.Dir))
	case err != nil:
		return "", errors.Join(err, os.Remove(fresh))
	}
	if kept, err = o.setAside(fresh, name); err != nil {
		return fresh, err
	}
	return kept, syncFolder(o.Run.Dir)
}

// writeFresh writes a new file in the folder of the run.
func (o *Owner) writeFresh(text []byte) (path string, err error) {
	f, err := os.CreateTemp(o.Run.Dir, ".new-") // 0600
	if err != nil {
		return "", noRoom(o.Run.Dir, err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(noRoom(f.Name(), err), os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// setAside renames a file to a name that no file has.
func (o *Owner) setAside(file, name string) (kept string, err error) {
	for n := 1; ; n++ {
		kept = filepath.Join(o.Run.Dir, fmt.Sprintf("%s.foreign.%d", name, n))
		_, err := os.Lstat(kept)
		if err == nil {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = os.Rename(file, kept)
		}
		if err != nil {
			return "", fmt.Errorf("set a foreign %s aside: %w", name, err)
		}
		return kept, nil
	}
}
