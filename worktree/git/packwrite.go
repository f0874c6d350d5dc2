package git

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// packedAt is an object as the index of its pack has it.
type packedAt struct {
	id  Hash
	at  uint32 // packs that we write are small
	sum uint32
}

// tiny is the size up to which content is not compressed: the header of the
// compression would be longer than the saving. Most deltas are so small.
const tiny = 128

// writePack puts held objects into a pack of the quarantine.
func writePack(q *Quarantine, h *held) error {
	newSum := sha1.New
	if q.repo.ObjectFormat == "sha256" {
		newSum = sha256.New
	}
	data, places, err := encodePack(h, newSum())
	if err != nil {
		return err
	}
	trailer := data[len(data)-newSum().Size():]
	index := encodeIndex(places, trailer, newSum())
	stem := filepath.Join(q.Dir, "pack", "pack-"+hex.EncodeToString(trailer))
	// A pack is there once its index is.
	if err := writeWhole(stem+".pack", data); err != nil {
		return err
	}
	return writeWhole(stem+".idx", index)
}

// encodePack is the content of a pack, and where its objects lie.
func encodePack(h *held, sum hash.Hash) ([]byte, []packedAt, error) {
	var b bytes.Buffer
	b.WriteString("PACK\x00\x00\x00\x02")
	b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(h.order))))
	quick, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	if err != nil {
		return nil, nil, err
	}
	asIs, err := zlib.NewWriterLevel(&b, zlib.NoCompression)
	if err != nil {
		return nil, nil, err
	}
	places := make([]packedAt, 0, len(h.order))
	starts := make(map[Hash]int, len(h.order))
	for _, id := range h.order {
		o, start := h.objects[id], b.Len()
		starts[id] = start
		kind, err := plumbing.ParseObjectType(o.kind)
		if err != nil {
			return nil, nil, err
		}
		text, back := o.raw, 0
		if o.was != "" {
			if delta := encodeDelta(h.objects[o.was].raw, o.raw); len(delta) < len(o.raw)/2 {
				kind, text, back = plumbing.OFSDeltaObject, delta, start-starts[o.was]
			}
		}
		b.Write(entryHead(kind, len(text), back))
		z := quick
		if len(text) <= tiny {
			z = asIs
		}
		z.Reset(&b)
		if _, err := z.Write(text); err != nil {
			return nil, nil, err
		}
		if err := z.Close(); err != nil {
			return nil, nil, err
		}
		places = append(places, packedAt{id: id, at: uint32(start), sum: crc32.ChecksumIEEE(b.Bytes()[start:])})
	}
	sum.Write(b.Bytes())
	return sum.Sum(b.Bytes()), places, nil
}

// entryHead encodes the header of an entry: its kind, its size, and the
// distance back to the base of a delta.
func entryHead(kind plumbing.ObjectType, size, back int) []byte {
	var head []byte
	c := byte(kind)<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		head = append(head, c|0x80)
		c = byte(size & 0x7f)
	}
	head = append(head, c)
	if back == 0 {
		return head
	}
	// Seven bits a byte, the highest first. Each byte but the last is encoded
	// as its value less 1.
	far := []byte{byte(back & 0x7f)}
	for back >>= 7; back > 0; back >>= 7 {
		back--
		far = append(far, byte(back&0x7f)|0x80)
	}
	slices.Reverse(far)
	return append(head, far...)
}

// encodeDelta describes how to make one content from another. It copies their
// common beginning and end, and gives the bytes between. So a tree is described
// by its changed entries, if they stand together.
func encodeDelta(from, to []byte) []byte {
	short := min(len(from), len(to))
	head := 0
	for head < short && from[head] == to[head] {
		head++
	}
	tail := 0
	for tail < short-head && from[len(from)-1-tail] == to[len(to)-1-tail] {
		tail++
	}
	delta := binary.AppendUvarint(nil, uint64(len(from)))
	delta = binary.AppendUvarint(delta, uint64(len(to)))
	delta = appendCopies(delta, 0, head)
	for part := range slices.Chunk(to[head:len(to)-tail], 127) {
		delta = append(append(delta, byte(len(part))), part...)
	}
	return appendCopies(delta, len(from)-tail, tail)
}

// appendCopies says to copy n bytes from a place on.
func appendCopies(delta []byte, at, n int) []byte {
	const most = 0xffff
	for ; n > 0; n, at = n-most, at+most {
		size := min(n, most)
		delta = append(delta, 0x80|0x0f|0x30,
			byte(at), byte(at>>8), byte(at>>16), byte(at>>24), byte(size), byte(size>>8))
	}
	return delta
}

// encodeIndex is the content of an index of version 2.
func encodeIndex(places []packedAt, trailer []byte, sum hash.Hash) []byte {
	slices.SortFunc(places, func(a, b packedAt) int { return strings.Compare(string(a.id), string(b.id)) })
	out := []byte(idxMagic)
	var fanout [256]uint32
	var names, sums, starts []byte
	for _, p := range places {
		id := p.id.bytes()
		fanout[id[0]]++
		names = append(names, id...)
		sums = binary.BigEndian.AppendUint32(sums, p.sum)
		starts = binary.BigEndian.AppendUint32(starts, p.at)
	}
	upTo := uint32(0)
	for _, n := range fanout {
		upTo += n
		out = binary.BigEndian.AppendUint32(out, upTo)
	}
	out = slices.Concat(out, names, sums, starts, trailer)
	sum.Write(out)
	return sum.Sum(out)
}

// writeWhole writes a file that is there whole or not at all.
func writeWhole(path string, text []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "tmp_pack_")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(0o444), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
