// Package picture turns a recording of a terminal into an animated SVG.
//
// A [Screen] models the terminal, as far as line-oriented programs and progress
// displays use it. [Record] collects the screen's contents over time, and
// [Recording.SVG] draws them. The package reads and writes nothing; its caller
// starts programs.
package picture
