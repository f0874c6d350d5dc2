package policy

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"agentswarm/risk"
	"agentswarm/risk/repository"
	"agentswarm/swarm/config"
	"agentswarm/worktree/git"
)

// repositoryRules is the file of a repository's own rules, from its top.
const repositoryRules = ".swarm/risk.toml"

// UserRules returns the path of the file with the user's own rules. It is empty if
// the environment names no folder for configuration.
func UserRules(lookup func(string) (string, bool)) string {
	file := config.UserFile(lookup)
	if file == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(file), "risk.toml")
}

// RulesRequest names the files with rules beside the built-in ones.
type RulesRequest struct {
	UserFile string    // of the user; empty: none
	Repo     *git.Repo // nil: none
	Commit   git.Hash  // of Repo; empty: none
}

// RulesError is a file of rules that cannot be used.
type RulesError struct {
	File string // empty: Err names it
	Err  error
}

func (e *RulesError) Error() string {
	var rule *risk.RuleError
	switch {
	case e.File == "":
		return e.Err.Error()
	case !errors.As(e.Err, &rule):
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	where := config.Origin{File: e.File, Line: rule.Line}.String()
	return fmt.Sprintf("%s: %v", where, &risk.RuleError{ID: rule.ID, Why: rule.Why})
}

// Unwrap returns the reason.
func (e *RulesError) Unwrap() error { return e.Err }

// Rules returns the built-in rules with those of the user and those of a commit,
// which only raise tiers. A file that cannot be used is a [*RulesError]; other errors
// are those of git.
func Rules(ctx context.Context, r RulesRequest) (*risk.Rules, error) {
	var text []byte
	if r.UserFile != "" {
		source, err := config.ReadFile(config.User, r.UserFile)
		if err != nil {
			return nil, &RulesError{Err: err}
		}
		text = source.Text
	}
	if len(text) > config.MaxSize {
		return nil, &RulesError{File: r.UserFile, Err: fmt.Errorf("is longer than %d bytes", config.MaxSize)}
	}
	theirs, err := repository.File(ctx, r.Repo, repository.FileRequest{Commit: r.Commit, Path: repositoryRules, Most: config.MaxSize})
	if of := (*repository.FileError)(nil); errors.As(err, &of) {
		return nil, &RulesError{Err: err}
	}
	if err != nil {
		return nil, err
	}
	rules, err := risk.LoadWith(text, theirs)
	if err == nil {
		return rules, nil
	}
	file := r.UserFile
	if of := (*risk.RepositoryError)(nil); errors.As(err, &of) {
		file = r.Commit.Short() + ":" + repositoryRules
	}
	return nil, &RulesError{File: file, Err: err}
}
