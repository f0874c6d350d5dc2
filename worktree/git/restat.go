package git

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
)

// IndexStat is what an index keeps of a file on disk, cut to 32 bits.
type IndexStat struct {
	CTime, MTime IndexTime
	Dev, Inode   uint32
	UID, GID     uint32
	Size         uint32
}

// Restat gives the entries of an index file what files look like on disk,
// without reading any of them: the caller knows that their content is the
// entry's. Where statOf answers false an entry stays as it is.
func (r *Repo) Restat(index []byte, statOf func(path string) (IndexStat, bool)) ([]byte, error) {
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
		s, ok := statOf(e.Path)
		if !ok || e.SkipWorktree {
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
