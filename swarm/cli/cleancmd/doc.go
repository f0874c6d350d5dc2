// Package cleancmd has the commands that free disk space: gc and rm.
package cleancmd
