package privatehome

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Limits of a private HOME. Each of its entries costs about 10 µs for each of
// up to a hundred agents. What is beyond a limit is shown as a link, which can
// be read.
const (
	maxEntries = 1000    // in all
	maxFolder  = 200     // in one folder
	maxDepth   = 6       // of folders that are real
	maxTopFile = 1 << 20 // bytes of a copied file in HOME itself, such as a shell's history
	maxFile    = 64 << 10
	maxCopied  = 8 << 20 // bytes of all copies
)

// emptied are folders whose contents are not shown: caches, which are seeded
// (seed.go) or start empty.
func emptied() []string {
	return []string{
		".cache", ".npm", ".cargo/registry", ".cargo/git", ".gradle/caches", ".gradle/daemon", ".m2/repository",
		".local/share/pnpm", ".local/share/Trash", ".yarn/berry", "go/pkg",
	}
}

// linked are folders that tools only read in daily work, and that hold too
// much to look through.
func linked() []string {
	return []string{
		".rustup", ".pyenv", ".nvm", ".sdkman", ".asdf", ".rbenv", ".local/lib", ".local/pipx", ".local/share/mise",
		".local/share/uv", ".vscode-server", "go/src",
	}
}

// scan finds the entries of a private HOME, the shallow ones first.
type scan struct {
	home    string
	hidden  hidden
	live    bool // see Request
	entries []entry
	copied  int64
}

// walk goes through HOME in breadth, so that the limits cut off what is deep.
func (s *scan) walk() {
	queue := []string{"."}
	for len(queue) > 0 {
		dir := queue[0]
		queue = queue[1:]
		names, err := readNames(filepath.Join(s.home, dir), 10*maxFolder)
		if err != nil {
			continue // Nor could an agent read it.
		}
		for _, name := range names {
			if s.look(path.Join(dir, name)) {
				queue = append(queue, path.Join(dir, name))
			}
		}
	}
}

// look decides how one path of HOME is shown. It returns true for a folder
// whose entries are to be looked at.
func (s *scan) look(rel string) (enter bool) {
	at := filepath.Join(s.home, rel)
	if s.hidden.covers(at) {
		s.filtered(rel, at)
		return false
	}
	info, err := os.Lstat(at)
	if err != nil {
		return false
	}
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		s.link(rel, at)
		return false
	case mode.IsRegular():
		s.file(rel, at, info)
		return false
	case mode.IsDir():
		return s.folder(rel, at, info)
	default:
		return false // Sockets and the like belong to processes of the user.
	}
}

// link shows where a link of the user's leads to.
func (s *scan) link(rel, at string) {
	to, err := filepath.EvalSymlinks(at)
	if err == nil && !s.hidden.touches(to) && !below(to, s.home) {
		s.add(entry{path: rel, kind: link, from: to})
	}
}

func (s *scan) file(rel, at string, info fs.FileInfo) {
	limit := int64(maxFile)
	if !strings.Contains(rel, "/") {
		limit = maxTopFile
	}
	full := s.copied+info.Size() > maxCopied || len(s.entries) >= maxEntries
	if info.Size() > limit || full && !gradleLocks(path.Dir(rel)) {
		s.add(entry{path: rel, kind: link, from: at})
		return
	}
	text, info, err := readWithin(s.home, rel, limit)
	if err != nil {
		return // Nor could an agent read it, or it has gone since it was found.
	}
	s.copied += int64(len(text))
	s.add(entry{path: rel, kind: copied, from: at, text: text, mode: info.Mode().Perm(), time: info.ModTime()})
}

// folder makes a real folder of one that tools write to, or that something
// hidden lies in, and a link of any other.
func (s *scan) folder(rel, at string, info fs.FileInfo) (enter bool) {
	real := entry{path: rel, kind: folder, mode: info.Mode().Perm()}
	top, _, nested := strings.Cut(rel, "/")
	switch {
	case s.live && (slices.Contains(emptied(), rel) || rel == ".local" || rel == "go"):
		s.add(entry{path: rel, kind: link, from: at})
		return false
	case slices.Contains(emptied(), rel):
		s.add(real)
		return false
	case s.hidden.touches(at):
		s.add(real)
		return true
	case standard(rel), gradleLocks(rel):
		s.add(real)
		return true
	case slices.Contains(linked(), rel), below(".gradle/wrapper", rel),
		!strings.HasPrefix(top, ".") && top != "go",
		strings.Count(rel, "/") >= maxDepth,
		len(s.entries) >= maxEntries,
		nested && crowded(at):
		s.add(entry{path: rel, kind: link, from: at})
		return false
	default:
		s.add(real)
		return true
	}
}

// standard reports whether a folder is one that is there in every private HOME, or
// holds such. Tools write to it, however much HOME holds.
func standard(rel string) bool {
	return slices.ContainsFunc(standardFolders(), func(name string) bool { return below(rel, name) })
}

// gradleLocks reports whether a folder may hold the lock of a distribution of
// Gradle, or leads to one. Its wrapper opens the lock to write at each start: the
// file lies in wrapper/dists/NAME/HASH, beside the distribution.
func gradleLocks(rel string) bool {
	const wrapper = ".gradle/wrapper"
	return below(rel, wrapper) || below(wrapper, rel) && strings.Count(rel, "/") <= 4
}

func (s *scan) add(e entry) { s.entries = append(s.entries, e) }

// filtered shows what is no secret of some files that are hidden because they
// may hold one.
func (s *scan) filtered(rel, at string) {
	if rel != ".npmrc" {
		return
	}
	// One that leads elsewhere may be anything.
	if info, err := os.Lstat(at); err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return
	}
	text, _, err := readWithin(s.home, rel, maxFile)
	if err != nil {
		return
	}
	s.add(entry{path: rel, kind: written, text: plainNpmrc(text)})
}

// crowded reports whether a folder holds more than is shown one by one.
func crowded(dir string) bool {
	names, err := readNames(dir, maxFolder+1)
	return err == nil && len(names) > maxFolder
}

// readNames lists up to so many names of a folder, sorted.
func readNames(dir string, limit int) ([]string, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(limit)
	if len(names) == 0 && err != nil && !errors.Is(err, fs.ErrClosed) {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, err
	}
	slices.Sort(names)
	return names, nil
}
