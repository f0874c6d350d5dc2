// Package wire owns the common parts of agent CLIs' outputs: lines of JSON,
// some of them very long and most of no interest. It also reads the forms that
// people write into their settings. It knows no CLI.
package wire
