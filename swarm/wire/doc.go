// Package wire owns what the outputs of agent CLIs have in common: they are
// lines of JSON, some of them very long and most of no interest, and tell of
// errors in words. It knows no CLI.
package wire
