// Package worktree makes the workspaces that agents work in. It turns the work of
// an agent into a commit and a patch, and removes a workspace without losing a
// byte.
//
// It leases, fills, restores, captures, releases and drops workspaces of all
// backends. Packages below it own the parts: bases the shared checkouts, fill the
// throttled filling, pool the reuse of files, include the user's included files,
// survey the list of changes, trash the removed workspaces.
//
// It does not own how git is called (worktree/git), who works in a workspace,
// when a workspace is leased or released, or the later use of a patch. It mounts
// no file system: the starter of an agent does, by [Workspace.Mounts].
//
// # What a capture trusts
//
// A capture trusts no file that an agent can write to. It compares the workspace
// with a copy of the index that was made before the agent started. It uses the
// frozen configuration, and the ignore rules and attributes of the base. So an
// agent that writes a .gitignore of `*` hides no file, and the .gitignore is
// captured like any other file.
//
// Filters are the user's, but they read files that are not trusted. If the caller
// has a sandbox, filters run in it, and the files that they could write to are
// not trusted either.
package worktree
