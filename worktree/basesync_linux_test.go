package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/git"
	"agentswarm/worktree/workspace"
)

// These are flags of the kernel for an extent of a file
// (include/uapi/linux/fiemap.h).
const (
	extentDelayed = 0x4    // FIEMAP_EXTENT_DELALLOC: it has no place on the disk yet
	extentShared  = 0x2000 // FIEMAP_EXTENT_SHARED: with another file
)

// unsaved reports whether the kernel has yet to find a place on the disk for
// something in a file.
func unsaved(t *testing.T, path string) bool {
	t.Helper()
	return slices.ContainsFunc(extentsOf(t, path), func(flags uint32) bool { return flags&extentDelayed != 0 })
}

// extentsOf are the flags of the first extents of a file (FS_IOC_FIEMAP, as
// its documentation has it).
func extentsOf(t *testing.T, path string) []uint32 {
	t.Helper()
	const (
		call           = 0xc020660b // FS_IOC_FIEMAP
		extents        = 16
		whole   uint64 = 1<<64 - 1
	)
	type extent struct {
		logical, physical, length uint64
		_                         [2]uint64
		flags                     uint32
		_                         [3]uint32
	}
	asked := struct {
		start, length                 uint64
		flags, mapped, count, padding uint32
		extents                       [extents]extent
	}{length: whole, count: extents}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), call, uintptr(unsafe.Pointer(&asked)))
	if errors.Is(errno, unix.EOPNOTSUPP) || errors.Is(errno, unix.ENOTTY) {
		t.Skip("the file system does not say where files are")
	}
	if errno != 0 {
		t.Fatal(errno)
	}
	var flags []uint32
	for _, e := range asked.extents[:asked.mapped] {
		flags = append(flags, e.flags)
	}
	return flags
}

// TestBaseIsSaved holds that a base, whole or a layer, is on the disk when it
// gets its name.
func TestBaseIsSaved(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	text := strings.Repeat("some text\n", 1000)
	first := f.commit("a", text, "d/b", text)
	second := f.commit("a", "new"+text, "d/c", text)
	f.open()
	f.private(workspace.Overlay)
	probe := filepath.Join(f.trees.Bases, "probe")
	must(t, os.WriteFile(probe, []byte(text), 0o600))
	if !unsaved(t, probe) {
		t.Skip("the file system saves at once, or does not tell")
	}
	for i, commit := range []git.Hash{first, second} {
		layer := i == 1
		b, done, err := f.trees.bases.Get(t.Context(), commit)
		must(t, err)
		done()
		if (b.Lower() != "") != layer {
			t.Fatalf("%s is a layer: %t, want %t", commit.Short(), b.Lower() != "", layer)
		}
		files := 0
		must(t, filepath.WalkDir(filepath.Dir(b.Tree()), func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			if files++; unsaved(t, path) {
				t.Errorf("%s of %s is not on the disk", path, commit.Short())
			}
			return nil
		}))
		if files < 4 { // two of the commit, the index and the record
			t.Errorf("%d files were looked at", files)
		}
	}
}
