package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Surroundings are the places that the paths of a configuration are compared
// with. Paths that begin with ~/ are below its Home.
type Surroundings struct {
	Home  string   // of the user; empty: there is none
	Repo  []string // required: the checkout and the git dir
	State string   // required: the folder of all runs
	// Closed are paths that agents never see. No folder to write to may open
	// them.
	Closed []string
	// Hide are paths that agents do not see, except the folders in them that
	// they may write to.
	Hide []string
	// Absent lets folders to write to be missing.
	Absent bool
}

// HidePaths returns the real paths that agents do not see. It hides the target
// of a symbolic link, not the link. It returns an [*Error] for a path that
// cannot be hidden.
func (s Surroundings) HidePaths(paths []Path) ([]string, error) {
	return eachPath(paths, s.hidePath)
}

// WriteFolders are the folders that agents may write to, in the equal form. An
// error is an [*Error].
func (s Surroundings) WriteFolders(paths []Path) ([]string, error) {
	return eachPath(paths, s.writeFolder)
}

func eachPath(paths []Path, of func(string) (string, error)) ([]string, error) {
	var all []string
	for _, p := range paths {
		path, err := of(p.Text)
		if err != nil {
			return nil, p.wrong(err.Error())
		}
		if !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	return all, nil
}

// Misplaced returns the faults of the paths of all files, as far as the
// surroundings show them.
func (c *Config) Misplaced(s Surroundings) []*Error {
	var found []*Error
	s.Absent, s.Hide = true, nil
	look := func(paths []Path, of func(string) (string, error)) (real []string) {
		for _, p := range paths {
			path, err := of(p.Text)
			if err != nil {
				found = append(found, p.wrong(err.Error()))
				continue
			}
			real = append(real, path)
		}
		return real
	}
	s.Hide = look(c.Hide, s.hidePath)
	look(c.Write, s.writeFolder)
	for _, name := range c.AgentNames() {
		look(c.agents[name].agent.Write, s.writeFolder)
	}
	return found
}

func (s Surroundings) hidePath(text string) (string, error) {
	path, err := s.real(text, checkPath)
	if err != nil {
		return "", err
	}
	for _, repo := range s.Repo {
		if place := relate(path, repo); place == equal || place == inside {
			return "", fmt.Errorf("%s %s: agents work in copies of it, and see all of those", path, place.of("the repository", repo))
		}
	}
	return path, nil
}

func (s Surroundings) writeFolder(text string) (string, error) {
	path, err := s.real(text, checkFolder)
	if err != nil {
		return "", err
	}
	if err := s.opens(path); err != nil {
		return "", err
	}
	stat, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.Absent:
		return path, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no folder %s; make it first", path)
	case err != nil:
		return "", err
	case !stat.IsDir():
		return "", fmt.Errorf("%s is not a folder", path)
	}
	return path, nil
}

// opens explains which protected place a folder to write to would open.
func (s Surroundings) opens(path string) error {
	if place := relate(path, s.Home); s.Home != "" && (place == equal || place == covers) {
		return fmt.Errorf("%s %s; name a folder in it", path, place.of("HOME", s.Home))
	}
	for _, repo := range s.Repo {
		if place := relate(path, repo); place != apart {
			return fmt.Errorf("%s %s: agents change copies of it only", path, place.of("the repository", repo))
		}
	}
	if place := relate(path, s.State); place != apart {
		return fmt.Errorf("%s %s, where the records of all runs are", path, place.of("the state folder", s.State))
	}
	for _, closed := range s.Closed {
		if place := relate(path, closed); place != apart {
			return fmt.Errorf("%s %s, which is hidden from agents", path, place.of("", closed))
		}
	}
	for _, hidden := range s.Hide {
		if place := relate(path, hidden); place == equal || place == covers {
			return fmt.Errorf("%s %s, which is hidden", path, place.of("", hidden))
		}
	}
	return nil
}

// real is the path that a text leads to.
func (s Surroundings) real(text string, check func(string) error) (string, error) {
	if err := check(text); err != nil {
		return "", err
	}
	path, ok := expand(text, s.Home)
	if !ok {
		return "", fmt.Errorf("%q needs HOME, which is not set to an absolute path", clip(text))
	}
	if path = follow(path); path == "/" {
		return "", check(path)
	}
	return path, nil
}

// follow resolves the symbolic links of a path as far as they lead anywhere.
func follow(path string) string {
	path = filepath.Clean(path)
	real, err := filepath.EvalSymlinks(path)
	if err == nil || path == "/" {
		return cmp.Or(real, path)
	}
	return filepath.Join(follow(filepath.Dir(path)), filepath.Base(path))
}

// position is the place of a path as seen from another path.
type position uint8

const (
	apart position = iota
	equal
	covers
	inside
)

// relate returns the position of a real path to a place.
func relate(path, place string) position {
	place = follow(place)
	switch {
	case path == place:
		return equal
	case below(path, place):
		return covers
	case below(place, path):
		return inside
	default:
		return apart
	}
}

// below reports whether a clean path lies in a folder and is not the folder.
func below(folder, path string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// of returns the position in words. The name of the place may be empty.
func (p position) of(name, place string) string {
	if name != "" {
		place = name + " " + place
	}
	switch p {
	case equal:
		return "is " + place
	case covers:
		return "covers " + place
	case inside:
		return "lies in " + place
	default:
		panic(fmt.Sprintf("unhandled position %d", p))
	}
}
