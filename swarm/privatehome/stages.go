package privatehome

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"agentswarm/worktree/disk"
	"agentswarm/worktree/step"
)

// Stages keeps apart the writes of a setup, agents and checks, in this order, to folders
// that are at the same paths for all of them. Tools keep absolute paths: programs that a
// setup installs in HOME are found by them alone. It is for a HOME at a path of its own.
//
// A check finds the folders as the setup left them, and an agent as the last agent did.
// Where the setup left none, they are not there, and the caller makes them anew. A call
// that a crash interrupted is finished by the next.
type Stages struct {
	// Dir holds the folders. Programs write to no other file in it.
	Dir string // required
	// Own reports whether an entry of Dir is among the folders.
	Own  func(name string) bool // required
	Step step.Hook
}

// Other entries of Dir.
const (
	stageName  = "stage"      // a file with a stage; missing: stageSetup
	setupLeft  = "setup-left" // a copy of the folders
	agentLeft  = "agent-left" // the folders of the agent during a check; made when its first check starts
	removedDir = "removed-"
)

// stage tells whose the folders are.
type stage string

const (
	stageSetup        stage = ""
	stageAgent        stage = "agent"
	stageCheck        stage = "check"         // none of them is the agent's
	stageAgentLeaves  stage = "agent leaves"  // some are moved to agentLeft
	stageAgentReturns stage = "agent returns" // some are still in agentLeft
)

// BeforeAgent must be called before each start of an agent. It calls adopt for the first,
// which gets the setup's folders, and again where a crash interrupted that.
func (s Stages) BeforeAgent(adopt func() error) error {
	if err := s.beforeAgent(adopt); err != nil {
		return fmt.Errorf("prepare the HOME of an agent: %w", err)
	}
	return nil
}

func (s Stages) beforeAgent(adopt func() error) error {
	at, err := s.settle()
	if err != nil || at == stageAgent {
		return err
	}
	if at == stageCheck {
		if err := s.clear(); err != nil {
			return err
		}
		if _, err := os.Lstat(filepath.Join(s.Dir, agentLeft)); err == nil {
			return s.moveAll(stageAgentReturns)
		}
		err = s.restore() // The check was there before the first agent.
	} else {
		err = s.keep()
	}
	if err != nil {
		return err
	}
	if err := adopt(); err != nil {
		return err
	}
	return s.enter(stageAgent)
}

// BeforeCheck must be called before each start of a check. Processes of the agent that
// still run keep their rights to the agent's folders only.
func (s Stages) BeforeCheck() error {
	if err := s.beforeCheck(); err != nil {
		return fmt.Errorf("prepare the HOME of a check: %w", err)
	}
	return nil
}

func (s Stages) beforeCheck() error {
	at, err := s.settle()
	if err != nil {
		return err
	}
	if at == stageSetup { // An agent may have been about to start.
		if err := s.keep(); err != nil {
			return err
		}
		if err := s.enter(stageCheck); err != nil {
			return err
		}
	}
	if at == stageAgent {
		err = s.moveAll(stageAgentLeaves)
	} else {
		err = s.clear()
	}
	if err != nil {
		return err
	}
	return s.restore()
}

// settle finishes a move of the agent's folders.
func (s Stages) settle() (stage, error) {
	text, err := os.ReadFile(filepath.Join(s.Dir, stageName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	switch at := stage(text); at {
	case stageSetup, stageAgent, stageCheck:
		return at, nil
	case stageAgentLeaves:
		return stageCheck, s.moveAll(at)
	case stageAgentReturns:
		return stageAgent, s.moveAll(at)
	default:
		return "", fmt.Errorf("%s names the unknown stage %q", filepath.Join(s.Dir, stageName), at)
	}
}

// moveAll moves all folders of the agent to agentLeft, or back. The stage says so
// before, so that a crash in between is seen.
func (s Stages) moveAll(at stage) error {
	aside := filepath.Join(s.Dir, agentLeft)
	from, to, after := s.Dir, aside, stageCheck
	if at == stageAgentReturns {
		from, to, after = aside, s.Dir, stageAgent
	}
	if err := errors.Join(s.enter(at), os.MkdirAll(aside, 0o700)); err != nil {
		return err
	}
	if err := s.moveFolders(from, to); err != nil {
		return err
	}
	return s.enter(after)
}

func (s Stages) moveFolders(from, to string) error {
	names, err := s.names(from)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := moveFolder(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return err
		}
		if err := s.Step.At("moved " + name); err != nil {
			return err
		}
	}
	return nil
}

func (s Stages) enter(at stage) error {
	if err := disk.WriteFile(filepath.Join(s.Dir, stageName), []byte(at)); err != nil {
		return err
	}
	return s.Step.At("stage " + string(at))
}

// keep copies the folders that the setup left, once.
func (s Stages) keep() error {
	kept := filepath.Join(s.Dir, setupLeft)
	if _, err := os.Lstat(kept); err == nil {
		return nil
	}
	part := kept + ".part"
	if err := errors.Join(disk.RemoveAll(part), os.Mkdir(part, 0o700)); err != nil {
		return err
	}
	if err := s.copyFolders(s.Dir, part); err != nil {
		return err
	}
	if err := os.Rename(part, kept); err != nil {
		return err
	}
	return s.Step.At("kept")
}

// restore makes the folders anew as the setup left them.
func (s Stages) restore() error { return s.copyFolders(filepath.Join(s.Dir, setupLeft), s.Dir) }

func (s Stages) copyFolders(from, to string) error {
	names, err := s.names(from)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := copyTree(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return err
		}
		if err := s.Step.At("copied " + name); err != nil {
			return err
		}
	}
	return nil
}

// clear removes the folders. Processes that still run may add files meanwhile: the rest
// is removed with Dir.
func (s Stages) clear() error {
	removed, err := os.MkdirTemp(s.Dir, removedDir)
	if err != nil {
		return err
	}
	if err := s.moveFolders(s.Dir, removed); err != nil {
		return err
	}
	_ = disk.RemoveAll(removed)
	return nil
}

func (s Stages) names(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
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
