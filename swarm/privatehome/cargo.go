package privatehome

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// cargoHome is the folder below Shared with the crates that the agents of a run
// share.
const cargoHome = "cargo"

// cargoShared are the parts of CARGO_HOME that are shared: crates and their
// index (doc.rust-lang.org/cargo/guide/cargo-home.html). A part that tells cargo
// which programs to run, such as config.toml, is each agent's own.
func cargoShared() []string {
	return []string{"registry/index", "registry/cache", "registry/src", "git/db", "git/checkouts"}
}

// cargoLocks are the files by which cargo keeps processes apart that use the
// shared parts.
func cargoLocks() []string { return []string{".package-cache", ".package-cache-mutate"} }

// shareCargo makes the shared parts, so that each CARGO_HOME can lead to them.
func (t *Template) shareCargo() error {
	for _, part := range cargoShared() {
		if err := os.MkdirAll(filepath.Join(t.shared, cargoHome, part), 0o700); err != nil {
			return err
		}
	}
	for _, lock := range cargoLocks() {
		f, err := os.OpenFile(filepath.Join(t.shared, cargoHome, lock), os.O_CREATE|os.O_RDONLY, 0o600)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// cargoEntries are the configuration and the programs in the user's CARGO_HOME.
func (t *Template) cargoEntries() (all []entry) {
	users := t.users("CARGO_HOME", ".cargo")
	if !filepath.IsAbs(users) || t.hidden.covers(users) {
		return nil
	}
	forms := plainPlaces(t.given, t.getenv)
	for _, name := range []string{"config.toml", "config", "env"} {
		if at := filepath.Join(users, name); t.hidden.covers(at) {
			if text, ok := plainOf(forms, t.unseen, at); ok {
				all = append(all, entry{path: name, kind: written, text: text})
			}
			continue
		}
		if text, info, err := readWithin(users, name, maxFile); err == nil {
			all = append(all, entry{path: name, kind: copied, text: text, mode: 0o600, time: info.ModTime()})
		}
	}
	if bin := filepath.Join(users, "bin"); isDir(bin) && !t.hidden.covers(bin) {
		all = append(all, entry{path: "bin", kind: link, from: bin})
	}
	return all
}

// makeCargo makes the CARGO_HOME of a private HOME: links to the shared parts,
// and the configuration and the programs of the user's.
func (t *Template) makeCargo(home string, shown []entry) error {
	own := filepath.Join(home, ".cargo")
	if at, err := os.Lstat(own); err == nil && !at.IsDir() {
		if err := os.Remove(own); err != nil { // a link to the user's
			return err
		}
	}
	if err := os.MkdirAll(own, 0o700); err != nil {
		return err
	}
	for _, e := range shown {
		if err := e.make(own); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	root, err := os.OpenRoot(own)
	if err != nil {
		return err
	}
	_, err = t.linkCargo(root) // The user's folders are not in it.
	return errors.Join(err, root.Close())
}

// linkCargo leads the shared parts of a CARGO_HOME to those of the template. It returns
// the folders that are left as they are: see [ownFolder]. A program may have been there: no
// file is written outside of it.
func (t *Template) linkCargo(own *os.Root) (left []string, err error) {
	for _, part := range append(cargoShared(), cargoLocks()...) {
		dir := filepath.Dir(part)
		if slices.Contains(left, dir) {
			continue
		}
		if !ownFolder(own, dir) {
			left = append(left, dir)
			continue
		}
		if err := own.MkdirAll(dir, 0o700); err != nil {
			return left, err
		}
		if err := own.RemoveAll(part); err != nil {
			return left, err
		}
		if err := own.Symlink(filepath.Join(t.shared, cargoHome, part), part); err != nil {
			return left, err
		}
	}
	return left, nil
}

// ownFolder reports whether a path is a folder below root, or can be made a
// folder. A link out of root is neither.
func ownFolder(root *os.Root, path string) bool {
	if _, err := root.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return true
	}
	at, err := root.Stat(path)
	return err == nil && at.IsDir()
}

// Adopt leads a private HOME that another template built to the shared caches of this
// template. Programs may have been in it: no file is written outside of it. It returns
// the paths below HOME that still lead elsewhere, since a program made them links out of
// HOME or files.
func (t *Template) Adopt(home string) (left []string, err error) {
	if left, err = t.adopt(home); err != nil {
		return left, fmt.Errorf("adopt a private HOME: %w", err)
	}
	return left, nil
}

func (t *Template) adopt(home string) (left []string, err error) {
	root, err := os.OpenRoot(home)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := t.leadYarn(root, yarnConfigOf(root.FS())); err != nil {
		return nil, err
	}
	const folder = ".cargo"
	if !ownFolder(root, folder) {
		return []string{folder}, nil
	}
	if err := root.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	own, err := root.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	left, err = t.linkCargo(own)
	for i, dir := range left {
		left[i] = filepath.Join(folder, dir)
	}
	return left, errors.Join(err, own.Close())
}
