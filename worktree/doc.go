// Package worktree makes the workspaces agents work in, turns what an agent
// left in one into a commit and a patch, and removes it without losing a
// byte.
//
// It owns the three backends: the checkouts of bases that many workspaces
// share, which runs share too and which are bounded by their size; the folders
// of changes or clones above them, each with a git dir of its own; and linked
// worktrees, whose registration is serialized. It owns their throttled filling,
// the ignored files of the user's that come along, the restoring of earlier
// work, the capture, and the trash.
//
// It does not own how git is called (worktree/git), who works in a workspace,
// when one is leased or released, or what becomes of a patch. Nothing is
// mounted here: [Workspace.Mounts] says what must be, by whoever starts those
// who work in it.
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
