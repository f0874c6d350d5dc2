// Package variantset collects the variants that agents may be told: those of swarm, of the
// user, and of a repository as it is committed. A later one replaces an earlier one.
package variantset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/swarm/nearest"
	"agentswarm/swarm/refusal"
	"agentswarm/variants"
	"agentswarm/worktree/git"
)

const (
	// Folder holds variants of a repository, as FAMILY/MODE.md.
	Folder      = ".swarm/variants"
	maxVariants = 200
	// maxVariantText is how long the files of a repository may be together.
	maxVariantText = maxVariants * variants.MaxText
)

// Request asks for variants.
type Request struct {
	UserDir string    // of the user's own variants; empty: there is none
	Repo    *git.Repo // required with a commit
	// Commit has the variants of the repository. Empty: those do not count.
	Commit git.Hash
}

// All returns the variants. A file that is not a variant is an error.
func All(ctx context.Context, r Request) ([]variants.Variant, error) {
	all, err := variants.Embedded()
	if err != nil {
		return nil, err
	}
	users, err := ofUser(r.UserDir)
	if err != nil {
		return nil, err
	}
	all = variants.Lay(users, all)
	if r.Commit == "" {
		return all, nil
	}
	own, err := ofRepo(ctx, r.Repo, r.Commit)
	return variants.Lay(own, all), err
}

// UnknownOff names entries of the list of variants to leave out that name no variant.
func UnknownOff(all []variants.Variant, off []string) []string {
	var known, said []string
	for _, v := range all {
		known = append(known, v.Key())
	}
	for _, key := range off {
		if !strings.Contains(key, "/") || slices.Contains(known, key) {
			continue
		}
		text := fmt.Sprintf("variants.off: there is no %s here", key)
		if near := nearest.Name(key, known); near != "" {
			text += "; the nearest is " + near
		}
		said = append(said, text)
	}
	return said
}

// OfRepo names the variants of the repository among all, with a note on those that replace
// one of swarm's.
func OfRepo(all []variants.Variant) []string {
	brought, err := variants.Embedded()
	if err != nil {
		return nil
	}
	var own []string
	for _, v := range all {
		if !strings.HasPrefix(v.File, Folder+"/") {
			continue
		}
		text := v.Key()
		if slices.ContainsFunc(brought, func(b variants.Variant) bool { return b.Key() == v.Key() }) {
			text += " (in place of swarm's)"
		}
		own = append(own, text)
	}
	return own
}

// Uncommitted are the files of variants in a checkout that differ from the committed ones.
func Uncommitted(topLevel string, all []variants.Variant) []string {
	here := os.DirFS(filepath.Join(topLevel, filepath.FromSlash(Folder)))
	names, err := fs.Glob(here, "*/*.md")
	if err != nil {
		return nil // the files have no effect, so that no error is needed
	}
	var differ []string
	for _, name := range names {
		var text []byte
		if info, err := fs.Stat(here, name); err == nil && info.Mode().IsRegular() && info.Size() <= variants.MaxText {
			text, _ = fs.ReadFile(here, name)
		}
		at := Folder + "/" + name
		if v, err := variants.Parse(at, string(text)); err != nil || !slices.Contains(all, v) {
			differ = append(differ, at)
		}
	}
	return differ
}

// ofRepo are the variants of a commit.
func ofRepo(ctx context.Context, repo *git.Repo, commit git.Hash) ([]variants.Variant, error) {
	files, err := repo.Under(ctx, git.UnderRequest{
		Commit: commit, Paths: []string{Folder}, Max: maxVariants, Limit: maxVariantText,
	})
	var many *git.ManyError
	var long *git.LongError
	if errors.As(err, &many) || errors.As(err, &long) {
		return nil, refusal.New("%s of the commit: %v", Folder, err)
	}
	if err != nil {
		return nil, err
	}
	var all []variants.Variant
	for _, f := range files {
		if !isVariantFile(strings.TrimPrefix(f.Path, Folder+"/")) {
			continue
		}
		if f.Text == nil || !strings.HasPrefix(f.Mode, "100") {
			return nil, refusal.Of(&variants.Error{File: f.Path, Reason: "is not a regular file"})
		}
		v, err := variants.Parse(f.Path, string(f.Text))
		if err != nil {
			return nil, refusal.Of(err)
		}
		all = append(all, v)
	}
	return all, nil
}

// isVariantFile reports whether a path is FAMILY/MODE.md. Other files there,
// such as a README.md above the families, are none of ours.
func isVariantFile(name string) bool {
	return strings.Count(name, "/") == 1 && strings.HasSuffix(name, ".md")
}

// ofUser are the variants in a folder of the user.
func ofUser(dir string) ([]variants.Variant, error) {
	if dir == "" {
		return nil, nil
	}
	names, err := fs.Glob(os.DirFS(dir), "*/*.md")
	if err != nil {
		return nil, err
	}
	if len(names) > maxVariants {
		return nil, refusal.New("%s: more than %d variants", dir, maxVariants)
	}
	var all []variants.Variant
	for _, name := range names {
		at := filepath.Join(dir, filepath.FromSlash(name))
		info, err := os.Stat(at)
		switch {
		case err != nil:
			return nil, refusal.Of(err)
		case !info.Mode().IsRegular():
			return nil, refusal.Of(&variants.Error{File: at, Reason: "is not a file"})
		case info.Size() > variants.MaxText:
			return nil, refusal.Of(&variants.Error{File: at, Reason: fmt.Sprintf("has %d bytes; a variant may have %d", info.Size(), variants.MaxText)})
		}
		text, err := os.ReadFile(at)
		if err != nil {
			return nil, refusal.Of(err)
		}
		v, err := variants.Parse(filepath.ToSlash(path.Clean(at)), string(text))
		if err != nil {
			return nil, refusal.Of(err)
		}
		all = append(all, v)
	}
	return all, nil
}
