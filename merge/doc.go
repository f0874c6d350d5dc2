// Package merge turns patches into trees, conflicts and landings.
//
// It owns how a patch is merged onto a commit (spliced in process where that
// is sure to give what git would, three-way otherwise), what a conflict
// says, and the last step of a landing: its objects, then a transaction of
// the package checkout, and the undo of both. It owns also how a patch is
// applied to a working tree and taken out again.
//
// It does not own how files, index and branch change together, where patches
// come from, which of them are merged, how
// branches are called or what is journaled: those are the caller's.
package merge
