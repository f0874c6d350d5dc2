package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// configHooks is the first git that runs hooks which its configuration names, as
// hook.NAME.command at each hook.NAME.event. core.hooksPath does not stop them.
const configHooks = "2.54"

// hookEvents are the events of githooks(5).
func hookEvents() []string {
	return strings.Fields(`applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg
		commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive
		post-update reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman
		p4-changelist p4-prepare-changelist p4-post-changelist p4-pre-submit post-index-change`)
}

// offVariable is a variable of every git of ours whose value is false.
const offVariable = "SWARM_OFF"

// hooksOff are the options that switch off the hooks of configurations: every hook of
// every event, which git 2.55 and later know, and those that were found. The first does
// not hold for an event that is also the name of a hook. Only --config-env takes a name
// that has an = in it. Before a repository is found there are none.
func (g *Git) hooksOff() []string {
	g.hooksMu.Lock()
	defer g.hooksMu.Unlock()
	if !g.hooksRun {
		return nil
	}
	var args []string
	for _, event := range hookEvents() {
		args = append(args, "-c", "hook."+event+".enabled=false")
	}
	for _, name := range g.hooks {
		args = append(args, "--config-env=hook."+name+".enabled="+offVariable)
	}
	return args
}

// findHooks notes the hooks that the configuration of a repository names, so that no
// git from now on runs them.
func (g *Git) findHooks(ctx context.Context, r *Repo) error {
	settings, err := r.Settings(ctx)
	if err != nil {
		return fmt.Errorf("look for hooks: %w", err)
	}
	g.noteHooks(settings)
	return nil
}

// FindHooks is for a folder that is to become a repository: it notes the hooks that the
// configuration of the user and of the system names. [Git.Discover] does so itself.
func (g *Git) FindHooks(ctx context.Context, dir string) error {
	have, err := g.Version(ctx)
	if err != nil || older(have, configHooks) {
		return err
	}
	return g.findHooksAt(ctx, dir)
}

func (g *Git) findHooksAt(ctx context.Context, dir string) error {
	settings, err := g.SettingsAt(ctx, dir)
	if err != nil {
		return fmt.Errorf("look for hooks: %w", err)
	}
	g.noteHooks(settings)
	return nil
}

// noteHooks notes the hooks that settings name.
func (g *Git) noteHooks(settings []Setting) {
	g.hooksMu.Lock()
	defer g.hooksMu.Unlock()
	g.hooksRun = true
	for _, s := range settings {
		if s.Section == "hook" && s.Of != "" && !slices.Contains(g.hooks, s.Of) {
			g.hooks = append(g.hooks, s.Of)
		}
	}
}
