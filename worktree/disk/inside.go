package disk

import "path/filepath"

// Inside reports whether a path is dir, or below it, by their real names.
func Inside(dir, path string) bool {
	rel, err := filepath.Rel(real(dir), real(path))
	return err == nil && filepath.IsLocal(rel)
}

// real is a path without symlinks, as far as there is anything at it.
func real(path string) string {
	for rest := ""; ; {
		if at, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(at, rest)
		}
		up := filepath.Dir(path)
		if up == path {
			return filepath.Join(path, rest)
		}
		rest, path = filepath.Join(filepath.Base(path), rest), up
	}
}
