// Package checkout owns the transaction that changes the user's checkouts: the
// files, the index and the branch change together, or none of them does.
//
// A transaction has five phases. It checks the paths and the free space. It
// writes the new contents into a staging folder and syncs them. It writes a
// durable record of every path with its old and new identity. It renames the
// files, moves the branch by compare-and-swap, and installs the index. It
// removes the staging folder. A failure before the renames leaves no change. A
// failure during the renames puts the old files back. After a kill, [Recover]
// completes the transaction or rolls it back.
//
// A path that changed since the check is never overwritten: old files are moved
// aside and compared, and new files are linked to names that are free.
//
// The package does not own which commits or patches are merged, nor the journal
// of a run: those are the caller's.
package checkout
