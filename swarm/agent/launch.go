package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Write writes the files of a launch into the state folder of its agent. An
// earlier process of the agent may have left links there, which are not
// followed out of it.
func (l *Launch) Write(state string) error {
	if len(l.Files) == 0 {
		return nil
	}
	root, err := os.OpenRoot(state)
	if err != nil {
		return fmt.Errorf("prepare an agent: %w", err)
	}
	defer root.Close()
	for _, f := range l.Files {
		name := filepath.FromSlash(f.Name)
		err := root.MkdirAll(filepath.Dir(name), 0o700)
		if err == nil {
			err = root.WriteFile(name, f.Data, 0o600)
		}
		if err != nil {
			return fmt.Errorf("prepare an agent: %w", err)
		}
	}
	return nil
}

// Environ returns an environment with the variables that the launch adds,
// without those that it removes.
func (l *Launch) Environ(env []string) []string {
	if len(l.Env) == 0 && len(l.Unset) == 0 {
		return env
	}
	gone := slices.Clone(l.Unset)
	for _, kv := range l.Env {
		name, _, _ := strings.Cut(kv, "=")
		gone = append(gone, name)
	}
	kept := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(gone, name)
	})
	return append(kept, l.Env...)
}
