package configcmd

import (
	"github.com/urfave/cli/v2"

	"agentswarm/swarm/apparmor"
	"agentswarm/swarm/cli/cmdline"
)

// AppArmorObject is the JSON of `swarm setup apparmor`.
type AppArmorObject = appArmorObject

// NewSetupAppArmorOn returns `swarm setup apparmor` for a machine and a user.
func NewSetupAppArmorOn(env cmdline.Env, machine apparmor.Machine, uid int) *cli.Command {
	command := newSetupAppArmorCommand(env)
	command.Action = func(c *cli.Context) error {
		return (&appArmorSetup{env: env, machine: machine, uid: uid}).run(c)
	}
	return command
}
