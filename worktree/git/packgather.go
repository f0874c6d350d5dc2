package git

import (
	"bytes"
	"crypto/rand"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// Landed are packs that entered a repository one by one. Every git, also the
// user's, opens the index of each pack. Landed joins the packs now and then,
// and at the end.
//
// Their objects stay in the repository at every moment: old packs are removed
// once the new pack is on the disk. A process that dies leaves good packs.
type Landed struct {
	repo *Repo
	line string // of the .keep files of the packs; empty: they have none

	mu    sync.Mutex // guards the fields below; held while packs are joined
	small []string   // without the ending
	made  []string   // of small ones
}

// Landed begins with none.
func (r *Repo) Landed() *Landed { return &Landed{repo: r} }

const (
	// packsApart is the number of packs from which they are joined.
	packsApart = 32
	// maxGather bounds the size of a pack that is joined, in bytes. A joined
	// pack has about this size.
	maxGather = 16 << 20
)

// note records a pack whose objects are all held by refs. All packs of a Landed
// have the same line in their .keep files, if any.
func (l *Landed) note(stem, line string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line = line
	if l.repo.ObjectFormat == "sha256" || slices.Contains(l.small, stem) {
		return nil
	}
	if l.small = append(l.small, stem); len(l.small) < packsApart {
		return nil
	}
	small := l.small
	l.small = nil
	return l.gather(small)
}

// Gather joins the packs into one, or into a few if they are large.
func (l *Landed) Gather() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	all := slices.Concat(l.made, l.small)
	l.made, l.small = nil, nil
	return l.gather(all)
}

// gather joins packs. It skips packs that are gone, that another process uses
// to land the same objects, or whose format we cannot join.
func (l *Landed) gather(stems []string) error {
	var some []*wholePack
	size := 0
	for i, stem := range stems {
		p, err := readWhole(stem, l.line)
		if err != nil {
			continue // git reports its damage
		}
		some, size = append(some, p), size+len(p.data)
		if size < maxGather && i < len(stems)-1 {
			continue
		}
		if err := l.join(some); err != nil {
			return fmt.Errorf("make %d packs one: %w", len(some), err)
		}
		some, size = nil, 0
	}
	if len(some) == 0 {
		return nil
	}
	if err := l.join(some); err != nil {
		return fmt.Errorf("make %d packs one: %w", len(some), err)
	}
	return nil
}

// join writes the content of packs into a new pack and removes them.
func (l *Landed) join(packs []*wholePack) error {
	if len(packs) == 1 {
		l.made = append(l.made, packs[0].stem)
		return nil
	}
	data, places := joined(packs)
	sum := sha1.Sum(data)
	data = append(data, sum[:]...)
	dir := filepath.Join(l.repo.CommonDir, "objects", "pack")
	stem := filepath.Join(dir, "pack-"+hex.EncodeToString(sum[:]))
	if l.line != "" {
		stem = filepath.Join(dir, l.repo.newPackName())
		if err := writeKeep(stem+".keep", l.line); err != nil {
			return err
		}
	}
	// The index last: by it git knows that there is a pack.
	if err := writeDurable(stem+".pack", data); err != nil {
		return err
	}
	if err := writeDurable(stem+".idx", encodeIndex(places, sum[:], sha1.New())); err != nil {
		return err
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	l.made = append(l.made, stem)
	for _, p := range packs {
		if p.stem == stem {
			continue // the new pack and this pack are the same
		}
		if err := p.remove(l.line); err != nil {
			return err
		}
	}
	return nil
}

// wholePack is a pack in memory none of whose objects needs another.
type wholePack struct {
	stem    string
	data    []byte
	objects []packedAt // by where they are
}

// errLeaveIt says that a pack is none that is joined with others.
var errLeaveIt = errors.New("not a pack to be joined")

// readWhole reads a pack and checks it against its index.
func readWhole(stem, line string) (*wholePack, error) {
	if !keptBy(stem, line) {
		return nil, errLeaveIt
	}
	at, err := os.Lstat(stem + ".pack")
	if err != nil {
		return nil, err
	}
	if at.Size() > maxGather || !at.Mode().IsRegular() {
		return nil, errLeaveIt
	}
	p := &wholePack{stem: stem}
	if p.data, err = os.ReadFile(stem + ".pack"); err != nil {
		return nil, err
	}
	index, err := os.ReadFile(stem + ".idx")
	if err != nil {
		return nil, err
	}
	return p, p.read(index)
}

// read finds the objects by the index.
func (p *wholePack) read(index []byte) error {
	const packHeader, own = 12, sha1.Size
	if len(index) < idxNames+2*own || string(index[:idxFanout]) != idxMagic || len(p.data) < packHeader+own {
		return errLeaveIt
	}
	n := int(binary.BigEndian.Uint32(index[idxNames-4:]))
	// A longer index has a table of offsets beyond 2 GB.
	if len(index) != idxNames+n*(own+8)+2*own || binary.BigEndian.Uint32(p.data[8:]) != uint32(n) {
		return errLeaveIt
	}
	end := len(p.data) - own
	if sum := sha1.Sum(p.data[:end]); !bytes.Equal(sum[:], p.data[end:]) ||
		!bytes.Equal(sum[:], index[len(index)-2*own:len(index)-own]) {
		return errLeaveIt
	}
	names, sums, places := index[idxNames:], index[idxNames+n*own:], index[idxNames+n*(own+4):]
	for i := range n {
		p.objects = append(p.objects, packedAt{
			id: Hash(hex.EncodeToString(names[i*own : (i+1)*own])),
			at: binary.BigEndian.Uint32(places[4*i:]), sum: binary.BigEndian.Uint32(sums[4*i:]),
		})
	}
	slices.SortFunc(p.objects, func(a, b packedAt) int { return int(a.at) - int(b.at) })
	for i, o := range p.objects {
		next := p.next(i)
		if int(o.at) < packHeader || int(o.at) >= next || next > end || crc32.ChecksumIEEE(p.data[o.at:next]) != o.sum {
			return errLeaveIt
		}
		if kind := plumbing.ObjectType(p.data[o.at] >> 4 & 7); kind < plumbing.CommitObject || kind > plumbing.TagObject {
			return errLeaveIt // a delta: its base may be stored differently in another pack
		}
	}
	return nil
}

// next is the offset of the object that follows.
func (p *wholePack) next(i int) int {
	if i+1 < len(p.objects) {
		return int(p.objects[i+1].at)
	}
	return len(p.data) - sha1.Size
}

// remove removes the pack, the index first, as git finds the pack by its index.
// It keeps a pack that another process began to land meanwhile.
func (p *wholePack) remove(line string) error {
	if !keptBy(p.stem, line) {
		return nil
	}
	return removeFiles(p.stem+".idx", p.stem+".pack", p.stem+".keep")
}

// keptBy reports whether the .keep file of a pack has exactly this line. With an
// empty line it reports whether there is no such file. A random word may end the
// line.
func keptBy(stem, line string) bool {
	text, err := os.ReadFile(stem + ".keep")
	if line == "" || err != nil {
		return line == "" && errors.Is(err, fs.ErrNotExist)
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(string(text)), line)
	return ok && !strings.Contains(rest, "\n") && (rest == "" || rest[0] == ' ')
}

// joined is a pack, without its sum, of all that packs hold, each object once.
func joined(packs []*wholePack) ([]byte, []packedAt) {
	var b bytes.Buffer
	b.WriteString("PACK\x00\x00\x00\x02\x00\x00\x00\x00")
	var places []packedAt
	known := map[Hash]bool{}
	for _, p := range packs {
		for i, o := range p.objects {
			if known[o.id] {
				continue
			}
			known[o.id] = true
			places = append(places, packedAt{id: o.id, at: uint32(b.Len()), sum: o.sum})
			b.Write(p.data[o.at:p.next(i)])
		}
	}
	data := b.Bytes()
	binary.BigEndian.PutUint32(data[8:], uint32(len(places)))
	return data, places
}

// writeDurable writes a file and syncs it to the disk before it gets its name.
// An existing file of that name has the same content.
func writeDurable(path string, text []byte) (err error) {
	// Git removes files of such names that a crash left.
	temp := filepath.Join(filepath.Dir(path), "tmp_pack_"+rand.Text())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(temp))
	}
	return err
}

// syncFile puts a file that another process wrote on the disk.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrPermission) {
		f, err = os.Open(path)
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// stemOf is the path of a pack by that of a file beside it.
func stemOf(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) }
