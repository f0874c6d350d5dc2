package bases

import (
	"encoding/hex"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
)

// settle gives files of a base the times that when names, and writes an index that
// knows them. It leaves out files for which when reports false. It returns about
// how many bytes the base takes on disk.
func (s *Store) settle(b *Base, when func(e *git.IndexEntry) (time.Time, bool)) (size int64, err error) {
	text, err := os.ReadFile(b.Index())
	if err != nil {
		return 0, err
	}
	f := &disk.Folders{Root: b.Tree()}
	defer func() { err = errors.Join(err, f.Close()) }()
	var failed error
	text, err = s.Repo.Restat(text, func(e *git.IndexEntry) (git.IndexStat, bool) {
		changed, own := when(e)
		if !own {
			return git.IndexStat{}, false
		}
		at, name, err := f.Enter(e.Path)
		var stat unix.Stat_t
		if err == nil {
			stat, err = disk.SetTime(at, name, unix.NsecToTimespec(changed.UnixNano()))
		}
		if err != nil {
			failed = errors.Join(failed, &os.PathError{Op: "settle", Path: e.Path, Err: err})
			return git.IndexStat{}, false
		}
		size += disk.Blocks(stat.Size)
		return git.StatOf(&stat), true
	})
	if err = errors.Join(err, failed); err != nil {
		return 0, err
	}
	return size + int64(len(text)), disk.WriteFile(b.Index(), text)
}

// The modification times of files in bases lie long ago, so that git takes no
// file for changed within its tick. Tools such as go test keep results by the
// size, the mode and the time of the files that a test read, and not by their
// content. So a path has different times where it has different content:
//
//   - All files of a base that was checked out as a whole have a time that is
//     derived from its tree. The times are equal, since make compares them.
//   - Changed files of a layer have a time derived from their blob. It is later
//     than that of the unchanged files below them, as make expects.
const (
	wholeSecond = 1_000_000_000        // the earliest time of a whole base
	layerSecond = wholeSecond + spread // the earliest time of a changed file
	spread      = 1 << secondBits      // seconds that the times of either kind take
	secondBits  = 16                   // of an id become seconds: not all file systems have nanoseconds
	nanoBits    = 28                   // of an id become nanoseconds, less than a second
	idDigits    = 12                   // hexadecimal, with all of these bits
)

// timesVersion is part of the names of bases. A base whose files have the times of
// an earlier version is not used.
const timesVersion = "times 2\n"

// longAgo is before the times of all files of bases.
func longAgo() time.Time { return time.Unix(wholeSecond-1, 0) }

// WholeTime is the time of all files of a base with this tree that was checked
// out as a whole.
func WholeTime(tree git.Hash) time.Time { return timeOf(wholeSecond, tree) }

// layerTime is the time of a changed file of a layer.
func layerTime(blob git.Hash) time.Time { return timeOf(layerSecond, blob) }

// timeOf spreads ids over the times that follow a second.
func timeOf(second int64, id git.Hash) time.Time {
	var bits int64
	digits, err := hex.DecodeString(string(id[:min(len(id), idDigits)]))
	if err != nil {
		return time.Unix(second, 0)
	}
	for _, b := range digits {
		bits = bits<<8 | int64(b)
	}
	return time.Unix(second+bits>>nanoBits&(spread-1), bits&(1<<nanoBits-1))
}
