package git

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/shell"
)

// CredentialFiles returns the absolute paths of files in which the credential
// helper "store" keeps passwords, as the configuration of the repository and its
// user names them (git-credential-store(1), --file). Files in the default places
// are not among them. home replaces "~". It fails where git cannot read its
// configuration.
func (r *Repo) CredentialFiles(ctx context.Context, home string) ([]string, error) {
	settings, err := r.SettingsOnce(ctx)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, s := range settings {
		if s.Section != "credential" || s.Name != "helper" {
			continue
		}
		if file := storeFile(s.Value, home); filepath.IsAbs(file) && !slices.Contains(all, file) {
			all = append(all, file)
		}
	}
	return all, nil
}

// storeFile returns the file of a credential helper that is "store" with the
// option --file, else "". Git gives the value of helper to a shell.
func storeFile(helper, home string) string {
	words, err := shell.Fields(strings.TrimPrefix(helper, "!"), func(name string) string {
		if name == "HOME" {
			return home
		}
		return ""
	})
	if err != nil {
		return "" // it runs other commands
	}
	store := slices.IndexFunc(words, func(word string) bool {
		name := filepath.Base(word)
		return name == "store" || name == "git-credential-store" || name == "credential-store"
	})
	if store < 0 {
		return ""
	}
	for i, word := range words[store:] {
		if file, ok := strings.CutPrefix(word, "--file="); ok {
			return expandTilde(file, home)
		}
		if word == "--file" && store+i+1 < len(words) {
			return words[store+i+1]
		}
	}
	return ""
}

// expandTilde expands "~/" as git-credential-store does: a shell does not
// expand it in --file=~/x.
func expandTilde(path, home string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(home, rest)
	}
	return path
}
