package diskwatch

import "time"

// sample is the space of a file system at a time.
type sample struct {
	Space
	at time.Time
}

// disk is a file system under watch.
//
// While it is not low, two earlier samples are kept: the loss counts from a
// sample that is at least a window old, if there is any. While it is low, these
// samples stay, so that a short large loss is not forgotten. Each time that
// half of the space is gone since, the loss counts from the sample before.
type disk struct {
	last    sample
	earlier sample    // the loss counts from here
	recent  sample    // follows earlier; while the disk is low, the first low sample
	low     bool      // at the last sample
	stopped *Space    // the sample when an agent was stopped; nil: none was
	due     time.Time // when folders may be walked next
}

// window is the least age at which a newer sample replaces a sample.
const window = time.Minute

// take adds a sample, and reports whether the file system is low.
func (d *disk) take(s sample) bool {
	before := d.last
	if before.Total == 0 {
		d.earlier, d.recent = s, s
	}
	d.last = s
	was := d.low
	d.low = s.low(before.Space)
	switch {
	case !d.low:
		d.stopped = nil
		if was {
			d.earlier, d.recent = s, s
		} else if s.at.Sub(d.recent.at) >= window {
			d.earlier, d.recent = d.recent, s
		}
	case !was:
		d.recent = s
	case !d.recent.empty() && s.below(d.recent.Space):
		d.earlier, d.recent = d.recent, s
	}
	return d.low
}

// lost returns how much the file system lost, in bytes or inodes, and since when.
func (d *disk) lost(inodes bool) (since time.Time, n int64) {
	if inodes {
		return d.earlier.at, d.earlier.Inodes - d.last.Inodes
	}
	return d.earlier.at, d.earlier.Free - d.last.Free
}
