// Package wire owns what the outputs of agent CLIs have in common: they are
// lines of JSON, some of them very long and most of no interest; and what
// people write into their settings. It knows no CLI.
package wire
