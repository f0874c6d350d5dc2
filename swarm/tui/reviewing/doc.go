// Package reviewing is the full-screen review of a run: classes of equal edits,
// the lines of an edit, and the keys that decide about them.
package reviewing
