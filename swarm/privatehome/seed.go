package privatehome

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentswarm/swarm/gocache"
)

// The shared caches, below Shared.
const (
	goBuild   = "go-build"
	goModules = "go-mod"
	npmCache  = "npm"
	pnpmStore = "pnpm"
	yarnCache = "yarn"
	yarnBerry = "yarn-berry"
	pipCache  = "pip"
	uvCache   = "uv"
	maven     = "maven"
)

// Limits of a cache's seed. An entry costs about 20 µs, once in a run. The
// entries that were used last come first.
const (
	maxSeeds   = 4000
	maxVisited = 60_000 // entries of the user's cache that are looked at
	seedDepth  = 8
)

// cache is a cache of the user's, with its seeding rules.
type cache struct {
	from, to string
	// whole tells which folders are shown as links. No tool may write to them.
	// nil: only files are.
	whole func(path string) bool
	// only tells which files are shown; nil: all.
	only func(path string) bool
	// copies tells which files a tool writes to in place.
	copies func(path string, size int64) bool
	// complete is the largest number of files of a cache that is seeded
	// completely. Of a larger cache only files at the top are seeded. 0: a part
	// is seeded.
	complete int
	// lenient leaves out an entry that cannot be made.
	lenient bool
}

// caches are those that the template starts with, as far as they are there:
// those of the template that it lies over, else the user's.
func (t *Template) caches() []cache {
	all := append(t.usersCaches(), t.namedSeeds()...)
	if c, some := t.privateModules(); some {
		all = append(all, c)
	}
	if t.over != nil {
		for i, c := range all {
			all[i].from = filepath.Join(t.over.shared, c.to)
		}
	}
	return slices.DeleteFunc(all, func(c cache) bool {
		_, err := os.Stat(c.from)
		return !filepath.IsAbs(c.from) || err != nil || below(t.shared, c.from)
	})
}

func (t *Template) usersCaches() []cache {
	dirs := t.users("XDG_CACHE_HOME", ".cache")
	never := func(string, int64) bool { return false }
	cargo := t.users("CARGO_HOME", ".cargo")
	npm := t.getenv("npm_config_cache")
	if npm == "" {
		npm = t.users("NPM_CONFIG_CACHE", ".npm")
	}
	return []cache{
		// An entry -a names the result -d of an action, and is written again
		// when the action is done again.
		// Go before 1.24 has the seeds alone. A part of a cache saves it little.
		{from: t.goBuild(), to: goBuild, complete: t.goSeeds(), copies: func(path string, _ int64) bool { return strings.HasSuffix(path, "-a") || !strings.Contains(path, "/") }},
		{from: filepath.Join(npm, "_cacache"), to: npmCache + "/_cacache", copies: func(path string, _ int64) bool {
			return strings.HasPrefix(path, "index-")
		}},
		{from: t.pnpmStore(), to: pnpmStore, copies: small},
		{from: t.yarnCache(os.Geteuid() == 0), to: yarnCache, whole: below2, copies: small},
		{from: filepath.Join(t.users("YARN_GLOBAL_FOLDER", ".yarn/berry"), "cache"), to: yarnBerry + "/cache", copies: never},
		{from: cmp.Or(t.getenv("PIP_CACHE_DIR"), filepath.Join(dirs, "pip")), to: pipCache, copies: never},
		{from: cmp.Or(t.getenv("UV_CACHE_DIR"), filepath.Join(dirs, "uv")), to: uvCache, whole: unpacked, copies: small},
		{from: t.mavenRepository(), to: maven, copies: small},
		{from: filepath.Join(cargo, "registry", "index"), to: cargoHome + "/registry/index", copies: small},
		{from: filepath.Join(cargo, "registry", "cache"), to: cargoHome + "/registry/cache", copies: never},
		{from: filepath.Join(cargo, "registry", "src"), to: cargoHome + "/registry/src", whole: below2, copies: small},
	}
}

// pnpmStore is the user's store of pnpm (pnpm.io/settings#storedir).
func (t *Template) pnpmStore() string {
	if dir := t.getenv("npm_config_store_dir"); filepath.IsAbs(dir) {
		return dir
	}
	if dir := t.getenv("PNPM_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "store")
	}
	return filepath.Join(t.users("XDG_DATA_HOME", ".local/share"), "pnpm", "store")
}

// yarnCache is the user's cache of Yarn 1, which is not below HOME for root.
func (t *Template) yarnCache(root bool) string {
	if dir := t.getenv("YARN_CACHE_FOLDER"); dir != "" {
		return dir
	}
	if dir := yarnCacheFolder(yarnConfigOf(os.DirFS(t.home))); filepath.IsAbs(dir) {
		return dir
	}
	if root && !filepath.IsAbs(t.getenv("XDG_CACHE_HOME")) {
		return "/usr/local/share/.cache/yarn"
	}
	return filepath.Join(t.users("XDG_CACHE_HOME", ".cache"), "yarn")
}

// below2 tells of the folders two levels below a cache, and of deeper ones: a
// folder for each version of a package.
func below2(path string) bool { return strings.Count(path, "/") >= 1 }

// unpacked tells of a package that uv has unpacked. uv adds to all other folders of
// its cache, such as that of a package index or of an interpreter.
func unpacked(path string) bool { return below2(path) && strings.HasPrefix(path, "archive-v") }

// small tells that a file of a few kilobytes is copied: tools update such
// files in place, and never large ones.
func small(_ string, size int64) bool { return size <= 16<<10 }

// goBuild is the user's build cache.
func (t *Template) goBuild() string {
	return cmp.Or(t.goSetting("GOCACHE"), filepath.Join(t.users("XDG_CACHE_HOME", ".cache"), "go-build"))
}

// goSeeds bounds the seeds of the build cache where a program serves it.
func (t *Template) goSeeds() int {
	if t.goCacheProgram() == "" {
		return 0
	}
	return maxSeeds
}

// goCacheProgram returns the value of GOCACHEPROG by which Go 1.24 and later
// read the build cache of the lower template, and then the user's. It is empty
// where neither can be read, and where the user has such a program.
func (t *Template) goCacheProgram() string {
	if t.serves == "" || t.goSetting("GOCACHEPROG") != "" {
		return ""
	}
	var lower []string
	if t.over != nil {
		// It may be made later.
		lower = append(lower, filepath.Join(t.over.shared, goBuild))
	}
	if dir, err := filepath.EvalSymlinks(t.goBuild()); err == nil && filepath.IsAbs(dir) && isDir(dir) && !t.hidden.covers(dir) {
		lower = append(lower, dir)
	}
	if len(lower) == 0 {
		return ""
	}
	value, _ := gocache.Setting(t.serves, filepath.Join(t.shared, goBuild), lower)
	return value
}

// seed fills the shared caches that are not there yet.
func (t *Template) seed() error {
	return t.fill(false)
}

// Refresh adds to the shared caches new entries of those that the template lies
// over. Programs may write to both meanwhile. Where an agent has put something
// in the place of a folder, no entry is added.
func (t *Template) Refresh() error {
	if t.over == nil {
		return nil
	}
	if err := t.fill(true); err != nil {
		return fmt.Errorf("fill the shared caches: %w", err)
	}
	return nil
}

// fill adds to the shared caches: to those that are not there yet or, to refresh
// them, to all, without the entries that cannot be made.
func (t *Template) fill(refresh bool) error {
	h := t.hidden
	if t.over != nil {
		h = nil // Its caches hold no hidden path, and may lie in a hidden folder.
	}
	to, err := os.OpenRoot(t.shared)
	if err != nil {
		return err
	}
	for _, c := range t.caches() {
		c.lenient = refresh
		if _, missing := os.Lstat(filepath.Join(t.shared, c.to)); refresh || missing != nil {
			err = errors.Join(err, c.seed(to, h))
		}
	}
	return errors.Join(err, to.Close())
}

// found is a file or folder of a cache.
type found struct {
	path string
	link string // where a link to it leads; empty: it is copied
	size int64
	used time.Time
}

// seed fills the cache below a folder that programs write to: no file is written
// outside of it. Entries that are there already stay.
func (c *cache) seed(to *os.Root, h hidden) error {
	from, err := filepath.EvalSymlinks(c.from)
	if err != nil || h.covers(from) {
		return nil // A cache that is out of reach starts empty.
	}
	all, err := c.find(from, h)
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(b.used.Compare(a.used), strings.Compare(a.path, b.path))
	})
	all = all[:min(len(all), maxSeeds)]
	made := map[string]bool{}
	for _, f := range all {
		at := filepath.Join(c.to, f.path)
		if dir := filepath.Dir(at); !made[dir] {
			if err := to.MkdirAll(dir, 0o700); err != nil && !c.lenient {
				return err
			}
			made[dir] = true
		}
		if f.link != "" {
			err = to.Symlink(f.link, at)
		} else {
			err = copyWithin(from, f.path, to, at, 0o600)
		}
		if err != nil && !c.lenient && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

// find lists the entries of a cache that may be shown.
func (c *cache) find(from string, h hidden) (all []found, err error) {
	visited := 0
	err = filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if visited++; visited > maxVisited || c.complete > 0 && len(all) > c.complete {
			return fs.SkipAll
		}
		rel, rerr := filepath.Rel(from, path)
		if err != nil || rerr != nil || h.covers(path) {
			return skip(e)
		}
		depth := strings.Count(rel, string(filepath.Separator)) + 1
		if e.IsDir() {
			shown := c.whole != nil && c.whole(rel) && !h.touches(path)
			if !shown && depth <= seedDepth {
				return nil
			}
			if shown {
				all = append(all, seen(rel, e, path))
			}
			return fs.SkipDir
		}
		switch {
		case c.only != nil && !c.only(rel):
		case e.Type()&fs.ModeSymlink != 0 && h == nil: // of a cache that was seeded itself
			if target, err := os.Readlink(path); err == nil && filepath.IsAbs(target) {
				all = append(all, seen(rel, e, target))
			}
		case e.Type().IsRegular():
			f := seen(rel, e, path)
			if c.copies(rel, f.size) {
				f.link = ""
			}
			all = append(all, f)
		}
		return nil
	})
	if c.complete > 0 && len(all) > c.complete {
		return c.findTop(from, h)
	}
	return all, err
}

// findTop lists the regular files at the top of a cache, as copies.
func (c *cache) findTop(from string, h hidden) (all []found, err error) {
	entries, err := os.ReadDir(from)
	for _, e := range entries {
		if e.Type().IsRegular() && !h.covers(filepath.Join(from, e.Name())) {
			all = append(all, seen(e.Name(), e, ""))
		}
	}
	return all, err
}

// skip passes over an entry.
func skip(e fs.DirEntry) error {
	if e != nil && e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func seen(rel string, e fs.DirEntry, link string) found {
	f := found{path: rel, link: link}
	if info, err := e.Info(); err == nil {
		f.size, f.used = info.Size(), info.ModTime()
	}
	return f
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
