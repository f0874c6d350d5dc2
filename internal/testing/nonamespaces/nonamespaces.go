// Package nonamespaces lets tests run a command on a system that has no usable
// user namespaces: under a seccomp filter that refuses the system calls that
// make and change them. It shows how swarm works in a container or on a stock
// Ubuntu.
package nonamespaces

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// Failed is the exit code of [Main] where the filter cannot be set.
const Failed = 99

// Main is the command
//
//	nonamespaces [-as container|apparmor] [-no-landlock] COMMAND [ARG...]
//	nonamespaces -no-overlays COMMAND [ARG...]
//
// As a container (the default), the filter refuses what the default seccomp
// profile of Docker refuses without CAP_SYS_ADMIN
// (docs.docker.com/engine/security/seccomp): namespaces cannot be made. As
// AppArmor's profile unprivileged_userns (Ubuntu 23.10 and later), they can be
// made, but give no capability: every mount fails.
//
// The process becomes the command, which then gives the exit code; 127 says
// that there is no such command. Main returns only if the filter cannot be set.
//
// With -no-overlays there is no filter. The state folder, as SWARM_STATE_DIR names it,
// is an overlay then, as all of a container's files are: the kernel mounts none in it.
// Where the file system takes no overlays anyway, the folder stays as it is.
func Main(args []string) int {
	code, err := run(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "nonamespaces:", err)
		return Failed
	}
	return code
}

func run(args []string) (code int, err error) {
	flags := flag.NewFlagSet("nonamespaces", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	as := flags.String("as", "container", "")
	noLandlock := flags.Bool("no-landlock", false, "")
	noOverlays := flags.Bool("no-overlays", false, "")
	if err := flags.Parse(args); err != nil {
		return 0, err
	}
	switch {
	case flags.NArg() == 0:
		return 0, errors.New("no command")
	case *noOverlays:
		return onOverlay(os.Getenv("SWARM_STATE_DIR"), flags.Args())
	}
	return 0, become(*as, *noLandlock, flags.Args())
}
