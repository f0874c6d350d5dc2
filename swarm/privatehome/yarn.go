package privatehome

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// yarnConfig is the file of HOME by which Yarn 1 finds its cache
// (classic.yarnpkg.com/docs/yarnrc). Later versions do not read it.
const yarnConfig = ".yarnrc"

// makeYarn leads Yarn 1 from a new private HOME to the shared cache.
func (t *Template) makeYarn(home string) error {
	config := yarnConfigOf(os.DirFS(home)) // through a link to the user's, too
	root, err := os.OpenRoot(home)
	if err != nil {
		return err
	}
	return errors.Join(t.leadYarn(root, config), root.Close())
}

// leadYarn leads Yarn 1 from a private HOME, with a configuration, to the shared
// cache. A variable would lead later versions there too, also out of a repository
// that holds their cache. A program may have been in the HOME: no file is written
// outside of it.
func (t *Template) leadYarn(home *os.Root, config []byte) error {
	return errors.Join(home.RemoveAll(yarnConfig), home.WriteFile(yarnConfig, t.yarnrc(config), 0o600))
}

// yarnrc is a configuration of Yarn 1 with the shared cache.
func (t *Template) yarnrc(text []byte) []byte {
	var kept bytes.Buffer
	for line := range strings.Lines(string(text)) {
		if _, ok := yarnCacheLine(line); !ok {
			kept.WriteString(strings.TrimRight(line, "\r\n") + "\n")
		}
	}
	fmt.Fprintf(&kept, "cache-folder %s\n", strconv.Quote(filepath.Join(t.shared, yarnCache)))
	return kept.Bytes()
}

// yarnCacheLine reads a line of a configuration that names the cache.
func yarnCacheLine(line string) (dir string, ok bool) {
	key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
	return unquoted(value), strings.Trim(key, `"`) == "cache-folder"
}

// yarnCacheFolder is the cache that a configuration names; empty: it names none.
func yarnCacheFolder(text []byte) (dir string) {
	for line := range strings.Lines(string(text)) {
		if value, ok := yarnCacheLine(line); ok {
			dir = value
		}
	}
	return dir
}

// yarnConfigOf is the configuration of Yarn 1 in a HOME; nil: there is
// none.
func yarnConfigOf(home fs.FS) []byte {
	if at, err := fs.Stat(home, yarnConfig); err != nil || !at.Mode().IsRegular() || at.Size() > maxTopFile {
		return nil
	}
	text, err := fs.ReadFile(home, yarnConfig)
	if err != nil {
		return nil
	}
	return text
}
