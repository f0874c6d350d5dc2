package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"agentswarm/swarm/event"
)

// Owner is the only process that may write a run's journal. Its lock ends with
// the process, however that ends; children do not inherit it.
type Owner struct {
	Run *Run
	// Records are the journal's records when it was opened.
	Records []event.Record
	// Notices describe the repairs at opening and at closing, for people.
	Notices []string

	lock     *os.File
	identity Identity // as it was when the run was opened
	runFile  []byte   // the text of run.json then; nil where it was damaged

	mu       sync.Mutex // guards the fields below; held while a record is written
	file     *os.File
	size     int64 // the end of the last good record
	reserved int64 // the end of the allocated space
	last     int64 // the number of the last record
	broken   error // why nothing more can be written
	// written are the records by our own knowledge: agents can write to the
	// file, and their text there must not decide anything.
	written []event.Record
	sum     hash.Hash // of the bytes of written
}

// BusyError is a run that another process owns.
type BusyError struct {
	Run string
	Pid int // 0 where it is not known
}

func (e *BusyError) Error() string {
	if e.Pid == 0 {
		return fmt.Sprintf("run %s is in use by another process", e.Run)
	}
	return fmt.Sprintf("run %s is in use by process %d", e.Run, e.Pid)
}

// Own makes this process the owner of the run, and repairs the end of its
// journal where a crash tore it. A run that has an owner is a [*BusyError].
func (r *Run) Own(ctx context.Context) (*Owner, error) {
	lock, err := r.take(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.unlinked(); err != nil {
		return nil, errors.Join(err, unlock(lock), lock.Close())
	}
	return r.open(lock)
}

// unlinked refuses a symbolic link in the place of a folder that the owner writes to
// or removes, as [State.Unlinked] does.
func (r *Run) unlinked() error {
	attempts := filepath.Join(r.Dir, "a")
	folders := []string{r.state.Trees(r.ID), r.Frozen(), r.Modules(), filepath.Join(r.Dir, "checks"), attempts}
	for _, pattern := range []string{"*", "*/*"} {
		found, err := fs.Glob(os.DirFS(attempts), pattern)
		if err != nil {
			return err
		}
		for _, one := range found {
			folders = append(folders, filepath.Join(attempts, one))
		}
	}
	for _, dir := range folders {
		if at, err := os.Lstat(dir); err == nil && at.Mode()&fs.ModeSymlink != 0 {
			return linkedFolder(dir)
		}
	}
	return plainGitDir(r.Frozen(), fs.ModeSymlink) // it has links of swarm's
}

// Live tells whether a process owns the run.
func (r *Run) Live() bool {
	// A backup may have given the lock another name, so [Run.OpenFile] is too
	// strict. A link in its place is no lock that an owner holds.
	f, err := os.OpenFile(r.Lock(), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ELOOP) && !errors.Is(err, syscall.ENXIO)
	}
	defer f.Close()
	if flock(f, syscall.LOCK_SH) != nil {
		return true
	}
	_ = unlock(f)
	return false
}

// take locks the run. Live holds the lock for a moment, which is long where its
// process is not scheduled. So take reports an owner only after ten refusals
// over a tenth of a second, and if Live finds the lock held, too.
func (r *Run) take(ctx context.Context) (*os.File, error) {
	for try := 1; ; try++ {
		lock, err := r.lock()
		if _, busy := errors.AsType[*BusyError](err); !busy || try >= 10 && r.Live() {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// lock tries once. It returns a [*BusyError] where another process has the
// lock.
func (r *Run) lock() (*os.File, error) {
	f, err := r.OpenFile(r.Lock(), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, noRoom(r.Lock(), fmt.Errorf("lock run %s: %w", r.ID, err))
	}
	if err := flock(f, syscall.LOCK_EX); err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock run %s: %w", r.ID, err)
		}
		var text [32]byte
		n, _ := f.ReadAt(text[:], 0)
		pid, _ := strconv.Atoi(strings.TrimSpace(string(text[:n])))
		return nil, &BusyError{Run: r.ID, Pid: pid}
	}
	if err := r.sign(f); err != nil {
		return nil, errors.Join(fmt.Errorf("lock run %s: %w", r.ID, err), unlock(f), f.Close())
	}
	return f, nil
}

// sign writes our pid into the lock, once it is certain that it is still the
// run's: between opening and locking the run may have been removed.
func (r *Run) sign(f *os.File) error {
	ours, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := os.Lstat(r.Lock())
	if err != nil {
		return err
	}
	if !os.SameFile(ours, named) {
		return errors.New("its folder was replaced")
	}
	pid := fmt.Appendf(nil, "%d\n", os.Getpid())
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(pid, 0)
	if _, full := errors.AsType[*FullError](noRoom(r.Lock(), err)); full {
		return nil // the pid will only be missing from a message
	}
	return err
}

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// unlock gives a lock up at once. Closing the file is not enough: a child that
// was forked and has not come to its exec still holds it open.
func unlock(f *os.File) error { return flock(f, syscall.LOCK_UN) }

// open reads and repairs the journal under the lock, which it closes where it
// fails.
func (r *Run) open(lock *os.File) (o *Owner, err error) {
	o = &Owner{Run: r, lock: lock}
	defer func() {
		if err != nil {
			o, err = nil, errors.Join(err, o.Close())
		}
	}()
	o.file, err = r.OpenFile(r.Journal(), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return o, noRoom(r.Journal(), fmt.Errorf("open journal of run %s: %w", r.ID, err))
	}
	text, err := io.ReadAll(o.file)
	if err != nil {
		return o, fmt.Errorf("read journal of run %s: %w", r.ID, err)
	}
	rd := reader{file: r.Journal()}
	records, used, err := rd.read(text)
	if err != nil {
		return o, err
	}
	o.Records, o.last, o.size = records, rd.last, int64(used)
	o.written, o.sum = slices.Clone(records), sha256.New()
	o.sum.Write(text[:used])
	// A damaged run can be owned too, to be removed.
	if text, err := r.readFile(r.file()); err == nil {
		if o.identity, err = r.identity(text); err == nil {
			o.runFile = text
		}
	}
	if used < len(text) {
		if err := o.cut(text[used:], int64(used)); err != nil {
			return o, err
		}
	}
	o.reserve(0)
	return o, nil
}

// cut takes a torn end off the journal and keeps it in a file of its own.
func (o *Owner) cut(torn []byte, at int64) error {
	var kept string
	for n := 1; ; n++ {
		kept = filepath.Join(o.Run.Dir, fmt.Sprintf("journal.torn.%d", n))
		f, err := os.OpenFile(kept, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err == nil {
			_, werr := f.Write(torn)
			err = errors.Join(werr, f.Sync(), f.Close())
		}
		if err != nil {
			return noRoom(kept, fmt.Errorf("keep the torn end of a journal: %w", err))
		}
		break
	}
	if err := o.truncate(at); err != nil {
		return err
	}
	o.Notices = append(o.Notices, fmt.Sprintf("the journal of run %s ended in a record "+
		"that was not written whole; its %d bytes are kept in %s", o.Run.ID, len(torn), kept))
	return nil
}

// truncate makes the journal end at a known good place, on the disk too.
func (o *Owner) truncate(at int64) error {
	if err := errors.Join(o.file.Truncate(at), o.file.Sync()); err != nil {
		return fmt.Errorf("cut journal of run %s: %w", o.Run.ID, err)
	}
	o.size, o.reserved = at, 0
	return nil
}

// Append writes a record. Once it returns, the record survives a crash and a
// power cut.
func (o *Owner) Append(e event.Event) (event.Record, error) {
	records, err := o.AppendAll([]event.Event{e})
	if len(records) == 0 {
		return event.Record{}, err
	}
	return records[0], err
}

// AppendAll writes records together: one write, one wait for the disk. If it
// fails no record was kept; a crash while it runs may keep the first few. Only
// an error of Step comes together with records.
func (o *Owner) AppendAll(events []event.Event) ([]event.Record, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken != nil || len(events) == 0 {
		return nil, o.broken
	}
	var (
		text    []byte
		records []event.Record
		err     error
	)
	for i, e := range events {
		r := event.Record{N: o.last + 1 + int64(i), Time: time.Now().UTC(), Event: e}
		if err := o.step("before", r); err != nil {
			return nil, err
		}
		if text, err = appendLine(text, r); err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	if err := o.write(text); err != nil {
		return nil, fmt.Errorf("append to journal of run %s: %w", o.Run.ID, err)
	}
	o.last += int64(len(records))
	o.written = append(o.written, records...)
	for _, r := range records {
		err = errors.Join(err, o.step("after", r))
	}
	return records, err
}

func (o *Owner) step(when string, r event.Record) error {
	step := o.Run.state.Step
	if step == nil {
		return nil
	}
	return step(fmt.Sprintf("%s %d %s", when, r.N, event.Kind(r.Event)))
}

// write puts whole lines on the disk or leaves the journal as it was.
func (o *Owner) write(text []byte) error {
	o.reserve(int64(len(text)))
	if _, err := o.file.WriteAt(text, o.size); err != nil {
		o.broken = o.truncate(o.size)
		return errors.Join(noRoom(o.Run.Journal(), err), o.broken)
	}
	if err := o.file.Sync(); err != nil {
		// After a failed fsync the kernel may drop the unwritten pages, and
		// report success the next time.
		o.broken = fmt.Errorf("the journal is not safe to write any more: %w", noRoom(o.Run.Journal(), err))
		return errors.Join(o.broken, o.truncate(o.size))
	}
	o.size += int64(len(text))
	o.sum.Write(text)
	return nil
}

// View returns the view of the records by the owner's own knowledge. While the
// run is live no file in its folder decides anything.
func (o *Owner) View() *View {
	o.mu.Lock()
	defer o.mu.Unlock()
	return Fold(o.identity, o.written)
}

// headroom is the space that a full disk must leave for the last records of a
// run, in bytes. It is allocated before it is needed.
const headroom = 256 << 10

// reserve keeps headroom allocated beyond the next write. Where that fails,
// writing continues without it.
func (o *Owner) reserve(more int64) {
	if need := o.size + more + headroom; o.reserved < need {
		if allocate(o.file, o.size, need+headroom-o.size) == nil {
			o.reserved = need + headroom
		}
	}
}

// giveBack frees the allocated space beyond the last record. Text of other
// processes there was moved to another file, and stays.
func (o *Owner) giveBack() error {
	info, err := o.file.Stat()
	if err != nil || info.Size() != o.size {
		return err
	}
	return o.file.Truncate(o.size)
}

// Close gives the run up. The journal keeps only the space it needs, and holds
// the owner's records, whatever other processes did to the file. run.json is as
// it was when the run was opened. It returns an error if a file cannot be
// restored or closed.
func (o *Owner) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lock == nil {
		return nil
	}
	var err error
	if o.file != nil && o.broken == nil && o.sum != nil { // it was read whole
		err = o.mend()
	}
	if o.runFile != nil {
		err = errors.Join(err, o.mendIdentity())
	}
	if o.reserved > 0 {
		err = errors.Join(err, o.giveBack())
	}
	if o.file != nil {
		err = errors.Join(err, o.file.Close())
	}
	o.broken = fmt.Errorf("run %s was given up: %w", o.Run.ID, os.ErrClosed)
	err = errors.Join(err, unlock(o.lock), o.lock.Close())
	o.lock = nil
	return err
}
