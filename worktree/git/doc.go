// Package git is the only place that runs the git binary or uses go-git.
//
// It owns how git is called (environment, configuration per call, process
// group, bounded errors), how a repository is found, and the few plumbing
// commands swarm is made of, each as a typed function. It owns what is done in
// git's own files without a process: objects and packs that are read and made,
// an index that is read, a ref that is created, and the git dirs that
// workspaces get of their own.
// It does not own what they are used for: workspaces and captures live in
// worktree, merging in merge. Nor where a git runs whose filters read what
// agents wrote: that is the caller's, see [Confine].
//
// Git runs with the user's own configuration, so that filters, excludes and
// safe.directory mean what they mean to the user, less all that could run
// code, ask a question or change the shape of output: see run.go.
package git
