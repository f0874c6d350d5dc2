package follow

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/store"
)

// everywhereFlag makes a command list the runs of all repositories.
func everywhereFlag(usage string) cli.Flag {
	return &cli.BoolFlag{Name: "all", Usage: usage}
}

// allRuns lists the runs of all repositories of this machine, the latest last.
// It needs no repository here, reads only, and recovers nothing. none is said where
// the list is empty.
func allRuns(c *cli.Context, env cmdline.Env, keep func(listedObject) bool, none string) error {
	for _, other := range []string{"watch", "quiet", "failed", "verified", "unlanded", "running"} {
		if c.Bool(other) {
			return exit.Usagef("%s: --all and --%s exclude each other", c.Command.Name, other)
		}
	}
	if _, err := cmdline.Arguments(c, 0, 0); err != nil {
		return err
	}
	root, err := store.Root(env.Getenv)
	if err != nil {
		return cmdline.Refused(err)
	}
	repositories, unread := store.Repositories(root)
	list := listObject{Schema: listSchema, Runs: []listedObject{}}
	for _, r := range repositories {
		for _, e := range r.Runs {
			o := listedElsewhere(e)
			o.Repository, o.Gone = r.Dir, r.Gone
			if keep(o) {
				list.Runs = append(list.Runs, o)
			}
		}
	}
	slices.SortStableFunc(list.Runs, func(a, b listedObject) int { return a.Created.Compare(b.Created) })
	if c.Bool("json") {
		return errors.Join(cmdline.PrintJSON(env.Stdout, list), unread)
	}
	if len(list.Runs) > 0 {
		err = printAllRuns(env, list.Runs)
	} else {
		err = sayNone(env, none)
	}
	return errors.Join(err, unread)
}

// listedElsewhere sums a run up without its repository.
func listedElsewhere(e store.Entry) listedObject {
	if e.Damage != nil {
		return damagedRun(e, e.Damage)
	}
	v, err := e.Run.View()
	if err != nil {
		return damagedRun(e, err)
	}
	if v.Died {
		v.Interrupted()
	}
	o := newListed(v)
	o.Questions = len(v.Waiting())
	return o
}

// unfinished reports whether a run goes on, or would if its process had not died.
func unfinished(o listedObject) bool {
	return o.Status == string(store.RunRunning) || o.Status == string(store.RunWaiting) || o.Status == string(store.RunPaused) || o.Recovery != nil
}

// maxInboxHints is how many repositories with questions are named.
const maxInboxHints = 3

func printAllRuns(env cmdline.Env, runs []listedObject) error {
	term := terminal.Detect(env.Stdout, env.Getenv)
	width, _ := term.Size()
	t := &terminal.Table{Term: term, Columns: []terminal.Column{
		{Title: "REPOSITORY", Flex: true}, {Title: "RUN"}, {Title: "STATUS", Flex: true, Style: terminal.StateStyle},
		{Title: "AGENTS", Right: true}, {Title: "QUESTIONS", Right: true}, {Title: "BEGAN"}, {Title: "WHAT", Flex: true},
	}}
	now := time.Now()
	var asking []string
	for _, r := range runs {
		dir := termtext.Line(r.Repository)
		if r.Gone {
			dir += " (gone)"
		}
		t.Row(dir, r.Run, r.status(), fmt.Sprint(r.Agents), fmt.Sprint(r.Questions), termtext.Ago(now, r.Created), terminal.ShortenEnd(termtext.Line(strings.Join(r.Args, " ")), whatWidth))
		if r.Questions > 0 && !slices.Contains(asking, r.Repository) {
			asking = append(asking, r.Repository)
		}
	}
	if err := t.Print(env.Stdout, width); err != nil {
		return err
	}
	for _, dir := range asking[:min(len(asking), maxInboxHints)] {
		fmt.Fprintf(env.Stderr, "answer: %s inbox\n", termtext.Line(cmdline.CalledIn(env.Calls, dir)))
	}
	return nil
}
