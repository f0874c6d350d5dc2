package git

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// IndexStat is the index's record of a file on disk, cut to 32 bits.
type IndexStat struct {
	CTime, MTime IndexTime
	Dev, Inode   uint32
	UID, GID     uint32
	Size         uint32
}

// StatOf is the index's record of a file with this status.
func StatOf(s *unix.Stat_t) IndexStat {
	return IndexStat{
		CTime: IndexTime{Sec: uint32(s.Ctim.Sec), Nano: uint32(s.Ctim.Nsec)},
		MTime: IndexTime{Sec: uint32(s.Mtim.Sec), Nano: uint32(s.Mtim.Nsec)},
		Dev:   uint32(s.Dev), Inode: uint32(s.Ino), UID: s.Uid, GID: s.Gid, Size: uint32(s.Size),
	}
}

// submodule is the mode of a submodule's entry.
const submodule = 0o160000

// Restat sets the status of an index's entries to that of the files on disk,
// without a read of the files: the caller knows that their content is the
// entry's. It skips files outside of a sparse checkout and submodules. If
// statOf answers false an entry stays as it is.
func (r *Repo) Restat(index []byte, statOf func(e *IndexEntry) (IndexStat, bool)) ([]byte, error) {
	idLen := r.hexLen() / 2
	if _, err := parseIndex(index, idLen); err != nil {
		return nil, err
	}
	out := append([]byte(nil), index...)
	version, n := binary.BigEndian.Uint32(out[4:]), binary.BigEndian.Uint32(out[8:])
	p := indexParser{rest: out[12 : len(out)-idLen], idLen: idLen, version: version}
	for range n {
		at := p.rest
		e, err := p.entry()
		if err != nil {
			return nil, err
		}
		if e.SkipWorktree || e.Mode == submodule {
			continue
		}
		s, ok := statOf(&e)
		if !ok {
			continue
		}
		// The mode, the seventh, is git's and not the disk's.
		for i, v := range []uint32{s.CTime.Sec, s.CTime.Nano, s.MTime.Sec, s.MTime.Nano, s.Dev, s.Inode} {
			binary.BigEndian.PutUint32(at[4*i:], v)
		}
		for i, v := range []uint32{s.UID, s.GID, s.Size} {
			binary.BigEndian.PutUint32(at[28+4*i:], v)
		}
	}
	body := out[:len(out)-idLen]
	if idLen == sha256.Size {
		sum := sha256.Sum256(body)
		copy(out[len(body):], sum[:])
	} else {
		sum := sha1.Sum(body)
		copy(out[len(body):], sum[:])
	}
	return out, nil
}
