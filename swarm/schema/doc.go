// Package schema owns the demands of a JSON Schema on an answer. It knows which
// schemas can be used at all, whether a value matches, the right form if it
// does not, and the place of the answer in a text.
//
// It makes no requests and reads no file: a schema that refers to anything
// outside itself is refused.
package schema
