package cmdline

import (
	"cmp"
	"context"
	"io"
)

// Typed runs commands in this process as if the user had typed them in a
// folder.
func Typed(env Env) func(ctx context.Context, dir string, stdout, stderr io.Writer, args ...string) int {
	return func(ctx context.Context, dir string, stdout, stderr io.Writer, args ...string) int {
		typed := env
		typed.Args, typed.Dir, typed.Stdout, typed.Stderr = args, dir, stdout, stderr
		if dir != env.Dir {
			typed.Calls = CalledIn(cmp.Or(env.Calls, Program), dir)
		}
		return env.Main(ctx, typed)
	}
}
