package shim

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/swarm/proc"
)

// query asks git something about the repository of the call; ok is false
// where git ends with another code than 0.
func (c *call) query(args ...string) (answer string, ok bool) {
	var out bytes.Buffer
	code, err := c.child(child{global: c.global, args: args, out: &out})
	return strings.TrimSuffix(out.String(), "\n"), err == nil && code == 0
}

// child is a git that is waited for.
type child struct {
	global, args []string // before the subcommand, and from it on
	dir          string   // empty: where the call was made
	env          []string // nil: that of the call
	out, err     io.Writer
}

func (c *call) child(r child) (code int, err error) {
	if r.dir == "" {
		if r.dir, err = os.Getwd(); err != nil {
			return 0, err
		}
	}
	if r.env == nil {
		r.env = c.Environ
	}
	return proc.Foreground(proc.ForegroundRequest{
		Argv: slices.Concat([]string{c.git}, r.global, r.args), Env: r.env, Dir: r.dir,
		Stdout: r.out, Stderr: r.err,
	})
}

// branch reports whether a checkout of a name would put HEAD on a branch,
// including a branch that git would make from that of a remote.
func (c *call) branch(name string) bool {
	if name == "-" {
		name = "@{-1}"
	}
	if strings.HasPrefix(name, "@{-") {
		full, _ := c.query("rev-parse", "--symbolic-full-name", name)
		return strings.HasPrefix(full, "refs/heads/")
	}
	if _, is := c.query("show-ref", "--verify", "--quiet", "refs/heads/"+name); is {
		return true
	}
	if _, is := c.query("rev-parse", "--quiet", "--verify", name+"^{commit}"); is || strings.ContainsAny(name, "*?[\\") {
		return false
	}
	remote, _ := c.query("for-each-ref", "--format=%(refname)", "refs/remotes/*/"+name)
	return remote != ""
}

// ownConfig reports whether each worktree has a configuration of its own.
func (c *call) ownConfig() bool {
	value, _ := c.query("config", "--type=bool", "--get", "extensions.worktreeConfig")
	return value == "true"
}

// shares reports whether the call concerns the repository that the workspace
// shares: in a repository of its own an agent may do anything. Without a
// repository, git reports the error.
func (c *call) shares() bool {
	common, ok := c.query("rev-parse", "--path-format=absolute", "--git-common-dir")
	if !ok {
		return false
	}
	ours, err := commonDir(c.env("SWARM_WORKTREE"))
	if err != nil {
		// All that is left is to look whether it is a linked worktree.
		own, _ := c.query("rev-parse", "--path-format=absolute", "--git-dir")
		return own != common
	}
	here, err := os.Stat(common)
	if err != nil {
		return true
	}
	return os.SameFile(here, ours)
}

// commonDir is the git dir that a linked worktree shares.
func commonDir(worktree string) (os.FileInfo, error) {
	text, err := os.ReadFile(filepath.Join(worktree, ".git"))
	if err != nil {
		return nil, err
	}
	admin := strings.TrimSuffix(strings.TrimPrefix(string(text), "gitdir: "), "\n")
	if !filepath.IsAbs(admin) {
		admin = filepath.Join(worktree, admin)
	}
	if text, err = os.ReadFile(filepath.Join(admin, "commondir")); err != nil {
		return nil, err
	}
	common := strings.TrimSuffix(string(text), "\n")
	if !filepath.IsAbs(common) {
		common = filepath.Join(admin, common)
	}
	return os.Stat(common)
}
