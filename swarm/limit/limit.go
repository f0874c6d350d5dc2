// Package limit owns the limits of a run: the number of agents for the memory
// of a machine, the room for another workspace on its disk, the spending of a
// run, and failures that the next agent would repeat.
//
// It measures and answers. The engine decides about waits.
package limit

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
)

// MaxJobs is the number of agents that can run at once.
const MaxJobs = 100

// CommandFootprint is the memory a command is taken to need, in bytes.
const CommandFootprint = 64 << 20

// reserve is the memory of a machine that is left to everything else, in bytes.
const reserve = 1 << 30

// SpaceError reports that a disk is too full for a workspace, while nothing
// that could make room is running.
type SpaceError struct {
	Dir        string
	Need, Have int64 // bytes
}

func (e *SpaceError) Error() string {
	return fmt.Sprintf("no space: a workspace needs %d MiB below %s, and %d MiB are free",
		e.Need>>20, e.Dir, e.Have>>20)
}

// Hint returns the way out.
func (e *SpaceError) Hint() string {
	return "free some space (`swarm gc` empties the trash), or set SWARM_STATE_DIR to a larger disk"
}

// DiskSlack is kept free beside the workspaces, for journals, captures and
// whatever else the machine does, in bytes.
const DiskSlack = 64 << 20

// Disk admits workspaces by free space. Admitted space counts as used until it
// is released, since filling a workspace takes time.
type Disk struct {
	Dir  string                // required
	Free func() (int64, error) // required: bytes

	mu      sync.Mutex    // guards the fields below
	pending int64         // admitted, and not yet on the disk
	live    int           // admitted, and not yet released
	changed chan struct{} // closed when room was made
}

// Admit waits until a workspace of size bytes fits. It is a [*SpaceError]
// when it does not and nothing that was admitted is left to wait for, and the
// cause of ctx where that has ended.
// filled must be called once the bytes are on the disk or given up, and
// released once the workspace is gone.
// waits, which may be nil, is told once why it has to wait.
func (d *Disk) Admit(ctx context.Context, size int64, waits func(why string)) (filled, released func(), err error) {
	for told := false; ; told = true {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		room, err := d.try(size)
		if err != nil {
			return nil, nil, err
		}
		if room == nil {
			break
		}
		if !told && waits != nil {
			waits(fmt.Sprintf("waiting for space: a workspace needs %d MiB below %s", (size+DiskSlack)>>20, d.Dir))
		}
		select {
		case <-room:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
	filled = sync.OnceFunc(func() { d.settle(size, 0) })
	released = sync.OnceFunc(func() { d.settle(0, 1) })
	return filled, released, nil
}

// try takes the space and returns nil, or returns the channel to wait for.
func (d *Disk) try(size int64) (<-chan struct{}, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	free, err := d.Free()
	if err != nil {
		return nil, err
	}
	need := size + DiskSlack
	if free-d.pending >= need {
		d.pending += size
		d.live++
		return nil, nil
	}
	if d.live == 0 {
		return nil, &SpaceError{Dir: d.Dir, Need: need, Have: free}
	}
	if d.changed == nil {
		d.changed = make(chan struct{})
	}
	return d.changed, nil
}

func (d *Disk) settle(filled int64, released int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pending -= filled
	d.live -= released
	if d.changed != nil {
		close(d.changed)
		d.changed = nil
	}
}

// IsSpace reports whether an error says that a disk or a quota is full.
func IsSpace(err error) bool {
	var space *SpaceError
	return errors.As(err, &space) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}
