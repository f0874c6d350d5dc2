package follow

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/config"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/inbox/waiting"
	"agentswarm/swarm/isolation"
)

// allOwn refuses an answer that is to be remembered for actions on an agent's own
// files, where a question is about something else.
func allOwn(all []waiting.Question) error {
	for _, q := range all {
		if q.Doubt == nil && (q.Risk == nil || !q.Risk.Own) {
			return exit.Usagef("--confined is about actions that destroy only an agent's own files; %s is not about one", q.ID)
		}
	}
	return nil
}

// rememberConfined writes the choice into the user's own configuration, and says
// where. A file that has made the choice already is left as it is.
func rememberConfined(p *cmdline.Place, confined config.Confined) error {
	file := config.UserFile(p.Lookup)
	if file == "" {
		return exit.Usagef("there is no place for your own configuration: neither HOME nor XDG_CONFIG_HOME is set")
	}
	err := config.RememberConfined(file, confined)
	if known := (*config.KnownError)(nil); errors.As(err, &known) {
		fmt.Fprintf(p.Env.Stderr, "%s; it is not changed\n", termtext.Line(known.Error()))
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Env.Stderr, "remembered in %s: [risk] confined = %q\n", termtext.Line(file), confined)
	return nil
}

// OfferConfined asks a person once whether agents may destroy their own files inside the sandbox
// without a question, and saves the answer in the user's configuration. It does not ask without a
// terminal, without a full sandbox, or if the choice is made. It returns an error if the answer
// cannot be read or saved.
func OfferConfined(ctx context.Context, p *cmdline.Place) error {
	if !cmdline.Attended(p) || p.Personal("the choice") != nil {
		return nil
	}
	if level, _, err := isolation.Probe(ctx, &p.Project, p.Env.Self); err != nil || !level.Namespaces() {
		return err
	}
	conf, err := cmdline.UserConfig(p.Env)
	if err != nil || conf.Confined != config.ConfinedUnset {
		return err
	}
	fmt.Fprintln(p.Env.Stderr, "The sandbox keeps agents from all files but their own copies. May an agent destroy its own")
	yes, err := cmdline.AskYes(p.Env, "files without asking you? They are captured first. The answer is kept in your own configuration.")
	if err != nil {
		return err
	}
	confined := config.ConfinedAsk
	if yes {
		confined = config.ConfinedSnapshot
	}
	return rememberConfined(p, confined)
}

// allFlag is that of commands that allow.
func allFlag() cli.Flag {
	return &cli.BoolFlag{Name: "all", Usage: "allow a DESTRUCTIVE action for all agents that ask now"}
}
