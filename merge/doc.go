// Package merge turns patches into trees, conflicts and landings.
//
// It owns how a patch is merged onto a commit: in process if the result is
// certainly git's, else by a three-way merge. It owns the description of a
// conflict. It owns the last step of a landing: its objects, then a transaction
// of the package checkout, and the undo of both. It also applies a patch to a
// working tree and takes it out again.
//
// It does not own how files, index and branch change together. The caller
// decides where patches come from, which of them are merged, how branches are
// named and which facts are journaled.
package merge
