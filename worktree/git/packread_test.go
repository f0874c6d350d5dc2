package git

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// grow gives the fixture a history that packs as deltas, and enough objects for
// an index that is searched where it lies.
func (y *objectFixture) grow() {
	y.Helper()
	var stream strings.Builder
	body := strings.Repeat("a line that stays\n", 60)
	put := func(name, text string) {
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", name, len(text), text)
	}
	for i := range 40 {
		stream.WriteString("commit refs/heads/grown\ncommitter A <a@b> 1700000000 +0000\ndata 0\n")
		put("big", fmt.Sprintf("%sversion %d\n%s", body, i, body))
		put("d/big", fmt.Sprintf("%d\n%s", i, body))
		for k := range 60 {
			put(fmt.Sprintf("many/f%d", k), fmt.Sprintf("%d %d\n", i, k))
		}
	}
	_, err := y.repo.Run(y.Context(), Cmd{
		Args: []string{"fast-import", "--quiet"}, Stdin: strings.NewReader(stream.String()), Writes: true,
	})
	y.must(err)
}

// all are the objects of the repository as git reads them.
func (y *objectFixture) all() map[Hash]unpacked {
	y.Helper()
	list, err := y.repo.Run(y.Context(), Cmd{Args: []string{"cat-file", "--batch-all-objects", "--batch"}})
	y.must(err)
	all := map[Hash]unpacked{}
	for len(list) > 0 {
		head, rest, _ := bytes.Cut(list, []byte("\n"))
		kind, size, err := parseBatchHead(string(head))
		y.must(err)
		id, _, _ := strings.Cut(string(head), " ")
		all[Hash(id)] = unpacked{kind: kind, raw: rest[:size]}
		list = rest[size+1:]
	}
	return all
}

// TestPackRead: for all ways to pack objects we read the same content as git.
func TestPackRead(t *testing.T) {
	t.Parallel()
	for _, format := range formats {
		y := newObjectFixture(t, "--object-format="+format)
		y.grow()
		all := y.all()
		for name, repack := range map[string][]string{
			"deltas by place": {"repack", "-q", "-a", "-d", "-f", "--depth=50"},
			"deltas by name":  {"-c", "repack.useDeltaBaseOffset=false", "repack", "-q", "-a", "-d", "-f", "--depth=50"},
			"far places":      {"-c", "pack.indexVersion=2", "repack", "-q", "-a", "-d", "-f"},
			"no deltas":       {"repack", "-q", "-a", "-d", "-F", "--window=0"},
		} {
			y.git(repack...)
			if name == "far places" {
				y.farPlaces()
			}
			files := newObjectFiles(y.q)
			for id, o := range all {
				got, err := files.read(anyOf(id, o.kind))
				if err != nil || !bytes.Equal(got, o.raw) {
					t.Fatalf("%s, %s: read %s %s = %d bytes, %v; want %d", format, name, o.kind, id, len(got), err, len(o.raw))
				}
				var large *SizeError
				if _, err := files.read(want{id: id, kind: o.kind, limit: int64(len(o.raw)) - 1}); !errors.As(err, &large) ||
					large.Size != int64(len(o.raw)) {
					t.Fatalf("%s, %s: read %s above its limit: %v, want a SizeError", format, name, id, err)
				}
				if _, err := files.read(anyOf(id, "tag")); err == nil {
					t.Fatalf("%s, %s: a %s was read as a tag", format, name, o.kind)
				}
			}
			for c := range 16 {
				absent := Hash(strings.Repeat(fmt.Sprintf("%x", c), y.repo.hexLen()))
				if _, err := files.read(anyOf(absent, "blob")); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s, %s: read what is not there: %v", format, name, err)
				}
			}
			y.must(files.close())
		}
	}
}

// anyOf asks for an object of any size that is read here.
func anyOf(id Hash, kind string) want { return want{id: id, kind: kind, limit: treeLimit} }

// farPlaces gives the pack an index whose places are beyond 2 GB, as far
// as its form goes.
func (y *objectFixture) farPlaces() {
	y.Helper()
	packs, err := filepath.Glob(filepath.Join(y.repo.CommonDir, "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		y.Fatalf("packs %q, %v; want one", packs, err)
	}
	idx := strings.TrimSuffix(packs[0], ".pack") + ".idx"
	y.must(os.Remove(idx))
	y.git("index-pack", "--index-version=2,0x20", "-o", idx, packs[0])
}

// TestPackOdd: git reads packs that we cannot read, and broken packs are never
// read wrong.
func TestPackOdd(t *testing.T) {
	t.Parallel()
	y := newObjectFixture(t)
	y.git("-c", "pack.indexVersion=1", "repack", "-q", "-a", "-d")
	tree := y.hash("HEAD^{tree}")
	o := y.objects()
	if entries, err := o.Tree(t.Context(), tree); err != nil || len(entries) != 2 || o.asked == nil {
		t.Errorf("Tree with an old index = %+v, %v; want git asked", entries, err)
	}

	borrower := filepath.Join(y.home, "borrower")
	y.git("clone", "-q", "--shared", y.dir, borrower)
	y.git("repack", "-q", "-a", "-d")
	repo, err := New(y.environ()).Discover(t.Context(), borrower)
	y.must(err)
	q, err := repo.Quarantine(filepath.Join(y.home, "borrowed"))
	y.must(err)
	files := newObjectFiles(q)
	if _, err := files.read(anyOf(tree, "tree")); err != nil {
		t.Errorf("read from an alternate: %v", err)
	}
	y.must(files.close())
}

// FuzzPackEntry reads entries of a pack that holds anything.
func FuzzPackEntry(f *testing.F) {
	y := newObjectFixture(f)
	y.git("repack", "-q", "-a", "-d")
	packs, _ := filepath.Glob(filepath.Join(y.repo.CommonDir, "objects", "pack", "*.pack"))
	for _, path := range packs {
		raw, err := os.ReadFile(path)
		y.must(err)
		f.Add(raw, int64(12))
	}
	f.Add([]byte("\x63\x01\x78\x9c\x03\x00\x00\x00\x00\x01"), int64(1))
	f.Add(bytes.Repeat([]byte{0xff}, 64), int64(0))
	f.Fuzz(func(t *testing.T, raw []byte, at int64) {
		p := &pack{idLen: 20, data: &storedFile{ReaderAt: bytes.NewReader(raw), size: int64(len(raw))}}
		files := &objectFiles{idLen: 20}
		o, size, err := files.unpack(spot{pack: p, at: at}, 1<<16, 0)
		if err == nil && o.raw != nil && int64(len(o.raw)) != size {
			t.Errorf("unpack = %d bytes of %d", len(o.raw), size)
		}
	})
}

// FuzzPackIndex looks names up in an index that holds anything.
func FuzzPackIndex(f *testing.F) {
	y := newObjectFixture(f)
	y.git("repack", "-q", "-a", "-d")
	indexes, _ := filepath.Glob(filepath.Join(y.repo.CommonDir, "objects", "pack", "*.idx"))
	for _, path := range indexes {
		raw, err := os.ReadFile(path)
		y.must(err)
		f.Add(raw, []byte(y.hash("HEAD").bytes()))
	}
	f.Fuzz(func(t *testing.T, raw, id []byte) {
		p := &pack{idLen: 20, idx: &storedFile{ReaderAt: bytes.NewReader(raw), size: int64(len(raw))}}
		if len(id) != 20 || p.readFanout() != nil {
			return
		}
		if at, ok, _ := p.find(id); ok && at < 0 {
			t.Errorf("find = %d", at)
		}
	})
}
