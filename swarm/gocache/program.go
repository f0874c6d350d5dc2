package gocache

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Command is the first argument of a process that serves a build cache. After it
// come the own folder and those that it only reads.
const Command = "__gocache"

// Setting returns the value of GOCACHEPROG by which the go command starts a
// program for these folders. ok is false where a path cannot be written in it:
// its fields may stand in quotes of either kind, and there are no escapes.
func Setting(program, own string, lower []string) (value string, ok bool) {
	var fields []string
	for _, field := range slices.Concat([]string{program, Command, own}, lower) {
		switch {
		case !strings.ContainsAny(field, " \t\r\n'\""):
			fields = append(fields, field)
		case !strings.Contains(field, "'"):
			fields = append(fields, "'"+field+"'")
		case !strings.Contains(field, `"`):
			fields = append(fields, `"`+field+`"`)
		default:
			return "", false
		}
	}
	return strings.Join(fields, " "), true
}

// Run is the body of the process, with the arguments after [Command]. It returns
// an exit code.
//
// gocache is the value of GOCACHE. Where a program was given another build cache,
// such as an empty one to measure a build, it gets that and no other.
func Run(args []string, gocache string) int {
	own, lower := args[0], args[1:]
	if dir := filepath.Clean(cmp.Or(gocache, own)); dir != filepath.Clean(own) {
		own, lower = dir, nil
	}
	c, err := Open(own, lower)
	if err == nil {
		err = errors.Join(c.Serve(os.Stdin, os.Stdout), c.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "swarm: serve the Go build cache:", err)
		return 1
	}
	return 0
}
