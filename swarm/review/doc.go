// Package review finds edits that are the same in many patches, so that a
// person reads each of them once.
//
// An edit is a run of removed and added lines. Two fingerprints describe it.
// The exact fingerprint covers the words that are removed and added, the kind
// of the file and its language. The shape also replaces the words that stand on
// both sides by variables. Edits with equal exact fingerprints form a class. A
// verdict may spread over a class; a shape only groups classes for the eye.
//
// The package reads patches as text. It calls no git, reads no files, prints
// nothing, and knows nothing of agents: a patch has a name, which decides
// nothing but the order of members that are equal otherwise. Fingerprints
// depend on nothing but the edit, so they are stable across attempts.
package review
