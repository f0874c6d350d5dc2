// Package ticket reads lists of tickets, such as the issues of a forge, and
// fills templates with their fields.
//
// Strangers write the text of tickets. A field is therefore a value and never
// a template, a command, a path or an option of an agent. In a prompt it stands
// between tags, with its source; see [Template.Prompt]. In a commit message it cannot
// begin a line of its own where a line has a meaning; see [Template.Line].
//
// The package is pure: it reads the text that it is given, and starts nothing.
package ticket
