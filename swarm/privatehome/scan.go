package privatehome

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Limits of a private HOME. Each of its entries costs about 10 µs for each of
// up to a hundred agents. An entry beyond a limit is shown as a link, which can
// be read.
const (
	maxEntries = 1000    // in all
	maxFolder  = 200     // in a folder
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
		".rustup", ".pyenv", ".nvm", ".sdkman", ".asdf", ".rbenv", ".local/lib", ".local/pipx/shared", ".local/pipx/py",
		".local/share/pipx/shared", ".local/share/pipx/py", ".local/share/mise", ".vscode-server", "go/src",
	}
}

// shelves are folders to which tools add a folder for each thing that they install.
// They are real, and the folders in them are links.
func shelves() []string {
	return []string{
		".local/share/uv/tools", ".local/share/uv/python", ".local/pipx/venvs", ".local/share/pipx/venvs", ".gradle/jdks",
	}
}

// movedFolders are folders of HOME that the user has elsewhere, by a variable.
func (t *Template) movedFolders() map[string]string {
	all := map[string]string{}
	for variable, usual := range toolFolders() {
		dir := t.getenv(variable)
		if t.live && usual != ".gradle" || !filepath.IsAbs(dir) || filepath.Clean(dir) == filepath.Join(t.home, usual) {
			continue
		}
		all[usual] = filepath.Clean(dir)
	}
	return all
}

// configFiles are variables that name a file that may hold credentials. A file
// outside of HOME is shown at the path in HOME given here.
func configFiles() map[string]string {
	return map[string]string{
		"PIP_CONFIG_FILE": ".pip/pip.conf", "UV_CONFIG_FILE": ".config/uv/uv.toml", "CONDARC": ".condarc", "WGETRC": ".wgetrc",
		"BUNDLE_USER_CONFIG": ".bundle/config",
	}
}

// movedFiles are such files outside of HOME.
func (t *Template) movedFiles() map[string]string {
	all := map[string]string{}
	for variable, usual := range configFiles() {
		at := t.getenv(variable)
		if !t.live && filepath.IsAbs(at) && homeOf(at, []string{t.given, t.home}) == "" {
			all[usual] = filepath.Clean(at)
		}
	}
	return all
}

// toolFolders are variables of folders with tools, and where tools look for these
// below HOME without them.
func toolFolders() map[string]string {
	return map[string]string{
		"GRADLE_USER_HOME": ".gradle", "UV_TOOL_DIR": ".local/share/uv/tools", "UV_PYTHON_INSTALL_DIR": ".local/share/uv/python",
		"PIPX_HOME": ".local/share/pipx",
	}
}

// binFolders are variables of the folder that tools put programs in.
func binFolders() []string { return []string{"XDG_BIN_HOME", "UV_TOOL_BIN_DIR", "PIPX_BIN_DIR"} }

// scan finds the entries of a private HOME, the shallow ones first.
type scan struct {
	home    string
	hidden  hidden
	unseen  hidden                         // see Request
	live    bool                           // see Request
	moved   map[string]string              // folders that are shown in the place of some of HOME
	files   map[string]string              // files that are shown in the place of some of HOME
	forms   map[string]func([]byte) []byte // by the user's paths
	entries []entry
	copied  int64
}

// walk goes through HOME breadth first, so that the limits cut off the deep
// folders.
func (s *scan) walk() {
	s.walkFrom(".")
	for _, usual := range slices.Sorted(maps.Keys(s.moved)) {
		if s.enter(usual) {
			s.walkFrom(usual)
		}
	}
	for _, usual := range slices.Sorted(maps.Keys(s.files)) {
		if text, ok := plainOf(s.forms, s.unseen, s.files[usual]); ok && s.folders(path.Dir(usual)) {
			s.add(entry{path: usual, kind: written, text: text})
		}
	}
}

func (s *scan) walkFrom(top string) {
	queue := []string{top}
	for len(queue) > 0 {
		dir := queue[0]
		queue = queue[1:]
		names, err := readNames(s.path(dir), 10*maxFolder)
		if err != nil {
			continue // Nor could an agent read it.
		}
		for _, name := range names {
			rel := path.Join(dir, name)
			_, elsewhere := s.moved[rel]
			if _, file := s.files[rel]; elsewhere || file {
				continue
			}
			if s.look(rel) {
				queue = append(queue, rel)
			}
		}
	}
}

// enter adds a moved folder, and those above it that are not there. It returns false
// where it cannot be shown: a link above it would lead to the user's.
func (s *scan) enter(usual string) bool {
	dir := s.moved[usual]
	return !s.hidden.covers(dir) && isDir(dir) && s.folders(usual)
}

// folders adds a folder and its missing parents. It returns false if a link is
// among them.
func (s *scan) folders(usual string) bool {
	for i, c := range usual + "/" {
		if c != '/' {
			continue
		}
		at := slices.IndexFunc(s.entries, func(e entry) bool { return e.path == usual[:i] })
		if at >= 0 && s.entries[at].kind != folder {
			return false
		}
		if at < 0 {
			s.add(entry{path: usual[:i], kind: folder, mode: 0o700})
		}
	}
	return true
}

// place is the user's folder that a path of HOME lies in, and the path in it.
func (s *scan) place(rel string) (dir, inside string) {
	for usual, dir := range s.moved {
		if rest, ok := strings.CutPrefix(rel, usual+"/"); ok {
			return dir, rest
		}
		if rel == usual {
			return dir, "."
		}
	}
	return s.home, rel
}

// path is where the user has a path of HOME.
func (s *scan) path(rel string) string {
	dir, inside := s.place(rel)
	return filepath.Join(dir, inside)
}

// look decides how a path of HOME is shown. It returns true for a folder whose
// entries must be visited.
func (s *scan) look(rel string) (enter bool) {
	at := s.path(rel)
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
	dir, inside := s.place(rel)
	text, info, err := readWithin(dir, inside, limit)
	if err != nil {
		return // Nor could an agent read it, or it has gone since it was found.
	}
	s.copied += int64(len(text))
	s.add(entry{path: rel, kind: copied, from: at, text: text, mode: info.Mode().Perm(), time: info.ModTime()})
}

// folder makes a real folder if tools write to it or a hidden file lies in it,
// and a link otherwise.
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
	case slices.Contains(shelves(), path.Dir(rel)):
		if !s.hidden.touches(at) {
			s.add(entry{path: rel, kind: link, from: at})
		}
		return false
	case s.hidden.touches(at):
		s.add(real)
		return true
	case standard(rel), gradleLocks(rel), shelved(rel):
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

// standard reports whether a folder is in every private HOME, or holds such a
// folder. Tools write to it, however much HOME holds.
func standard(rel string) bool {
	return slices.ContainsFunc(standardFolders(), func(name string) bool { return below(rel, name) })
}

// shelved reports whether a folder is a shelf or holds a shelf.
func shelved(rel string) bool {
	return slices.ContainsFunc(shelves(), func(name string) bool { return below(rel, name) })
}

// gradleLocks reports whether a folder may hold the lock of a distribution of
// Gradle, or leads to such a folder. Its wrapper opens the lock to write at
// each start: the file lies in wrapper/dists/NAME/HASH, beside the
// distribution.
func gradleLocks(rel string) bool {
	const wrapper = ".gradle/wrapper"
	return below(rel, wrapper) || below(wrapper, rel) && strings.Count(rel, "/") <= 4
}

func (s *scan) add(e entry) { s.entries = append(s.entries, e) }

// filtered shows hidden files without their credentials.
func (s *scan) filtered(rel, at string) {
	if text, ok := plainOf(s.forms, s.unseen, at); ok {
		s.add(entry{path: rel, kind: written, text: text})
	}
}

// plainOf is a hidden file without credentials, also through a link to it. ok is false
// if it has no form, or is not to be seen at all.
func plainOf(forms map[string]func([]byte) []byte, unseen hidden, at string) (text []byte, ok bool) {
	form, some := forms[at]
	real, err := filepath.EvalSymlinks(at)
	if !some || err != nil || unseen.covers(at) || unseen.covers(real) {
		return nil, false
	}
	text, _, err = readSmall(real)
	if err != nil {
		return nil, false
	}
	return form(text), true
}

// crowded reports whether a folder has more entries than are shown singly.
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
