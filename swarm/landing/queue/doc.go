// Package queue owns the algorithm of the landing queue: it finds the patches
// that pass the check of a branch together, and those that do not.
//
// It works on sets of patch ids. It runs no process, merges no tree, reads no
// clock and starts no goroutine: a [Gate] merges and verifies for it.
//
// The words: a trial is a run of the check on the tree of a set of patches. The
// tip is the set that has passed so far; it begins as the branch itself.
//
// The result depends on the verdicts only. The number of slots changes which sets
// are tried, and so how long it takes. It does not change which patches are
// refused, as long as verdicts are deterministic and a set that fails does not
// pass with a patch more. For other verdicts two facts remain: the tip passed as
// a whole tree, and a patch is refused only after two failed trials of it on a
// tree that passed without it, and a third on all that landed.
package queue
