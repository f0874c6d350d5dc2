package governor

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"agentswarm/internal/statefile"
	"agentswarm/swarm/limit"
)

// record is a lane on disk.
type record struct {
	Lane    Lane              `json:"lane"`
	Window  limit.Window      `json:"window"`
	Holders map[string]holder `json:"holders,omitempty"` // by process
}

// holder lists the places of a process in a lane.
type holder struct {
	N int `json:"n"`
	// Fresh are the entry times, in milliseconds, of agents without a known
	// success of a request.
	Fresh []int64 `json:"fresh,omitempty"`
}

// freshFor is how long an agent counts as fresh: an agent that was not refused
// by then is at work, even if it reports nothing.
const freshFor = time.Minute

// occupancy counts who is in the lane.
func (r *record) occupancy(now time.Time) (held, fresh int) {
	for _, h := range r.Holders {
		held += h.N
		for _, came := range h.Fresh {
			if age := now.Sub(time.UnixMilli(came)); age >= 0 && age < freshFor {
				fresh++
			}
		}
	}
	return held, fresh
}

// clone is a copy that shares nothing with the record.
func (r *record) clone() record {
	c := *r
	c.Holders = maps.Clone(r.Holders)
	return c
}

// shelf is the folder that holds the lanes of all processes.
//
// Each process holds a lock on a file of its own as long as it lives: the
// places of a process without a lock are free. The number of a process would do
// only if all processes shared a process table.
type shelf struct {
	dir  string
	id   string
	life *os.File // locked
	// patience bounds the wait for a file locked by another process: lockTime,
	// except in tests.
	patience time.Duration
}

// lockTime bounds the wait for a locked file. A process holds the lock only
// while it writes a small file; but the process may be stopped meanwhile. After
// such a wait a process waits at most heldTime, until the file is free again.
const (
	lockTime = 2 * time.Second
	heldTime = 5 * time.Millisecond
)

// openShelf makes the folder, and the file that shows that this process lives.
func openShelf(dir, id string) (*shelf, error) {
	s := &shelf{dir: dir, id: id, patience: lockTime}
	if err := makeFolder(s.lives()); err != nil {
		return nil, err
	}
	// Until its file is locked this process looks dead.
	lock, err := lockFile(filepath.Join(dir, "lock"), lockTime)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	s.sweep()
	if s.life, err = lockFile(filepath.Join(s.lives(), id), 0); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *shelf) lives() string { return filepath.Join(s.dir, "alive") }

// close shows that this process holds nothing any more.
func (s *shelf) close() error {
	return errors.Join(os.Remove(s.life.Name()), s.life.Close())
}

// sweep removes the files of processes that are gone. A file that it cannot
// remove does no harm.
func (s *shelf) sweep() {
	entries, err := os.ReadDir(s.lives())
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.Name() != s.id && !s.alive(e.Name()) {
			_ = os.Remove(filepath.Join(s.lives(), e.Name()))
		}
	}
}

// alive reports whether a process that holds something lives.
func (s *shelf) alive(id string) bool {
	if id == s.id {
		return true
	}
	if id != filepath.Base(id) || strings.HasPrefix(id, ".") {
		return false // no name of ours
	}
	f, err := statefile.Open(s.lives(), filepath.Join(s.lives(), id), os.O_RDONLY)
	if _, foreign := errors.AsType[*statefile.ForeignError](err); foreign || errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil {
		return true
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}

// file is that of a lane.
func (s *shelf) file(lane Lane) string {
	sum := sha256.Sum256([]byte(lane))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:8])+".json")
}

// update changes the record of a lane under its lock. It waits for the lock as
// long as patience. The notice is a message for a person.
func (s *shelf) update(lane Lane, patience time.Duration, change func(*record)) (notice string, err error) {
	file := s.file(lane)
	lock, err := lockFile(strings.TrimSuffix(file, ".json")+".lock", patience)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	r, before, err := readRecord(file)
	var bad *badError
	switch {
	case errors.As(err, &bad):
		notice = bad.Error()
	case err != nil:
		return "", err
	}
	r.Lane = lane
	s.prune(&r)
	change(&r)
	after, err := json.Marshal(r)
	if err != nil {
		return notice, fmt.Errorf("encode the lane %s: %w", lane, err)
	}
	if string(after) == string(before) {
		return notice, nil
	}
	return notice, replace(file, after)
}

// prune removes the places of ended processes from a record.
func (s *shelf) prune(r *record) {
	for id := range r.Holders {
		if !s.alive(id) {
			delete(r.Holders, id)
		}
	}
}

// errLocked says that somebody else holds a lock.
var errLocked = errors.New("somebody else holds it")

// badError is a file that is no record.
type badError struct {
	file string
	err  error
}

func (e *badError) Error() string {
	return fmt.Sprintf("%s was damaged and is made anew: %v", e.file, e.err)
}

// maxFile is more than any record takes.
const maxFile = 1 << 20

// readRecord reads a lane. It returns an empty record if there is no file, and
// a [*badError] if the file is not a valid record.
func readRecord(file string) (r record, text []byte, err error) {
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, nil, nil
	}
	if err == nil && info.Size() > maxFile {
		return record{}, nil, &badError{file, errors.New("it is too large")}
	}
	text, err = statefile.Read(filepath.Dir(file), file)
	if foreign, ok := errors.AsType[*statefile.ForeignError](err); ok {
		return record{}, nil, &badError{file, errors.New(foreign.Reason)}
	}
	if err != nil {
		return record{}, nil, fmt.Errorf("read a lane: %w", err)
	}
	if r, err = parseRecord(text); err != nil {
		return record{}, nil, &badError{file, err}
	}
	return r, text, nil
}

// parseRecord reads the text of a file. It refuses a number that no process
// writes, because that would hold up all agents for good.
func parseRecord(text []byte) (record, error) {
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return record{}, err
	}
	for _, h := range r.Holders {
		if h.N < 0 || h.N > limit.MaxJobs || len(h.Fresh) > h.N {
			return record{}, fmt.Errorf("a process holds %d of it", h.N)
		}
	}
	if w := r.Window; min(w.Size, w.Ceiling, w.Good, w.Proofs, w.Step, w.Patience, w.Owed, w.Streak, w.Spread) < 0 ||
		max(w.Size, w.Ceiling, w.Patience) > maxNumber || w.Size > 0 && w.Patience == 0 {
		return record{}, errors.New("its numbers are out of range")
	}
	return r, nil
}

// maxNumber is above each number that a window can reach.
const maxNumber = 100_000

// replace replaces a file atomically. The name of the new file needs no random
// part, since its lane is locked. A file that a killed process left there is
// removed. It need not survive a power cut: the numbers are learnt again.
func replace(file string, text []byte) error {
	fresh := file + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write a lane: %w", err)
	}
	f, err := statefile.Open(filepath.Dir(file), fresh, os.O_CREATE|os.O_EXCL|os.O_WRONLY)
	if err == nil {
		_, err = f.Write(text)
		err = errors.Join(err, f.Close())
	}
	if err == nil {
		err = os.Rename(fresh, file)
	}
	if err != nil {
		_ = os.Remove(fresh) // half a file; the error says more
		return fmt.Errorf("write a lane: %w", err)
	}
	return nil
}

// lockFile locks a file, which is made where it is missing. Closing it unlocks
// it, as does the end of the process.
func lockFile(path string, patience time.Duration) (*os.File, error) {
	f, err := statefile.Open(filepath.Dir(path), path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	deadline := time.Now().Add(patience)
	for gap := time.Millisecond; ; gap = min(2*gap, 50*time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return f, nil
		case errors.Is(err, syscall.EINTR):
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		case time.Now().After(deadline):
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, errLocked), f.Close())
		}
		time.Sleep(gap)
	}
}
