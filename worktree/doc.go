// Package worktree makes the workspaces agents work in, turns what an agent
// left in one into a commit and a patch, and removes it without losing a
// byte.
//
// It leases, fills, restores, captures, releases and drops workspaces of all
// backends. Packages below it own the parts: bases the shared checkouts, fill the
// throttled filling, pool the reuse of files, include the user's files that come
// along, survey the list of changes, trash the removed workspaces.
//
// It does not own how git is called (worktree/git), who works in a workspace,
// when one is leased or released, or the later use of a patch. It mounts nothing:
// whoever starts an agent does, by [Workspace.Mounts].
//
// # What a capture trusts
//
// Nothing that an agent can write to. The index it compares with is a copy
// that was made before the agent started. The configuration is the frozen
// one. Ignore rules and attributes are those of the base: an agent that
// writes a .gitignore of `*` hides nothing, and the file itself is captured
// like any other.
//
// Filters are the user's, but what they read is not. Where the caller can put up
// walls, they run behind them, and what they could write to is not trusted
// either.
package worktree
