package git

import (
	"bytes"
	"compress/zlib"
	"crypto/rand"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// Pack is a pack that grows in a quarantine without a process. Git sees its
// objects once it is closed.
//
// It is for repositories whose objects have sha1 names.
type Pack struct {
	q      *Quarantine
	file   *os.File
	zip    *zlib.Writer
	size   int64
	places []packed
	known  map[Hash]bool
	path   string // without its ending, once it is closed
	name   string // made from its content, once it is closed
	synced chan error
}

// packed is where an object lies in a pack.
type packed struct {
	name   [sha1.Size]byte
	sum    uint32
	offset int64
}

// maxPack is how long a pack may be whose index has offsets of 31 bits.
const maxPack = 1<<31 - 1

// LargePackError says that a pack would be longer than we write them.
type LargePackError struct{ Size int64 }

func (e *LargePackError) Error() string { return fmt.Sprintf("a pack of %d bytes", e.Size) }

// CanPack reports whether the objects of the repository can be packed in
// process.
func (q *Quarantine) CanPack() bool { return q.repo.ObjectFormat != "sha256" }

// Pack begins a pack. It is closed or discarded in the end.
func (q *Quarantine) Pack() (*Pack, error) {
	// As for a pack of git, the umask decides who else may read it.
	if err := q.Make(); err != nil {
		return nil, err
	}
	path := filepath.Join(q.Dir, "pack", "tmp_pack_"+rand.Text())
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return nil, fmt.Errorf("begin a pack: %w", err)
	}
	zip, ok := q.zips.Get().(*zlib.Writer)
	if !ok {
		zip = zlib.NewWriter(io.Discard)
	}
	p := &Pack{q: q, file: f, zip: zip, known: map[Hash]bool{}}
	if err := p.write([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x00")); err != nil {
		return nil, errors.Join(fmt.Errorf("begin a pack: %w", err), p.Discard())
	}
	return p, nil
}

func (p *Pack) write(b []byte) error {
	n, err := p.file.Write(b)
	p.size += int64(n)
	return err
}

// Name is the name that a blob with this content has.
func (p *Pack) Name(blob []byte) Hash {
	return Hash(plumbing.ComputeHash(plumbing.BlobObject, blob).String())
}

// Blob puts a blob into the pack.
func (p *Pack) Blob(raw []byte) (Hash, error) { return p.add(plumbing.BlobObject, raw) }

// Tree puts a tree into the pack.
func (p *Pack) Tree(entries []TreeEntry) (Hash, error) {
	raw, err := encodeTree(entries)
	if err != nil {
		return "", fmt.Errorf("write tree: %w", err)
	}
	return p.add(plumbing.TreeObject, raw)
}

// Commit puts a commit into the pack, byte for byte as CommitTree would make
// it.
func (p *Pack) Commit(c CommitRequest) (Hash, error) {
	raw, err := c.encode()
	if err != nil {
		return "", err
	}
	return p.add(plumbing.CommitObject, raw)
}

func (p *Pack) add(kind plumbing.ObjectType, raw []byte) (Hash, error) {
	name := plumbing.ComputeHash(kind, raw)
	h := Hash(name.String())
	if p.known[h] {
		return h, nil
	}
	var b bytes.Buffer
	b.Write(packHead(kind, len(raw)))
	p.zip.Reset(&b)
	_, err := p.zip.Write(raw)
	if err = errors.Join(err, p.zip.Close()); err != nil {
		return "", fmt.Errorf("pack a %s: %w", kind, err)
	}
	if size := p.size + int64(b.Len()); size > maxPack {
		return "", &LargePackError{Size: size}
	}
	p.places = append(p.places, packed{name: name, sum: crc32.ChecksumIEEE(b.Bytes()), offset: p.size})
	p.known[h] = true
	if err := p.write(b.Bytes()); err != nil {
		return "", fmt.Errorf("pack a %s: %w", kind, err)
	}
	return h, nil
}

// packHead is kind and length of an object (gitformat-pack(5)): four bits of
// the length, then seven a byte.
func packHead(kind plumbing.ObjectType, size int) []byte {
	first := byte(kind)<<4 | byte(size&0xf)
	var head []byte
	for size >>= 4; size > 0; size >>= 7 {
		head = append(head, first|0x80)
		first = byte(size & 0x7f)
	}
	return append(head, first)
}

// Close ends the pack and lets git see it.
func (p *Pack) Close() error {
	if err := p.finish(); err != nil {
		return errors.Join(fmt.Errorf("end a pack: %w", err), p.Discard())
	}
	return nil
}

func (p *Pack) finish() error {
	p.zip.Reset(io.Discard)
	p.q.zips.Put(p.zip)
	p.zip = nil
	var count [4]byte
	binary.BigEndian.PutUint32(count[:], uint32(len(p.places)))
	if _, err := p.file.WriteAt(count[:], 8); err != nil {
		return err
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	sum := sha1.New()
	if _, err := io.Copy(sum, p.file); err != nil {
		return err
	}
	trailer := sum.Sum(nil)
	if err := p.write(trailer); err != nil {
		return err
	}
	p.name = "pack-" + hex.EncodeToString(trailer)
	// Others may make the same here, and take it away again.
	path := filepath.Join(p.q.Dir, "pack", "pack-"+rand.Text())
	index, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	_, err = index.Write(p.index(trailer))
	if err == nil {
		err = os.Rename(p.file.Name(), path+".pack")
	}
	if err == nil {
		err = os.Rename(path+".tmp", path+".idx")
	}
	if err != nil {
		return errors.Join(err, index.Close(), removeFiles(path+".tmp", path+".pack"))
	}
	p.path, p.synced = path, make(chan error, 1)
	// Git reads it meanwhile. A landing or a removal waits for this.
	go func() {
		p.synced <- errors.Join(index.Sync(), index.Close(), p.file.Sync(), p.file.Close())
	}()
	return nil
}

// removeFiles removes files; a missing file is no error.
func removeFiles(paths ...string) (err error) {
	for _, path := range paths {
		if rerr := os.Remove(path); !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}

// wait waits until the closed pack is on the disk.
func (p *Pack) wait() error {
	if p.synced == nil {
		return nil
	}
	err := <-p.synced
	p.synced = nil
	return err
}

// Show lets git see the closed pack in another quarantine, too.
func (p *Pack) Show(q *Quarantine) error {
	if err := q.Make(); err != nil {
		return err
	}
	to := filepath.Join(q.Dir, "pack", p.name)
	return errors.Join(place(p.path+".pack", to+".pack"), place(p.path+".idx", to+".idx"))
}

// index is the index of the pack, version 2.
func (p *Pack) index(trailer []byte) []byte {
	slices.SortFunc(p.places, func(a, b packed) int { return bytes.Compare(a.name[:], b.name[:]) })
	var fan [256]uint32
	for _, o := range p.places {
		fan[o.name[0]]++
	}
	b := []byte("\xfftOc\x00\x00\x00\x02")
	var sum uint32
	for _, n := range fan {
		sum += n
		b = binary.BigEndian.AppendUint32(b, sum)
	}
	for _, o := range p.places {
		b = append(b, o.name[:]...)
	}
	for _, o := range p.places {
		b = binary.BigEndian.AppendUint32(b, o.sum)
	}
	for _, o := range p.places {
		b = binary.BigEndian.AppendUint32(b, uint32(o.offset))
	}
	b = append(b, trailer...)
	own := sha1.Sum(b)
	return append(b, own[:]...)
}

// Discard removes the pack from its quarantine. Packs that landed stay.
func (p *Pack) Discard() error {
	if p.path != "" {
		return errors.Join(p.wait(), os.Remove(p.path+".idx"), os.Remove(p.path+".pack"))
	}
	err := p.file.Close()
	if errors.Is(err, os.ErrClosed) {
		err = nil
	}
	return errors.Join(err, removeFiles(p.file.Name()))
}

// land puts the closed pack into the repository, kept until a ref holds its
// objects. With a line it stays kept, under a name that no other pack has. It
// returns the path of the .keep file that it made, or "" if such a pack was
// kept already.
func (p *Pack) land(line string) (keep string, err error) {
	if err := p.wait(); err != nil {
		return "", err
	}
	name, keepIt := p.name, p.keep
	if line != "" {
		name, keepIt = p.q.repo.newPackName(), func(path string) error { return writeKeep(path, line) }
	}
	to := filepath.Join(p.q.repo.CommonDir, "objects", "pack", name)
	switch err := keepIt(to + ".keep"); {
	case err == nil:
		keep = to + ".keep"
	case !errors.Is(err, fs.ErrExist):
		return "", err
	}
	// The index last: by it git knows that there is a pack.
	for _, end := range []string{".pack", ".idx"} {
		if err := place(p.path+end, to+end); err != nil {
			if keep != "" {
				err = errors.Join(err, os.Remove(keep))
			}
			return "", err
		}
	}
	return keep, nil
}

// keep makes a .keep file; it returns an error if the file exists. All .keep
// files of a quarantine are hard links to one file, since a link costs less
// than another file.
func (p *Pack) keep(path string) error {
	mark := filepath.Join(p.q.Dir, "info", "keep")
	err := os.Link(mark, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := os.WriteFile(mark, []byte(KeepMark+"\n"), 0o600); err != nil {
		return err
	}
	if err := os.Link(mark, path); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(KeepMark + "\n")
	return errors.Join(err, f.Close())
}

// place hard-links a file that does not change, or copies it if a link is not
// possible. An existing file of that name has the same content.
func place(from, to string) (err error) {
	if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	// Git removes files of such names that a crash left; ours are not met twice.
	temp := filepath.Join(filepath.Dir(to), "tmp_pack_"+rand.Text())
	dst, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err = errors.Join(err, dst.Sync(), dst.Close()); err == nil {
		err = os.Rename(temp, to)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(temp))
	}
	return err
}
