package privatehome

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	return errors.Join(t.linkCargo(root), root.Close())
}

// linkCargo leads the shared parts of a CARGO_HOME to those of the template.
// A program may have been there: no file is written outside of it.
func (t *Template) linkCargo(own *os.Root) error {
	for _, part := range append(cargoShared(), cargoLocks()...) {
		if err := own.MkdirAll(filepath.Dir(part), 0o700); err != nil {
			return err
		}
		if err := own.RemoveAll(part); err != nil {
			return err
		}
		if err := own.Symlink(filepath.Join(t.shared, cargoHome, part), part); err != nil {
			return err
		}
	}
	return nil
}

// Adopt leads a private HOME that another template built to the shared caches
// of this template. Programs may have been in it: no file is written outside of
// it.
func (t *Template) Adopt(home string) error {
	root, err := os.OpenRoot(home)
	if err != nil {
		return fmt.Errorf("adopt a private HOME: %w", err)
	}
	defer root.Close()
	err = root.MkdirAll(".cargo", 0o700)
	if err == nil {
		var own *os.Root
		if own, err = root.OpenRoot(".cargo"); err == nil {
			err = errors.Join(t.linkCargo(own), own.Close())
		}
	}
	err = errors.Join(err, t.leadYarn(root, yarnConfigOf(root.FS())))
	if err != nil {
		return fmt.Errorf("adopt a private HOME: %w", err)
	}
	return nil
}
