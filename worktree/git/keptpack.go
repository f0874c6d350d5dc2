package git

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// packing begins the names of folders in which packs are made.
const packing = "packing-"

// packFor packs objects into packs that are kept for runs.
func (s *refStore) packFor(ctx context.Context, ids []Hash, runs []string) (err error) {
	id, err := s.storeIDLocked()
	if err != nil {
		return err
	}
	slices.Sort(runs)
	var text []string
	for _, run := range slices.Compact(runs) {
		text = append(text, keptMark+" "+id+" "+run)
	}
	dir, err := os.MkdirTemp(s.refs.GitDir, packing)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// Git makes packs in its object folder, which may be on another file system.
	q, err := s.user.Quarantine(dir)
	if err != nil {
		return err
	}
	out, err := q.Run(ctx, Cmd{
		Args:   []string{"pack-objects", "-q", "--non-empty", filepath.Join(dir, "pack", "pack")},
		Stdin:  strings.NewReader(lines(ids)),
		Config: []string{"pack.useBitmaps=false", "pack.threads=1", "pack.window=0", "pack.writeReverseIndex=false", "pack.packSizeLimit=0"},
	})
	if err != nil {
		return err
	}
	s.step("packed")
	for name := range bytes.FieldsSeq(out) {
		if err := s.landPack(filepath.Join(dir, "pack", "pack-"+string(name)), strings.Join(text, "\n")); err != nil {
			return err
		}
	}
	return syncDir(s.packDir())
}

// landPack puts a pack into the repository under a name that no other pack has, kept.
func (s *refStore) landPack(from, text string) error {
	stem := filepath.Join(s.packDir(), s.user.newPackName())
	if err := writeKeep(stem+".keep", text); err != nil {
		return err
	}
	s.step("kept")
	// The index last: by it git knows that there is a pack.
	for _, end := range []string{".pack", ".idx"} {
		if err := place(from+end, stem+end); err != nil {
			return errors.Join(err, removeFiles(stem+".idx", stem+".pack", stem+".keep"))
		}
		s.step("placed " + end)
	}
	return nil
}

// newPackName is a name for a pack that no other pack has. So no other process keeps
// it or releases it.
func (r *Repo) newPackName() string {
	name := make([]byte, r.hexLen()/2)
	_, _ = rand.Read(name) // it never fails
	return "pack-" + hex.EncodeToString(name)
}

const (
	// manyPacks is the number of kept packs from which they are joined.
	manyPacks = 48
	// maxJoined is how large a pack may be that is joined with others, in bytes.
	maxJoined = 64 << 20
)

// joinPacks is joinMany for a caller without the lock.
func (s *refStore) joinPacks(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.locked(func() error { return s.joinMany(ctx, manyPacks) })
}

// joinMany joins packs of ours if there are at least many, as every git, also the
// user's, opens the index of each pack. Objects keep the runs that need them.
func (s *refStore) joinMany(ctx context.Context, many int) error {
	id, err := s.storeIDLocked()
	if err != nil {
		return err
	}
	all, err := s.keepFiles(id)
	if err != nil {
		return err
	}
	some := slices.DeleteFunc(all, func(k *keepFile) bool {
		return len(k.runs) == 0 || len(k.others) > 0 || k.size > maxJoined
	})
	if len(some) < many {
		return nil
	}
	var ids []Hash
	var runs []string
	for _, k := range some {
		names, err := packNames(k.stem, s.user.hexLen()/2)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process joined it
		}
		if err != nil {
			return err
		}
		ids, runs = append(ids, names...), append(runs, k.runs...)
	}
	slices.Sort(ids)
	if err := s.packFor(ctx, slices.Compact(ids), runs); err != nil {
		return err
	}
	s.step("joined")
	// The new pack holds all of them. The index goes first: by it git knows the pack.
	for _, k := range some {
		if err := removeFiles(k.stem+".idx", k.stem+".pack", k.stem+".keep"); err != nil {
			return err
		}
	}
	return nil
}
