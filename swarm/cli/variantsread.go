package cli

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

	"agentswarm/swarm/agent"
	"agentswarm/swarm/config"
	"agentswarm/variants"
	"agentswarm/worktree/git"
)

const (
	// variantsDir holds variants of a repository, as FAMILY/MODE.md.
	variantsDir = ".swarm/variants"
	maxVariants = 200
	// maxVariantText is how long the files of a repository may be together.
	maxVariantText = maxVariants * variants.MaxText
)

// runVariants are those that agents of a run may be told: what swarm brings,
// what the user has laid over it, and what the repository has over that, as it
// is committed; less what the configuration leaves out.
func (p *place) runVariants(ctx context.Context, conf *config.Config, commit git.Hash) ([]variants.Variant, error) {
	if conf.NoVariants {
		return nil, nil
	}
	all, err := p.allVariants(ctx, commit)
	if err != nil {
		return nil, err
	}
	for _, text := range unknownOff(all, conf.VariantsOff) {
		fmt.Fprintf(p.env.Stderr, "%s: %s\n", program, Printable(text))
	}
	return variants.Less(all, conf.VariantsOff), nil
}

// sayVariants tells which of the texts that agents of a run may be told are the
// repository's own, and which of those stand in the place of another: somebody
// else may have written them.
func (p *place) sayVariants(pl *plan) {
	heard := pl.script != nil
	for _, call := range pl.calls {
		spec := pl.config.Agents[call.Agent]
		heard = heard || spec != nil && spec.Kind != agent.KindCommand
	}
	brought, err := variants.Embedded()
	if !heard || err != nil {
		return
	}
	var own []string
	for _, v := range pl.config.Variants {
		if !strings.HasPrefix(v.File, variantsDir+"/") {
			continue
		}
		text := v.Key()
		if slices.ContainsFunc(brought, func(b variants.Variant) bool { return b.Key() == v.Key() }) {
			text += " (in place of swarm's)"
		}
		own = append(own, text)
	}
	if len(own) > 0 {
		fmt.Fprintf(p.env.Stderr, "variants of this repository: %s; swarm variants MODEL shows them\n", some(own))
	}
}

// some are the first few of a list, and how many more there are.
func some(all []string) string {
	const most = 5
	if len(all) <= most {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
}

// unknownOff says of what is left out that there is no such thing.
func unknownOff(all []variants.Variant, off []string) []string {
	var known, said []string
	for _, v := range all {
		known = append(known, v.Key())
	}
	for _, key := range off {
		if !strings.Contains(key, "/") || slices.Contains(known, key) {
			continue
		}
		text := fmt.Sprintf("variants.off: there is no %s here", key)
		if near := nearest(key, known); near != "" {
			text += "; the nearest is " + near
		}
		said = append(said, text)
	}
	return said
}

// allVariants are all that there are. An empty commit has none.
func (p *place) allVariants(ctx context.Context, commit git.Hash) ([]variants.Variant, error) {
	all, err := variants.Embedded()
	if err != nil {
		return nil, err
	}
	users, err := p.env.userVariants()
	if err != nil {
		return nil, err
	}
	all = variants.Lay(users, all)
	if commit == "" {
		return all, nil
	}
	own, err := p.repoVariants(ctx, commit)
	return variants.Lay(own, all), err
}

// repoVariants are those of a commit.
func (p *place) repoVariants(ctx context.Context, commit git.Hash) ([]variants.Variant, error) {
	files, err := p.repo.Under(ctx, git.UnderRequest{
		Commit: commit, Paths: []string{variantsDir}, Max: maxVariants, Limit: maxVariantText,
	})
	var many *git.ManyError
	var long *git.LongError
	if errors.As(err, &many) || errors.As(err, &long) {
		return nil, usagef("%s of the commit: %v", variantsDir, err)
	}
	if err != nil {
		return nil, err
	}
	var all []variants.Variant
	for _, f := range files {
		if !isVariantFile(strings.TrimPrefix(f.Path, variantsDir+"/")) {
			continue
		}
		if f.Text == nil || !strings.HasPrefix(f.Mode, "100") {
			return nil, refused(&variants.Error{File: f.Path, Reason: "is no file of its own"})
		}
		v, err := variants.Parse(f.Path, string(f.Text))
		if err != nil {
			return nil, refused(err)
		}
		all = append(all, v)
	}
	return all, nil
}

// sayUncommitted points out that variants of the working tree count for nothing
// before they are committed.
func (p *place) sayUncommitted(all []variants.Variant) {
	here := os.DirFS(filepath.Join(p.repo.TopLevel, filepath.FromSlash(variantsDir)))
	names, err := fs.Glob(here, "*/*.md")
	if err != nil {
		return // what nobody goes by needs no error
	}
	var differ []string
	for _, name := range names {
		var text []byte
		if info, err := fs.Stat(here, name); err == nil && info.Mode().IsRegular() && info.Size() <= variants.MaxText {
			text, _ = fs.ReadFile(here, name)
		}
		at := variantsDir + "/" + name
		if v, err := variants.Parse(at, string(text)); err != nil || !slices.Contains(all, v) {
			differ = append(differ, at)
		}
	}
	if len(differ) > 0 {
		fmt.Fprintf(p.env.Stderr, "not committed: %s; agents are told what the commit has that a run starts from\n", Printable(some(differ)))
	}
}

// isVariantFile reports whether a path is FAMILY/MODE.md. What else lies there,
// such as a README.md above the families, is none of ours.
func isVariantFile(name string) bool {
	return strings.Count(name, "/") == 1 && strings.HasSuffix(name, ".md")
}

// userVariants are those of the user, beside the configuration for all
// repositories.
func (env Env) userVariants() ([]variants.Variant, error) {
	file := config.UserFile((&place{env: env}).lookup)
	if file == "" {
		return nil, nil
	}
	dir := filepath.Join(filepath.Dir(file), "variants")
	names, err := fs.Glob(os.DirFS(dir), "*/*.md")
	if err != nil {
		return nil, err
	}
	if len(names) > maxVariants {
		return nil, usagef("%s: more than %d variants", dir, maxVariants)
	}
	var all []variants.Variant
	for _, name := range names {
		at := filepath.Join(dir, filepath.FromSlash(name))
		info, err := os.Stat(at)
		switch {
		case err != nil:
			return nil, refused(err)
		case !info.Mode().IsRegular():
			return nil, refused(&variants.Error{File: at, Reason: "is no file"})
		case info.Size() > variants.MaxText:
			return nil, refused(&variants.Error{File: at, Reason: fmt.Sprintf("has %d bytes; a variant may have %d", info.Size(), variants.MaxText)})
		}
		text, err := os.ReadFile(at)
		if err != nil {
			return nil, refused(err)
		}
		v, err := variants.Parse(filepath.ToSlash(path.Clean(at)), string(text))
		if err != nil {
			return nil, refused(err)
		}
		all = append(all, v)
	}
	return all, nil
}
