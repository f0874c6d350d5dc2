package privatehome

import (
	"errors"
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

// makeCargo makes the CARGO_HOME of a private HOME: links to the shared parts,
// and what the user's has of configuration and programs.
func (t *Template) makeCargo(home string) error {
	own := filepath.Join(home, ".cargo")
	if at, err := os.Lstat(own); err == nil && !at.IsDir() {
		if err := os.Remove(own); err != nil { // a link to the user's
			return err
		}
	}
	for _, part := range cargoShared() {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(own, part)), 0o700); err != nil {
			return err
		}
	}
	for _, name := range append(cargoShared(), cargoLocks()...) {
		if err := linkNew(filepath.Join(t.shared, cargoHome, name), filepath.Join(own, name)); err != nil {
			return err
		}
	}
	users := t.users("CARGO_HOME", ".cargo")
	if t.home == "" || !filepath.IsAbs(users) || t.hidden.covers(users) {
		return nil
	}
	for _, name := range []string{"config.toml", "config", "env"} {
		from := filepath.Join(users, name)
		if t.hidden.covers(from) {
			continue
		}
		err := copyFile(from, filepath.Join(own, name), 0o600)
		if err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	if bin := filepath.Join(users, "bin"); isDir(bin) && !t.hidden.covers(bin) {
		return linkNew(bin, filepath.Join(own, "bin"))
	}
	return nil
}

// linkNew makes a link where nothing is.
func linkNew(to, at string) error {
	if err := os.Symlink(to, at); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
