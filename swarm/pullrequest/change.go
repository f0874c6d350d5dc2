package pullrequest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// Change is a commit that a run landed.
type Change struct {
	Commit, Parent git.Hash
	Author         git.Person
	Message        string    // whole
	Agents         []task.ID // by its trailers
	Paths          []string  // the files that it changes
}

// Subject is the first line of its message.
func (c *Change) Subject() string {
	subject, _, _ := strings.Cut(c.Message, "\n")
	return subject
}

// LandedRequest asks for the commits of a run.
type LandedRequest struct {
	Quarantine *git.Quarantine // required
	View       *store.View     // of the run; required
	Run        string          // its id; required
}

// Landed lists the commits of the merges of a run that stand, in the order in which
// they landed. Commits of others between them are not among them. An error says that
// git could not read a commit.
func Landed(ctx context.Context, r LandedRequest) ([]*Change, error) {
	var all []*Change
	seen := map[git.Hash]bool{}
	for _, l := range r.View.Landings {
		if l.Of != 0 || l.Ref == "" || l.New == "" || !l.Stands() {
			continue
		}
		old := git.Hash(l.Old)
		if old == "" { // the merge made the branch
			old = git.Hash(r.View.Identity.Base.Commit)
		}
		changes, err := between(ctx, r.Quarantine, old, git.Hash(l.New))
		if err != nil {
			return nil, err
		}
		for _, c := range changes {
			if seen[c.Commit] || !slices.Contains(trailers(c.Message, "Swarm-Run"), r.Run) {
				continue
			}
			seen[c.Commit] = true
			for _, id := range trailers(c.Message, "Swarm-Agent") {
				c.Agents = append(c.Agents, task.ID(id))
			}
			if c.Paths, err = paths(ctx, r.Quarantine, c); err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// paths are the files that a commit changes.
func paths(ctx context.Context, q *git.Quarantine, c *Change) ([]string, error) {
	changes, err := q.Changes(ctx, c.Parent, c.Commit)
	if err != nil {
		return nil, err
	}
	list := make([]string, len(changes))
	for i, change := range changes {
		list[i] = change.Path
	}
	return list, nil
}

// logFormat has the fields that readLog reads.
const logFormat = "%H%x00%P%x00%an%x00%ae%x00%at%x00%B"

// between lists the commits from old, which is not among them, to tip, the oldest
// first. Merges of others are left out.
func between(ctx context.Context, q *git.Quarantine, old, tip git.Hash) ([]*Change, error) {
	out, err := q.Run(ctx, git.Cmd{Args: []string{
		"log", "-z", "--reverse", "--first-parent", "--no-merges", "--no-mailmap", "--no-show-signature", "--no-decorate", "--no-notes",
		"--encoding=UTF-8", "--format=tformat:" + logFormat, "--end-of-options", string(old) + ".." + string(tip), "--",
	}})
	if err != nil {
		return nil, fmt.Errorf("list the commits from %s to %s: %w", old.Short(), tip.Short(), err)
	}
	changes, err := readLog(string(out))
	if err != nil {
		return nil, fmt.Errorf("list the commits from %s to %s: %w", old.Short(), tip.Short(), err)
	}
	return changes, nil
}

// readLog reads commits of six fields each.
func readLog(out string) ([]*Change, error) {
	const fields = 6
	all := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	if out == "" {
		return nil, nil
	}
	var changes []*Change
	for record := range slices.Chunk(all, fields) {
		if len(record) < fields {
			return nil, fmt.Errorf("git log ended within a commit: %.60q", record[0])
		}
		at, err := strconv.ParseInt(record[4], 10, 64)
		if err != nil || strings.Contains(record[1], " ") || record[1] == "" {
			return nil, fmt.Errorf("git log has an unexpected commit: %.60q", record[0])
		}
		changes = append(changes, &Change{
			Commit: git.Hash(record[0]), Parent: git.Hash(record[1]),
			Author:  git.Person{Name: record[2], Email: record[3], When: time.Unix(at, 0).UTC()},
			Message: record[5],
		})
	}
	return changes, nil
}

// trailers are the values of the trailers of a message with this key. Only its last
// paragraph has trailers.
func trailers(message, key string) []string {
	paragraphs := strings.Split(strings.TrimRight(message, "\n"), "\n\n")
	if len(paragraphs) < 2 {
		return nil
	}
	var values []string
	for line := range strings.SplitSeq(paragraphs[len(paragraphs)-1], "\n") {
		if value, ok := strings.CutPrefix(line, key+": "); ok {
			values = append(values, strings.TrimSpace(value))
		}
	}
	return values
}
