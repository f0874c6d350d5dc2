package configcmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/apparmor"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/store"
)

// NewSetup returns the command setup.
func NewSetup(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "setup",
		Usage: "prepare this machine for sandboxed agents",
		Description: `Some systems do not let programs create the user namespaces in which agents run.
The commands below change the system, as root, so that swarm can.
swarm doctor tells which sandbox agents get without that.

Examples:
  swarm setup apparmor
  swarm doctor`,
		Subcommands: []*cli.Command{newSetupAppArmorCommand(env)},
	}
}

func newSetupAppArmorCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "apparmor",
		Usage: "exempt swarm from AppArmor's user namespace restriction",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "print", Usage: "print the profile and install nothing, also as root"},
			&cli.BoolFlag{Name: "remove", Usage: "unload the profile and remove its file"},
			cmdline.JSONFlag(),
		},
		Description: `Ubuntu 23.10 and later restrict user namespaces to programs with an AppArmor
profile. This command prints such a profile for this program. As root it also
writes the profile to /etc/apparmor.d and loads it. Without root it prints the
command that does so.

The profile restricts nothing. It is attached to the path of this program and to
the copies of it in the state folder. Under sudo that is the state folder of the
user who called sudo. The user can write to that folder, so every program of that
user can get the right to create user namespaces. Run the command again when the
program or the state folder has moved.

A program or state folder below a folder that everyone can write to, such as
/tmp, gets no profile. The exit code is 2 where AppArmor is off, or does not
restrict user namespaces.

Examples:
  swarm setup apparmor
  sudo swarm setup apparmor
  swarm setup apparmor --print
  sudo swarm setup apparmor --remove`,
		Action: func(c *cli.Context) error {
			s := &appArmorSetup{env: env, machine: apparmor.Linux(env.Getenv("PATH")), uid: os.Geteuid()}
			return s.run(c)
		},
	}
}

// appArmorSetup is a run of `swarm setup apparmor`.
type appArmorSetup struct {
	env     cmdline.Env
	machine apparmor.Machine
	uid     int // the effective user
}

// appArmorObject is swarm.setup.apparmor/1, described in docs/json.md.
type appArmorObject struct {
	Schema    string   `json:"schema"`
	Name      string   `json:"name"`
	Path      string   `json:"path"`
	Profile   string   `json:"profile"`
	Program   string   `json:"program"`
	StateDir  string   `json:"state_dir"`
	Change    string   `json:"change"`
	Installed bool     `json:"installed"`
	Loaded    *bool    `json:"loaded,omitempty"` // absent: only root may know
	Restricts bool     `json:"restricts"`
	Command   string   `json:"command,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`
}

func (s *appArmorSetup) run(c *cli.Context) error {
	if _, err := cmdline.Arguments(c, 0, 0); err != nil {
		return err
	}
	r, err := s.request(c.Bool("print"), c.Bool("remove"))
	if err != nil {
		return err
	}
	done, err := apparmor.Setup(c.Context, r)
	if err != nil {
		return appArmorRefused(err)
	}
	o := &appArmorObject{
		Schema: "swarm.setup.apparmor/1", Name: done.Name, Path: done.File, Profile: done.Text,
		Program: done.Program, StateDir: r.State, Change: done.Change.String(),
		Installed: done.Installed, Loaded: done.Loaded, Restricts: s.machine.Restricts(),
	}
	if r.Action != apparmor.Remove {
		for _, w := range done.Weaknesses {
			o.Warnings = append(o.Warnings, w.String())
		}
	}
	if s.uid != 0 && !c.Bool("print") {
		o.Command = apparmor.Command(s.env.Self, s.env.Getenv)
	}
	switch {
	case c.Bool("json"):
		err = cmdline.PrintJSON(s.env.Stdout, o)
	case r.Action != apparmor.Remove:
		_, err = io.WriteString(s.env.Stdout, o.Profile)
	}
	return errors.Join(err, s.print(done, o, r.Action))
}

// request turns the flags into a request. Only root may change anything.
func (s *appArmorSetup) request(onlyPrint, remove bool) (apparmor.Request, error) {
	r := apparmor.Request{Program: s.env.Self, User: s.uid, Machine: s.machine}
	getenv := s.env.Getenv
	switch {
	case onlyPrint && remove:
		return r, exit.Usagef("setup apparmor: --print changes nothing, so it cannot --remove the profile")
	case remove && s.uid != 0:
		return r, &exit.UsageError{
			Text:   "setup apparmor: only root can remove a profile",
			Advice: apparmor.Command(s.env.Self, getenv) + " --remove",
		}
	case remove:
		r.Action = apparmor.Remove
	case onlyPrint:
	case s.uid == 0:
		r.Action = apparmor.Install
	default:
		if err := s.machine.Available(); err != nil {
			return r, appArmorRefused(err)
		}
	}
	if s.uid == 0 {
		var err error
		if r.User, getenv, err = invoker(getenv); err != nil {
			return r, err
		}
	}
	root, err := store.Root(getenv)
	if err != nil {
		return r, cmdline.Refused(err)
	}
	r.State = root
	return r, nil
}

// invoker returns the user who called sudo, and the environment with their HOME:
// sudo sets that to root's. Without sudo it is root.
func invoker(getenv func(string) string) (int, func(string) string, error) {
	id, name := getenv("SUDO_UID"), getenv("SUDO_USER")
	var who *user.User
	var err error
	switch {
	case id != "":
		who, err = user.LookupId(id)
	case name != "":
		who, err = user.Lookup(name)
	default:
		return 0, getenv, nil
	}
	if err != nil {
		return 0, nil, &exit.UsageError{
			Text:   fmt.Sprintf("setup apparmor: the user who called sudo (%s) is unknown: %v", cmp.Or(name, id), err),
			Advice: "sudo env -u SUDO_UID -u SUDO_USER SWARM_STATE_DIR=FOLDER swarm setup apparmor",
		}
	}
	uid, err := strconv.Atoi(who.Uid)
	return uid, func(key string) string {
		if key == "HOME" {
			return who.HomeDir
		}
		return getenv(key)
	}, err
}

// appArmorRefused gives the errors of a machine or path that is not as it must
// be the code of a refusal.
func appArmorRefused(err error) error {
	var path *apparmor.PathError
	var machine *apparmor.UnavailableError
	var exposed *apparmor.ExposedError
	if errors.As(err, &path) || errors.As(err, &machine) || errors.As(err, &exposed) {
		return cmdline.Refused(err)
	}
	return err
}

// print reports the done action on stderr, in a single line after the warnings.
func (s *appArmorSetup) print(done *apparmor.Result, o *appArmorObject, action apparmor.Action) error {
	text := ""
	line := func(format string, args ...any) { text += termtext.Line(fmt.Sprintf(format, args...)) + "\n" }
	for _, w := range o.Warnings {
		line("warning: %s", w)
	}
	switch {
	case done.Change == apparmor.Removed:
		line("unloaded and removed %s", done.File)
	case action == apparmor.Remove:
		line("there is no profile of %s in %s", done.Program, filepath.Dir(done.File))
	case action == apparmor.Install && done.Change == apparmor.Unchanged:
		line("%s was installed already; loaded it again", done.File)
	case action == apparmor.Install:
		line("%s %s and loaded it", done.Change, done.File)
	case o.Command != "":
		line("to install the profile, run: %s", o.Command)
	}
	_, err := io.WriteString(s.env.Stderr, text)
	return err
}
