// Package submodule finds out which commits of submodules a change needs in the
// repositories of the user, and brings them there.
//
// A commit of a submodule is either in the user's submodule already, or in the
// store of a run, or nowhere: then no patch that records it may land. The package
// runs git in repositories of the user and in stores only, and fetches nothing. It
// does not own how agents' submodules are captured (package worktree), nor the
// transaction that changes checkouts (package checkout).
package submodule
