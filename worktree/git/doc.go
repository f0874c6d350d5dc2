// Package git is the only place that runs the git binary or uses go-git.
//
// It owns how git is called (environment, configuration per call, process
// group, bounded errors), how a repository is found, and the few plumbing
// commands swarm is made of, each as a typed function.
// It does not own what they are used for: workspaces and captures live in
// worktree, merging in merge.
//
// Git runs with the user's own configuration, so that filters, excludes and
// safe.directory mean what they mean to the user, less all that could run
// code, ask a question or change the shape of output: see run.go.
package git
