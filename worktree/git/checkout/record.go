package checkout

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"agentswarm/internal/statefile"
	"agentswarm/worktree/git"
)

// phase is how far a transaction has come. The zero value is no phase.
type phase string

const (
	staging phase = "staging" // no file of the user's has changed
	moving  phase = "moving"  // files, branch and index may be old or new
	done    phase = "done"    // all of them are new
	undone  phase = "undone"  // all of them are old again
)

// record describes a transaction on the disk, before anything changes.
type record struct {
	ID    string   `json:"id"`
	Verb  string   `json:"verb"`
	Phase phase    `json:"phase"`
	Ref   string   `json:"ref,omitempty"` // empty: no branch moves
	Old   git.Hash `json:"old,omitempty"`
	New   git.Hash `json:"new,omitempty"`
	// Message is for reflogs.
	Message string `json:"message,omitempty"`
	// RefLocks are lock files of git that did not exist when the renames began.
	RefLocks []string `json:"ref_locks,omitempty"`
	Sides    []*side  `json:"sides,omitempty"`
	// Kept are paths that the user changed meanwhile.
	Kept []Kept `json:"kept,omitempty"`
}

// side is a checkout of a transaction.
type side struct {
	Dir    string   `json:"dir"`
	GitDir string   `json:"git_dir"`
	From   git.Hash `json:"from"`
	To     git.Hash `json:"to"`
	Index  bool     `json:"index"` // the index follows the files
	// Common is the common git dir of a submodule, and Parent and Head are as in
	// [Side]. All three are empty for a checkout of the repository itself.
	Common string `json:"common,omitempty"`
	Parent string `json:"parent,omitempty"`
	Head   string `json:"head,omitempty"`
	// IndexSum and IndexTime are of the index before the transaction.
	IndexSum  Identity  `json:"index_sum,omitempty"`
	IndexTime time.Time `json:"index_time"`
	// Mounts are folders of the checkout that are on a file system of their own
	// and have a staging folder of their own.
	Mounts []name     `json:"mounts,omitempty"`
	Paths  []*pathing `json:"paths,omitempty"`
	// MadeDirs are folders that new files need, parents first. GoneDirs are
	// folders that lie where new files go, children first.
	MadeDirs []name   `json:"made_dirs,omitempty"`
	GoneDirs []folder `json:"gone_dirs,omitempty"`
	// Emptied are folders of submodules that leave the checkout, Modules are
	// those that it has afterwards.
	Emptied []name `json:"emptied,omitempty"`
	Modules []name `json:"modules,omitempty"`

	changes []git.Change
	env     []string
	sparse  bool // the checkout is sparse: files may be left out of it
}

// pathing is a path of a checkout on its way from old to new.
type pathing struct {
	Path name     `json:"path"`
	Old  Identity `json:"old"`
	New  Identity `json:"new"`
	// Put and Aside are where the new and the old file lie, relative to the
	// checkout.
	Put   name `json:"put"`
	Aside name `json:"aside"`
}

// folder is a folder that is removed and made again by a rollback.
type folder struct {
	Path name        `json:"path"`
	Mode fs.FileMode `json:"mode"`
}

// name is a path as JSON can hold it. It is quoted if it is not UTF-8, or looks
// quoted.
type name string

// MarshalText implements [encoding.TextMarshaler].
func (n name) MarshalText() ([]byte, error) {
	if utf8.ValidString(string(n)) && !strings.HasPrefix(string(n), `"`) {
		return []byte(n), nil
	}
	return []byte(strconv.Quote(string(n))), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (n *name) UnmarshalText(text []byte) error {
	if !strings.HasPrefix(string(text), `"`) {
		*n = name(text)
		return nil
	}
	plain, err := strconv.Unquote(string(text))
	*n = name(plain)
	return err
}

const (
	recordFile = "record.json"
	indexFile  = "index"
)

// folderOf is the folder of a record.
func folderOf(records, id string) string { return filepath.Join(records, "tx-"+id) }

// save replaces the record on the disk durably.
func (r *record) save(dir string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, recordFile)
	if err := writeSynced(path+".new", text, 0o600); err != nil {
		return fmt.Errorf("record the transaction: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("record the transaction: %w", err)
	}
	return syncDir(dir)
}

// load reads a record; nil where none was written.
func load(dir string) (*record, error) {
	text, err := statefile.Read(dir, filepath.Join(dir, recordFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &RecordError{Dir: dir, Err: err}
	}
	r := new(record)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, &RecordError{Dir: dir, Err: err}
	}
	switch r.Phase {
	case staging, moving, done, undone:
		return r, nil
	}
	return nil, &RecordError{Dir: dir, Err: fmt.Errorf("unknown phase %q", r.Phase)}
}

// idOf is the ID of the transaction that a folder holds the record of.
func idOf(dir string) string { return strings.TrimPrefix(filepath.Base(dir), "tx-") }

// all lists the folders of records.
func all(records string) ([]string, error) {
	entries, err := os.ReadDir(records)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil // the user of the state folder reports that it is no folder
	}
	if err != nil {
		return nil, fmt.Errorf("look for transactions: %w", err)
	}
	var dirs []string
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), "tx-") {
			dirs = append(dirs, filepath.Join(records, e.Name()))
		}
	}
	return dirs, nil
}

// writeSynced writes a file and syncs it.
func writeSynced(path string, text []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncDir syncs a folder, so that renames in it last. Some file systems cannot.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, errors.ErrUnsupported) || isInvalid(err) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
