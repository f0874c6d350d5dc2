// Package picture turns a recording of a terminal into an animated SVG.
//
// A [Screen] models the terminal, as far as line-oriented programs and progress
// displays use it. [Record] collects what it shows over time, and [Recording.SVG]
// draws that. The package reads and writes nothing; starting programs is up to
// its caller.
package picture
