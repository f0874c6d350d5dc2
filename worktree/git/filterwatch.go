package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// FilterLimit is how long a filter may do nothing where no limit is set. A
// filter that fetches files does something all the time.
const FilterLimit = 10 * time.Minute

// workFactor is how many limits a filter may compute without a sign that it
// moves data.
const workFactor = 6

// LimitFilters sets how long a filter may do nothing before the git that waits
// for it is ended. A filter that only computes may take six times as long. 0 is
// [FilterLimit]. It must not be called while another goroutine runs git.
func (g *Git) LimitFilters(limit time.Duration) { g.filterLimit = limit }

// HungFilterError is a filter that did nothing, or nothing but compute, for too
// long. The git that waited for it was ended. The files that this git had begun
// to write are as after any git that fails.
type HungFilterError struct {
	Limit    time.Duration
	Computed bool     // it computed, and no data was seen to move
	Commands []string // of the processes that git waited for; empty: they cannot be seen
	Filter   string   // name in the configuration; empty: not known
	Key      string   // such as filter.x.clean
	File     string   // the configuration file that has the key
}

func (e *HungFilterError) Error() string {
	did := "did nothing"
	if e.Computed {
		did = "moved no data"
	}
	advice := "mend it, or take it out of .gitattributes; $SWARM_FILTER_TIMEOUT allows more"
	switch {
	case e.Filter != "":
		return fmt.Sprintf("the filter %q (%s of %s) %s for %s and was ended: %s", e.Filter, e.Key, e.File, did, e.Limit, advice)
	case len(e.Commands) == 0:
		return fmt.Sprintf("it took %s and was ended, for ps does not show whether a filter works: $SWARM_FILTER_TIMEOUT allows more", e.Limit)
	}
	return fmt.Sprintf("it waited for %q, which %s for %s and was ended: %s", strings.Join(e.Commands, ", "), did, e.Limit, advice)
}

// WatchFilters returns a context that ends with a [*HungFilterError] once the
// processes below a git do nothing for as long as a filter may. The caller
// calls stop when the git has ended. The process is the git, or an ancestor of
// it in which only the git works.
func (g *Git) WatchFilters(ctx context.Context, cancel context.CancelCauseFunc, pid int) (stop func()) {
	limit := g.filterLimit
	if limit <= 0 {
		limit = FilterLimit
	}
	watched, over := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(max(limit/20, 20*time.Millisecond))
		defer tick.Stop()
		p := newPatience(limit, time.Now())
		for {
			select {
			case <-watched.Done():
				return
			case <-tick.C:
			}
			now := lookBelow(watched, pid)
			if watched.Err() != nil {
				return
			}
			if hung := p.judge(time.Now(), now); hung != nil {
				cancel(hung)
				return
			}
		}
	}()
	return func() {
		over()
		<-done
	}
}

// activity is the work that the processes below a git have done.
type activity struct {
	moved    uint64 // grows with each byte that is read or written, and with the git's time
	computed uint64 // grows with the time of all others
	pids     []int
	commands []string // all commands below it except git
	unseen   bool     // the processes cannot be seen
}

// add notes a process below the git. Time that a git computes counts as data
// moved: it works on the data that it has read.
func (a *activity) add(pid int, args string, computed uint64) {
	a.pids = append(a.pids, pid)
	program, _, _ := strings.Cut(args, " ")
	if filepath.Base(program) == "git" {
		a.moved += computed
		return
	}
	a.computed += computed
	if args != "" {
		a.commands = append(a.commands, args)
	}
}

// descendants lists the processes below pid, parents first.
func descendants(children map[int][]int, pid int) []int {
	all := slices.Clone(children[pid])
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

// patience decides when a filter has taken too long.
type patience struct {
	limit        time.Duration
	last         activity
	active, live time.Time // when something was last done, and when data last moved
}

func newPatience(limit time.Duration, now time.Time) *patience {
	return &patience{limit: limit, active: now, live: now}
}

// judge returns the error of a filter that has taken too long, or nil. Data that
// moves and processes that come or go allow any time. Time that a filter
// computes allows six limits, and so does an activity that cannot be seen.
func (p *patience) judge(now time.Time, a activity) *HungFilterError {
	last := p.last
	p.last = a
	if !a.unseen && (len(a.commands) == 0 || a.moved != last.moved || !slices.Equal(a.pids, last.pids)) {
		p.active, p.live = now, now
		return nil
	}
	if a.unseen || a.computed != last.computed {
		p.active = now
	}
	switch {
	case now.Sub(p.active) >= p.limit:
		return &HungFilterError{Limit: p.limit, Commands: a.commands}
	case now.Sub(p.live) >= workFactor*p.limit:
		return &HungFilterError{Limit: workFactor * p.limit, Computed: true, Commands: a.commands}
	}
	return nil
}

// blame finds the filter in the configuration that an error of a filter comes
// from. The git that ran the filter may have had a copy of the configuration.
// The error names the user's own file, as the user must mend that.
func (g *Git) blame(ctx context.Context, hung error) {
	var e *HungFilterError
	at := g.common.Load()
	if !errors.As(hung, &e) || len(e.Commands) == 0 || e.Filter != "" || at == nil {
		return
	}
	out, err := g.Run(ctx, Cmd{
		Args: []string{"config", "--show-origin", "--null", "--get-regexp", `^filter\..*\.(clean|smudge|process)$`},
		Dir:  *at, Env: []string{"GIT_DIR=" + *at},
	})
	if err != nil {
		return // the commands are named instead
	}
	e.found(configuredFilters(string(out), *at))
}

// configuredFilter is a command of a filter.
type configuredFilter struct{ name, key, command, file string }

// configuredFilters parses the output of `git config --show-origin --null` in a
// git dir.
func configuredFilters(out, at string) (all []configuredFilter) {
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		key, command, _ := strings.Cut(fields[i+1], "\n")
		name := strings.TrimPrefix(key, "filter.")
		end := strings.LastIndexByte(name, '.')
		if end < 0 {
			continue
		}
		file := strings.TrimPrefix(fields[i], "file:")
		if !filepath.IsAbs(file) {
			file = filepath.Join(at, file)
		}
		all = append(all, configuredFilter{name: name[:end], key: key, command: command, file: file})
	}
	return all
}

// found sets the filter whose command ran. The command may have put another
// program in its place: then it is the only filter there is, or not known.
func (e *HungFilterError) found(all []configuredFilter) {
	names := map[string]bool{}
	for _, f := range all {
		names[f.name] = true
		// Git fills %f in, so that only the part before it is certain.
		command, _, _ := strings.Cut(strings.TrimSpace(f.command), "%f")
		if command != "" && slices.ContainsFunc(e.Commands, func(ran string) bool { return ranAs(ran, command) }) {
			e.Filter, e.Key, e.File = f.name, f.key, f.file
		}
	}
	if e.Filter != "" || len(names) != 1 {
		return
	}
	var keys, files []string
	for _, f := range all {
		keys = append(keys, f.key)
		if !slices.Contains(files, f.file) {
			files = append(files, f.file)
		}
	}
	e.Filter, e.Key, e.File = all[0].name, strings.Join(keys, ", "), strings.Join(files, ", ")
}

// ranAs reports whether a command line is that of a configured command. Git
// runs a command with a space by sh -c, and a script shows its interpreter
// first.
func ranAs(ran, command string) bool {
	return strings.Contains(" "+ran+" ", " "+strings.TrimSpace(command)+" ")
}

// kill ends the rest of a git's process group after git was told to end.
func kill(group int) { _ = syscall.Kill(-group, syscall.SIGKILL) }
