package cli

import (
	"context"
	"os"

	"agentswarm/swarm/cli/agentcmd"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/script"
	"agentswarm/swarm/script/process"
	"agentswarm/swarm/shim"
)

// Supervise is the body of a process that swarm starts for itself. Such a
// process needs more of the program than those of package early, which never
// come here. ok is false if args do not name such a process.
func Supervise(ctx context.Context, args []string) (code int, ok bool) {
	switch {
	case len(args) == 1 && args[0] == process.Word:
		return script.Serve(ctx, os.Stdin, os.Stdout), true
	case len(args) > 0 && args[0] == agentcmd.HookCommand:
		return agentcmd.RunHook(ctx, args[1:])
	case len(args) > 0 && args[0] == session.GitCommand:
		return shim.Run(shim.Request{
			Args: args[1:], Environ: os.Environ(), Stdout: os.Stdout, Stderr: os.Stderr,
		}), true
	default:
		return 0, false
	}
}
