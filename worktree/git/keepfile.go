package git

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// keptMark begins the lines of ours in the .keep file of a pack. The id of the
// refStore and the run that needs the pack follow, or anyRun.
const keptMark = "swarm-keeps"

// anyRun is in place of a run: the pack is needed as long as commits of any run are built
// upon it.
const anyRun = "*"

// keepFile is the .keep file of a pack, as far as it concerns a refStore.
type keepFile struct {
	stem   string // the path of the pack without its ending
	runs   []string
	others []byte // lines that are not of this refStore
	size   int64  // of the pack
}

// line is the line that keeps a pack for a run.
func (s *refStore) line(run string) (string, error) {
	id, err := s.storeID()
	return keptMark + " " + id + " " + run, err
}

// storeID is the name of the refStore in .keep files. A repository may serve several
// state folders.
func (s *refStore) storeID() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.storeIDLocked()
}

func (s *refStore) storeIDLocked() (string, error) {
	if s.id != "" {
		return s.id, nil
	}
	if err := s.make(); err != nil {
		return "", err
	}
	path := filepath.Join(s.refs.GitDir, "id")
	for range 2 {
		text, err := os.ReadFile(path)
		if id := strings.TrimSpace(string(text)); err == nil && id != "" {
			s.id = id
			return id, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		// A second name is made only if there is none.
		temp := path + "." + rand.Text()
		err = errors.Join(replaceText(temp, rand.Text()+"\n"), os.Link(temp, path))
		if err = errors.Join(ignoreExist(err), os.Remove(temp)); err != nil {
			return "", err
		}
	}
	return "", errors.New("the folder of swarm's refs has an empty id")
}

func ignoreExist(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// writeKeep makes the .keep file of a pack and syncs it to the disk. It returns an
// error if the file exists.
func writeKeep(path, line string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// addKeep adds a line to the .keep file of a pack, which may be missing. The caller
// holds the lock of the refStore, so that only programs other than swarm may remove
// the file meanwhile.
func addKeep(path, line string) error {
	for range 3 {
		err := writeKeep(path, line)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		_, err = f.WriteString("\n" + line + "\n")
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			return err
		}
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte(line)) {
			return nil
		}
	}
	return fmt.Errorf("%s changes all the time", filepath.Base(path))
}

// readKeep reads the .keep file of a pack. A missing file keeps no pack.
func readKeep(stem, id string) (*keepFile, error) {
	k := &keepFile{stem: stem}
	text, err := os.ReadFile(stem + ".keep")
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return k, nil // another user's
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 3 || f[0] != keptMark || f[1] != id {
			k.others = append(k.others, line...)
			continue
		}
		k.runs = append(k.runs, f[2])
	}
	k.others = bytes.TrimSpace(k.others)
	return k, nil
}

// keepFiles are those of all packs of the repository, with packs that are not kept.
func (s *refStore) keepFiles(id string) ([]*keepFile, error) {
	indexes, err := filepath.Glob(filepath.Join(globEscape(s.packDir()), "*.idx"))
	if err != nil {
		return nil, err
	}
	var all []*keepFile
	for _, index := range indexes {
		k, err := readKeep(strings.TrimSuffix(index, ".idx"), id)
		if err != nil {
			return nil, err
		}
		at, err := os.Stat(k.stem + ".pack")
		if errors.Is(err, fs.ErrNotExist) {
			continue // git removes it right now
		}
		if err != nil {
			return nil, err
		}
		k.size = at.Size()
		all = append(all, k)
	}
	return all, nil
}

func (s *refStore) packDir() string { return filepath.Join(s.user.CommonDir, "objects", "pack") }

// globEscape takes the meaning from the signs of a path that a pattern would have.
func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// ownObjects are the objects in packs that are kept for runs.
func (s *refStore) ownObjects() (map[Hash]bool, error) {
	id, err := s.storeIDLocked()
	if err != nil {
		return nil, err
	}
	packs, err := s.keepFiles(id)
	if err != nil {
		return nil, err
	}
	own := map[Hash]bool{}
	for _, k := range packs {
		if len(k.runs) == 0 {
			continue
		}
		ids, err := packNames(k.stem, s.user.hexLen()/2)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // joined with others right now
			return nil, err
		}
		for _, id := range ids {
			own[id] = true
		}
	}
	return own, nil
}

// locked runs f while no other process of ours changes pins, joins packs, or releases
// them.
func (s *refStore) locked(f func() error) (err error) {
	if err := s.make(); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(s.refs.GitDir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	for {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("lock swarm's refs: %w", err)
	}
	return f()
}

// packNames are the names of the objects of a pack.
func packNames(stem string, idLen int) (ids []Hash, err error) {
	p, err := openPack(stem, idLen)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	count := int(p.fanout[255])
	names := make([]byte, count*idLen)
	if _, err := p.idx.ReadAt(names, p.namePlace(0)); err != nil && !(errors.Is(err, io.EOF) && count == 0) {
		return nil, err
	}
	for i := range count {
		ids = append(ids, Hash(hex.EncodeToString(names[i*idLen:(i+1)*idLen])))
	}
	return ids, nil
}
