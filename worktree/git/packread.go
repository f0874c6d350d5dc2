package git

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

const (
	// bucketRead is how many names of an index are read at once.
	bucketRead = 128
	// deltaDepth is how long a chain of deltas may be; git makes 50, and
	// never more than this.
	deltaDepth = 4096
	// baseBytes bounds the kept objects that others are deltas of.
	baseBytes = 8 << 20
)

// The layout of an index: a header, how many names start with each byte or
// less, then names, checksums and places.
const (
	idxMagic  = "\xfftOc\x00\x00\x00\x02"
	idxFanout = len(idxMagic)
	idxNames  = idxFanout + 256*4
)

// pack is a pack and its index.
type pack struct {
	path   string // without the ending
	idLen  int
	idx    *storedFile
	data   *storedFile // nil until something is read
	fanout [256]uint32
}

func openPack(path string, idLen int) (*pack, error) {
	idx, err := openStored(path + ".idx")
	if err != nil {
		return nil, err
	}
	p := &pack{path: path, idLen: idLen, idx: idx}
	if err := p.readFanout(); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// readFanout reads the number of names per first byte and checks that we can
// read the index.
func (p *pack) readFanout() error {
	var head [idxNames]byte
	if _, err := p.idx.ReadAt(head[:], 0); err != nil {
		return err
	}
	if string(head[:idxFanout]) != idxMagic {
		return errors.New("not an index of version 2")
	}
	last := uint32(0)
	for i := range p.fanout {
		n := binary.BigEndian.Uint32(head[idxFanout+4*i:])
		if p.fanout[i] = n; n < last {
			return errors.New("an index that is not in order")
		}
		last = n
	}
	if least := int64(idxNames) + int64(last)*int64(p.idLen+8); p.idx.size < least {
		return errors.New("an index that is cut off")
	}
	return nil
}

func (p *pack) close() error { return errors.Join(p.idx.close(), p.data.close()) }

// find is where an object starts in the pack.
func (p *pack) find(id []byte) (at int64, ok bool, err error) {
	high := int(p.fanout[id[0]])
	low := 0
	if id[0] > 0 {
		low = int(p.fanout[id[0]-1])
	}
	var name [sha256Len]byte
	for high-low > bucketRead {
		mid := low + (high-low)/2
		if _, err := p.idx.ReadAt(name[:p.idLen], p.namePlace(mid)); err != nil {
			return 0, false, err
		}
		if bytes.Compare(name[:p.idLen], id) <= 0 {
			low = mid
		} else {
			high = mid
		}
	}
	if low == high {
		return 0, false, nil
	}
	names := make([]byte, (high-low)*p.idLen)
	if _, err := p.idx.ReadAt(names, p.namePlace(low)); err != nil {
		return 0, false, err
	}
	i := sort.Search(high-low, func(i int) bool { return bytes.Compare(names[i*p.idLen:(i+1)*p.idLen], id) >= 0 })
	if i == high-low || !bytes.Equal(names[i*p.idLen:(i+1)*p.idLen], id) {
		return 0, false, nil
	}
	at, err = p.place(low + i)
	return at, err == nil, err
}

func (p *pack) namePlace(i int) int64 { return int64(idxNames) + int64(i)*int64(p.idLen) }

// place reads the offset of the object at a line of the index. An offset beyond
// 2 GB is in a separate table.
func (p *pack) place(i int) (int64, error) {
	count := int64(p.fanout[255])
	places := p.namePlace(int(count)) + 4*count
	var short [4]byte
	if _, err := p.idx.ReadAt(short[:], places+4*int64(i)); err != nil {
		return 0, err
	}
	at := binary.BigEndian.Uint32(short[:])
	if at&(1<<31) == 0 {
		return int64(at), nil
	}
	var long [8]byte
	if _, err := p.idx.ReadAt(long[:], places+4*count+8*int64(at&^(1<<31))); err != nil {
		return 0, err
	}
	if far := binary.BigEndian.Uint64(long[:]); far < 1<<62 {
		return int64(far), nil
	}
	return 0, errors.New("an index with a place that no file has")
}

// spot is a place in a pack.
type spot struct {
	pack *pack
	at   int64
}

// unpacked is an object as a pack had it.
type unpacked struct {
	kind string
	raw  []byte
}

// baseCache keeps objects that others are deltas of.
type baseCache struct {
	held  map[spot]unpacked
	bytes int
}

func (c *baseCache) put(s spot, o unpacked) {
	if _, ok := c.held[s]; ok {
		return
	}
	if c.bytes += len(o.raw); c.held == nil || c.bytes > baseBytes {
		c.held, c.bytes = map[spot]unpacked{}, len(o.raw)
	}
	c.held[s] = o
}

// packed reads an object of a pack.
func (f *objectFiles) packed(w want, s spot) ([]byte, error) {
	if s.pack.data == nil {
		data, err := openStored(s.pack.path + ".pack")
		if err != nil {
			return nil, err
		}
		s.pack.data = data
	}
	o, size, err := f.unpack(s, w.limit, 0)
	if err != nil {
		return nil, err
	}
	if o.kind != w.kind || o.raw == nil {
		return w.take(o.kind, size, nil)
	}
	return o.raw, nil
}

// unpack reads an entry of a pack and the base of its delta. It omits the
// content of an entry that is larger than the limit.
func (f *objectFiles) unpack(s spot, limit int64, depth int) (o unpacked, size int64, err error) {
	if depth > deltaDepth {
		return o, 0, errors.New("a chain of deltas without an end")
	}
	if held, ok := f.bases.held[s]; ok && int64(len(held.raw)) <= limit {
		return held, int64(len(held.raw)), nil
	}
	e, err := f.entry(s)
	if err != nil {
		return o, 0, fmt.Errorf("read %s: %w", s.pack.path, err)
	}
	if e.base.pack == nil {
		o.kind = e.kind
		if e.size <= limit {
			o.raw, err = f.inflate(e.size)
		}
		return o, e.size, err
	}
	if e.size > treeLimit {
		return o, 0, errors.New("a delta that is too large to hold")
	}
	delta, err := f.inflate(e.size)
	if err != nil {
		return o, 0, err
	}
	base, baseSize, err := f.unpack(e.base, treeLimit, depth+1)
	switch {
	case err != nil:
		return o, 0, err
	case base.raw == nil:
		return o, 0, fmt.Errorf("a delta of an object of %d bytes", baseSize)
	}
	f.bases.put(e.base, base)
	o.kind = base.kind
	_, n := binary.Uvarint(delta)
	made, m := binary.Uvarint(delta[max(n, 0):])
	if n <= 0 || m <= 0 || made > 1<<62 {
		return o, 0, errors.New("a delta that does not say its size")
	}
	if int64(made) > limit {
		return o, int64(made), nil
	}
	if o.raw, err = packfile.PatchDelta(base.raw, delta); err == nil && o.raw == nil {
		o.raw = []byte{}
	}
	return o, int64(len(o.raw)), err
}

// entry is the head of an entry of a pack. Its content is read next.
type entry struct {
	kind string
	base spot // of a delta; without a pack: it is none
	size int64
}

// entry reads the head of an entry.
func (f *objectFiles) entry(s spot) (e entry, err error) {
	if s.at < 0 || s.at >= s.pack.data.size {
		return e, errors.New("an object beyond its end")
	}
	section := io.NewSectionReader(s.pack.data, s.at, s.pack.data.size-s.at)
	if f.text == nil {
		f.text = bufio.NewReader(section)
	} else {
		f.text.Reset(section)
	}
	c, err := f.text.ReadByte()
	if err != nil {
		return e, err
	}
	kind := plumbing.ObjectType(c >> 4 & 7)
	e.size = int64(c & 15)
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = f.text.ReadByte(); err != nil || shift > 50 {
			return e, errors.Join(err, errors.New("an object without a size"))
		}
		e.size |= int64(c&0x7f) << shift
	}
	switch kind {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
		e.kind = kind.String()
		return e, nil
	case plumbing.OFSDeltaObject:
		back, err := backward(f.text)
		e.base = spot{pack: s.pack, at: s.at - back}
		return e, err
	case plumbing.REFDeltaObject:
		id := make([]byte, s.pack.idLen)
		if _, err := io.ReadFull(f.text, id); err != nil {
			return e, err
		}
		at, ok, err := s.pack.find(id)
		if err == nil && !ok {
			err = fmt.Errorf("a delta of %s, which it does not have: %w", hex.EncodeToString(id), errForeignBase)
		}
		e.base = spot{pack: s.pack, at: at}
		return e, err
	}
	return e, fmt.Errorf("an object of kind %d", kind)
}

// errForeignBase is for git to look into: packs on disk have their bases.
var errForeignBase = errors.New("the pack is thin")

// backward reads how far before a delta its base is.
func backward(r io.ByteReader) (int64, error) {
	c, err := r.ReadByte()
	n := int64(c & 0x7f)
	for err == nil && c&0x80 != 0 && n < 1<<48 {
		c, err = r.ReadByte()
		n = (n+1)<<7 | int64(c&0x7f)
	}
	if err == nil && n == 0 {
		err = errors.New("a delta of itself")
	}
	return n, err
}

// inflate reads the content of the entry whose head was read last.
func (f *objectFiles) inflate(size int64) ([]byte, error) {
	var err error
	if f.zip == nil {
		f.zip, err = zlib.NewReader(f.text)
	} else {
		err = f.zip.(zlib.Resetter).Reset(f.text, nil)
	}
	if err != nil {
		return nil, err
	}
	raw := make([]byte, size)
	if _, err := io.ReadFull(f.zip, raw); err != nil {
		return nil, err
	}
	// The end of the stream holds its checksum.
	if n, err := f.zip.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, errors.New("an object that is longer than it says"))
	}
	return raw, nil
}

// sha256Len is how long the longest names of objects are.
const sha256Len = 32

// bytes is the name as files hold it.
func (h Hash) bytes() []byte {
	// Only names that were checked get here.
	id, _ := hex.DecodeString(string(h))
	return id
}
