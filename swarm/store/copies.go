package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"agentswarm/internal/statefile"
	"agentswarm/swarm/task"
)

// Copies is the folder with the copies of ended agents' workspaces. Each is in
// a folder of its own. People look around in a copy, and change it, after the
// fact.
func (s *State) Copies() string { return filepath.Join(s.Dir, "copies") }

// Copy is the folder of a copy. The process that has it open holds its lock,
// and the lock ends with the process, however that ends.
type Copy struct {
	Run   string
	Agent task.ID
	N     int // from 1, for each agent
	Dir   string

	lock *os.File
}

// Name returns the name of the copy within its run: a3-1.
func (c *Copy) Name() string { return fmt.Sprintf("%s-%d", c.Agent, c.N) }

// Trees is the folder its workspace is in. It is named after the run, as the
// trash is told by that name whose the workspace was.
func (c *Copy) Trees() string { return filepath.Join(c.Dir, c.Run) }

// state is the state folder, two above that of the copy.
func (c *Copy) state() string { return filepath.Dir(filepath.Dir(c.Dir)) }

func (c *Copy) record() string { return filepath.Join(c.Dir, "copy.json") }

// NewCopy makes the folder of a copy and locks it. A number for which taken
// answers true is passed over.
func (r *Run) NewCopy(agent task.ID, taken func(n int) (bool, error)) (*Copy, error) {
	root := r.state.Copies()
	if err := makeFolder(root); err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		used, err := taken(n)
		if err != nil {
			return nil, err
		}
		if used {
			continue
		}
		c := &Copy{Run: r.ID, Agent: agent, N: n}
		c.Dir = filepath.Join(root, c.Run+"."+c.Name())
		err = os.Mkdir(c.Dir, 0o700)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, noRoom(c.Dir, fmt.Errorf("make copy %s: %w", c.Name(), err))
		}
		free, err := c.take()
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(c.Dir))
		}
		if free {
			return c, nil
		}
		// A process that cleans up has it already, and will remove it.
	}
}

// TakeCopy locks an existing copy; nil where another process has it open. It
// returns an error if the lock cannot be taken.
func (r *Run) TakeCopy(agent task.ID, n int) (*Copy, error) {
	c := &Copy{Run: r.ID, Agent: agent, N: n}
	c.Dir = filepath.Join(r.state.Copies(), c.Run+"."+c.Name())
	if free, err := c.take(); err != nil || !free {
		return nil, err
	}
	return c, nil
}

// CopyOf reads the name of a copy, such as a3-1.
func CopyOf(name string) (agent task.ID, n int, ok bool) {
	id, number, _ := strings.Cut(name, "-")
	n, _ = strconv.Atoi(number)
	c := &Copy{Agent: task.ID(id), N: n}
	return c.Agent, n, c.Agent.Number() > 0 && n > 0 && c.Name() == name
}

// AttemptName is the address of an attempt of an agent within its run, such as a3.1.
func AttemptName(agent task.ID, n int) string { return fmt.Sprintf("%s.%d", agent, n) }

// AttemptOf reads the name of an attempt.
func AttemptOf(name string) (agent task.ID, n int, ok bool) {
	id, number, _ := strings.Cut(name, ".")
	n, _ = strconv.Atoi(number)
	agent = task.ID(id)
	return agent, n, agent.Number() > 0 && n > 0 && AttemptName(agent, n) == name
}

// LeftCopies returns the copies that no process has open, locked for the
// caller: the leftovers of a crash. Each must be closed or removed.
func (s *State) LeftCopies() ([]*Copy, error) {
	all, err := s.allCopies()
	if err != nil {
		return nil, err
	}
	var left []*Copy
	for _, c := range all {
		free, err := c.take()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			for _, c := range left {
				err = errors.Join(err, c.Close())
			}
			return nil, err
		}
		if free {
			left = append(left, c)
		}
	}
	return left, nil
}

// Copies are the existing copies of the run's agents: a process has them open,
// or a crash left them. They are not locked for the caller, who may only look.
func (r *Run) Copies() ([]*Copy, error) {
	all, err := r.state.allCopies()
	return slices.DeleteFunc(all, func(c *Copy) bool { return c.Run != r.ID }), err
}

// allCopies are the copies that there are.
func (s *State) allCopies() ([]*Copy, error) {
	entries, err := os.ReadDir(s.Copies())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list copies: %w", err)
	}
	var all []*Copy
	for _, e := range entries {
		if c, ok := parseCopy(e.Name()); ok && e.IsDir() {
			c.Dir = filepath.Join(s.Copies(), e.Name())
			all = append(all, c)
		}
	}
	return all, nil
}

// parseCopy reads the name of a copy's folder: k3x9q2.a3-1.
func parseCopy(name string) (*Copy, bool) {
	run, rest, _ := strings.Cut(name, ".")
	agent, number, _ := strings.Cut(rest, "-")
	c := &Copy{Run: run, Agent: task.ID(agent)}
	c.N, _ = strconv.Atoi(number)
	ok := isRunID(run) && c.Agent.Number() > 0 && c.N > 0 && name == run+"."+c.Name()
	return c, ok
}

// take locks the copy; false where another process has it.
func (c *Copy) take() (bool, error) {
	f, err := statefile.Open(c.state(), filepath.Join(c.Dir, "lock"), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return false, fmt.Errorf("lock copy %s: %w", c.Name(), err)
	}
	err = flock(f, syscall.LOCK_EX)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, f.Close()
	}
	if err != nil {
		return false, errors.Join(fmt.Errorf("lock copy %s: %w", c.Name(), err), f.Close())
	}
	// Between opening and locking, the copy may have been removed.
	ours, err := f.Stat()
	if err != nil {
		return false, errors.Join(err, f.Close())
	}
	if named, err := os.Lstat(f.Name()); err != nil || !os.SameFile(ours, named) {
		return false, errors.Join(unlock(f), f.Close())
	}
	c.lock = f
	return true, nil
}

// Write records the facts that a clean-up after a crash needs.
func (c *Copy) Write(record any) error {
	text, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(c.record(), append(text, '\n'))
}

// Read reads the record of Write. Without a record it returns [fs.ErrNotExist].
func (c *Copy) Read(record any) error {
	text, err := statefile.Read(c.state(), c.record())
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, record); err != nil {
		return fmt.Errorf("read %s: %w", c.record(), err)
	}
	return nil
}

// Close gives the copy up, and leaves it there.
func (c *Copy) Close() error { return errors.Join(unlock(c.lock), c.lock.Close()) }

var errNotEmpty = errors.New("its workspace is still there")

// Remove removes the folder of a copy whose workspace is gone, and gives it
// up. Where the workspace is still there it removes nothing.
func (c *Copy) Remove() error {
	entries, err := os.ReadDir(c.Trees())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, c.Close())
	}
	if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.IsDir() }) {
		return errors.Join(fmt.Errorf("remove copy %s: %w", c.Name(), errNotEmpty), c.Close())
	}
	return errors.Join(os.RemoveAll(c.Dir), c.Close())
}
