// Package schema owns what a JSON Schema asks of an answer: which schemas can
// be asked for at all, whether a value matches one and what would be right
// where it does not, and where in a text the answer stands.
//
// It asks nobody and reads no file: a schema that refers to anything outside
// itself is refused.
package schema
