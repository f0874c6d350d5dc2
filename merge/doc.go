// Package merge turns patches into trees, conflicts and landings.
//
// It owns how a patch is merged onto a commit (spliced in process where that
// is sure to give what git would, three-way otherwise), what a conflict
// says, and the last step of a landing: objects, checkout, branch, in that
// order and by compare-and-swap, with its undo and its recovery. It owns
// also how one patch is applied to a working tree and taken out again.
//
// It does not own where patches come from, which of them are merged, how
// branches are called or what is journaled: those are the caller's.
package merge
