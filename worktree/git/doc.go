// Package git is the only place that runs the git binary or uses go-git.
//
// It owns how git is called (environment, configuration per call, process
// group, bounded errors). It finds repositories and has swarm's few plumbing
// commands, each as a typed function. It also owns the access to git's own
// files without a process: it reads and makes objects and packs, reads an
// index, creates a ref, and makes the git dirs of workspaces. It does not own
// the use of them: workspaces and captures live in worktree, merging in merge.
// The caller also decides where a git runs whose filters read agents' files,
// see [Confine].
//
// Git runs with the user's own configuration, so that filters, excludes and
// safe.directory keep their meaning. Settings that could run code, ask a
// question or change the shape of output are off: see run.go.
package git
