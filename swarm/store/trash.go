package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Trashed is a run whose folder is in the trash.
type Trashed struct {
	Run  string
	Path string
	Time time.Time // when it was removed
}

// Trashed lists the removed runs that are still in the trash. What is not a
// run's folder, as Remove leaves it, is not listed.
func (s *State) Trashed() ([]Trashed, error) {
	entries, err := os.ReadDir(s.Trash())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the trash: %w", err)
	}
	var all []Trashed
	for _, e := range entries {
		seconds, rest, _ := strings.Cut(e.Name(), "-")
		run, ok := strings.CutSuffix(rest, "-run")
		at, err := strconv.ParseInt(seconds, 10, 64)
		if !ok || err != nil || !e.IsDir() || !isRunID(run) {
			continue
		}
		path := filepath.Join(s.Trash(), e.Name())
		var id Identity
		text, err := os.ReadFile(filepath.Join(path, "run.json"))
		if err != nil || json.Unmarshal(text, &id) != nil || id.Run != run {
			continue
		}
		all = append(all, Trashed{Run: run, Path: path, Time: time.Unix(at, 0)})
	}
	return all, nil
}
