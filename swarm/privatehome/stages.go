package privatehome

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Stages keeps apart the writes of a setup, an agent and a check, in this order,
// to folders that are at the same paths for all of them. Tools keep absolute
// paths: programs that a setup installs in HOME are found by them alone. It is
// for a HOME at a path of its own.
//
// A check finds the folders as the setup left them. Where there was none, they
// are not there, and the caller makes them anew.
type Stages struct {
	// Dir holds the folders. Programs write to no other file in it.
	Dir string // required
	// Own reports whether an entry of Dir is among the folders.
	Own func(name string) bool // required
}

const (
	stageSetup = "setup-left" // a copy of the folders
	stageAgent = "agent-was"  // a file: an agent has started
)

// BeforeAgent copies the folders that the setup left, once. It must be called before each
// start of an agent. First is false where an agent was there already.
func (s Stages) BeforeAgent() (first bool, err error) {
	if s.agentWas() {
		return false, nil
	}
	if err := s.keep(); err != nil {
		return true, fmt.Errorf("keep what the setup wrote to HOME: %w", err)
	}
	return true, os.WriteFile(filepath.Join(s.Dir, stageAgent), nil, 0o600)
}

func (s Stages) keep() error {
	kept := filepath.Join(s.Dir, stageSetup)
	part := kept + ".part"
	if err := errors.Join(os.RemoveAll(part), os.RemoveAll(kept)); err != nil {
		return err
	}
	names, err := s.names()
	if err != nil || len(names) == 0 {
		return err
	}
	if err := os.Mkdir(part, 0o700); err != nil {
		return err
	}
	for _, name := range names {
		if err := copyTree(filepath.Join(s.Dir, name), filepath.Join(part, name)); err != nil {
			return err
		}
	}
	return os.Rename(part, kept)
}

// BeforeCheck puts the agent's folders aside, and the setup's in their place.
// Processes of the agent that still run keep their rights to the former only.
// The folders that are put aside are removed with Dir.
func (s Stages) BeforeCheck() error {
	if !s.agentWas() {
		return nil
	}
	if err := s.swap(); err != nil {
		return fmt.Errorf("take the agent's HOME from its check: %w", err)
	}
	return os.Remove(filepath.Join(s.Dir, stageAgent))
}

func (s Stages) swap() error {
	aside, err := os.MkdirTemp(s.Dir, "agent-left-")
	if err != nil {
		return err
	}
	names, err := s.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := moveFolder(filepath.Join(s.Dir, name), filepath.Join(aside, name)); err != nil {
			return err
		}
	}
	kept := filepath.Join(s.Dir, stageSetup)
	entries, err := os.ReadDir(kept)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := moveFolder(filepath.Join(kept, e.Name()), filepath.Join(s.Dir, e.Name())); err != nil {
			return err
		}
	}
	return os.Remove(kept)
}

func (s Stages) agentWas() bool {
	_, err := os.Lstat(filepath.Join(s.Dir, stageAgent))
	return err == nil
}

func (s Stages) names() (names []string, err error) {
	entries, err := os.ReadDir(s.Dir)
	for _, e := range entries {
		if e.IsDir() && s.Own(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// modeBits are the bits of a mode that a copy has. Some programs, such as Ruby, use no
// /tmp that all may write to without the sticky bit.
const modeBits = fs.ModePerm | fs.ModeSticky

// moveFolder renames a folder. The system refuses that to an owner without the
// right to write to it.
func moveFolder(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if err := os.Chmod(from, info.Mode()&modeBits|0o700); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// copyTree copies folders, files and links with modes and times. It follows no
// link. Sockets and the like are left out.
func copyTree(from, to string) (err error) {
	source, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer source.Close()
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	target, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	var folders []string
	err = fs.WalkDir(source.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && (e == nil || !e.IsDir()):
			return err
		case err != nil:
			return fs.SkipDir // a folder that its owner cannot read
		case e.IsDir():
			folders = append(folders, path)
			if path == "." {
				return nil
			}
			return target.Mkdir(path, 0o700)
		case e.Type()&fs.ModeSymlink != 0:
			link, err := source.Readlink(path)
			if err != nil {
				return err
			}
			return target.Symlink(link, path)
		case e.Type().IsRegular():
			return copyFile(from, path, target, e)
		default:
			return nil
		}
	})
	// The deepest first: a folder that may not be written to holds others.
	for i := len(folders) - 1; i >= 0 && err == nil; i-- {
		err = copyMode(source, target, folders[i])
	}
	return err
}

func copyFile(from, path string, target *os.Root, e fs.DirEntry) error {
	info, err := e.Info()
	if err != nil {
		return err
	}
	err = copyWithin(from, path, target, path, info.Mode().Perm()|0o200)
	if errors.Is(err, fs.ErrPermission) {
		return nil // Its owner cannot read it.
	}
	if err != nil {
		return err
	}
	return target.Chmod(path, info.Mode().Perm())
}

func copyMode(source, target *os.Root, path string) error {
	info, err := source.Lstat(path)
	if err != nil {
		return err
	}
	return errors.Join(target.Chtimes(path, info.ModTime(), info.ModTime()), target.Chmod(path, info.Mode()&modeBits))
}
