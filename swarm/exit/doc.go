// Package exit maps the errors of commands to exit codes, hints and kinds.
package exit
