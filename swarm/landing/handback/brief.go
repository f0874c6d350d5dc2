package handback

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/landing/queue"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// The bounds of a brief, in bytes. A token of prose or code has three bytes or more on
// average, so that the whole brief has at most 1,500 tokens.
const (
	maxBrief  = 4500
	maxHunks  = 1400 // of all hunks
	maxDiff   = 500  // of the change of another patch
	maxTask   = 250
	maxOutput = 1000
	maxOthers = 4
	maxPaths  = 20
)

// Brief tells an agent why a patch was left out of a merge, and the side that it met.
type Brief struct {
	Branch  string   // the name of the branch
	Neutral bool     // the reader has written neither side
	Author  string   // of the patch, for a neutral reader
	Kind    string   // as in event.HandedBack
	Marked  []string // files with conflict markers
	Plain   []string // files in conflict without markers
	Hunks   []Hunk   // both sides of each conflict
	Others  []Other  // whose patches are on the branch
	Command string   // the check that fails; empty: none
	Output  string   // of the check
	Lines   []event.TakenBack
	More    int    // how many lines there are beside Lines
	Failed  string // how the attempt before ended; empty: it is another reason
}

// Hunk is a place of a conflict.
type Hunk struct{ Path, Text string }

// Other is a patch on the other side.
type Other struct{ ID, Title, Task, Diff string }

// Text is the brief: at most 1,500 tokens, whatever was read for it.
func (b Brief) Text() string {
	var t strings.Builder
	b.opening(&t)
	b.reason(&t)
	t.WriteString("Keep all that the other side did, and make the change of the task work with it. Do not take lines of the other side back: " +
		"the result is compared with it, and is left out if one is missing.\n")
	left := maxHunks
	for i, h := range b.Hunks {
		if left -= len(h.Text); left < 0 {
			fmt.Fprintf(&t, "There are %d more places; search for the markers.\n", len(b.Hunks)-i)
			break
		}
		fmt.Fprintf(&t, "\n%s:\n%s", cut(h.Path, maxTask), h.Text)
	}
	for i, o := range b.Others {
		if i == maxOthers {
			fmt.Fprintf(&t, "\n%d more patches are on the branch.\n", len(b.Others)-i)
			break
		}
		o.write(&t)
	}
	if b.Output != "" {
		fmt.Fprintf(&t, "\nThe end of the output of the check:\n%s\n", tail(b.Output, maxOutput))
	}
	return cut(t.String(), maxBrief)
}

// opening says where the reader is.
func (b Brief) opening(t *strings.Builder) {
	if b.Neutral {
		fmt.Fprintf(t, "%s did the task above, and its changes could not be merged into the branch %s. You have written neither side. ", b.Author, b.Branch)
		fmt.Fprintf(t, "The current directory holds the branch as it is now, with the changes of %s on top, staged.\n", b.Author)
	} else {
		fmt.Fprintf(t, "Your changes could not be merged into the branch %s. The current directory holds the branch as it is now, with your changes on top, staged.\n", b.Branch)
	}
	if b.Failed != "" {
		fmt.Fprintf(t, "The attempt before this one: %s.\n", cut(b.Failed, maxTask))
	}
}

// reason says why the patch was left out.
func (b Brief) reason(t *strings.Builder) {
	check := cut(b.Command, maxTask)
	switch b.Kind {
	case string(queue.Text):
		t.WriteString("They conflict with it. Remove every conflict marker.\n")
	case string(queue.Failed):
		fmt.Fprintf(t, "The check passes on the branch, and fails with these changes: %s\n", check)
	case string(queue.Interaction):
		fmt.Fprintf(t, "The check passes with the other patches, and fails once these changes are added: %s\n", check)
	case event.RefusedUndoes:
		t.WriteString("They take these lines back, which landed after the work began:\n")
		for i, l := range b.Lines {
			if i == maxPaths/2 {
				fmt.Fprintf(t, "  and %d more\n", len(b.Lines)-i+b.More)
				break
			}
			fmt.Fprintf(t, "  %s\n", cut(landing.TakenBackText(l), 100))
		}
	}
	if len(b.Marked) > 0 {
		fmt.Fprintf(t, "Files with conflict markers (<<<<<<<, |||||||, =======, >>>>>>>): %s\n", names(b.Marked))
	}
	if len(b.Plain) > 0 {
		fmt.Fprintf(t, "Files in conflict without markers: %s\n", names(b.Plain))
	}
}

func (o Other) write(t *strings.Builder) {
	fmt.Fprintf(t, "\nThe other side is %s (%s).", o.ID, cut(o.Title, 80))
	if o.Task != "" {
		fmt.Fprintf(t, " Its task was: %s", cut(strings.Join(strings.Fields(o.Task), " "), maxTask))
	}
	t.WriteString("\n")
	if o.Diff != "" {
		fmt.Fprintf(t, "It changed:\n%s\n", cut(o.Diff, maxDiff))
	}
}

// names lists files: at most twenty, and the number of the others.
func names(paths []string) string {
	more := ""
	if n := len(paths) - maxPaths; n > 0 {
		paths, more = paths[:maxPaths], fmt.Sprintf(" and %d more", n)
	}
	short := make([]string, len(paths))
	for i, p := range paths {
		short[i] = cut(p, 100)
	}
	return cut(strings.Join(short, ", "), 600) + more
}

// cut is the start of a text, in bytes, without a part of a character.
func cut(text string, most int) string {
	if text = strings.ToValidUTF8(text, "\uFFFD"); len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("…")], "") + "…"
}

// tail is the end of a text, with most bytes, from the start of a line if there
// is one.
func tail(text string, most int) string {
	if text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")); len(text) <= most {
		return text
	}
	text = text[len(text)-most:]
	if at := strings.IndexByte(text, '\n'); at >= 0 && at < len(text)/2 {
		text = text[at+1:]
	}
	return "…" + strings.ToValidUTF8(text, "")
}

// brief collects the facts for an agent.
func (m *merging) brief(ctx context.Context, b back, marked *lander.Marked, work *store.Agent) (Brief, error) {
	out := Brief{Branch: lander.BranchName(m.ref), Neutral: b.to == event.ToNeutral, Author: string(b.agent), Kind: b.kind, Failed: b.failed}
	paths := work.Patch().Paths
	if marked.Conflict != nil {
		paths = marked.Conflict.Paths
		for _, f := range marked.Marks {
			out.Marked = append(out.Marked, f.Path)
		}
		for _, path := range paths {
			if !slices.Contains(out.Marked, path) {
				out.Plain = append(out.Plain, path)
			}
		}
		for _, h := range marked.Conflict.Hunks {
			out.Hunks = append(out.Hunks, Hunk{h.Path, h.Text})
		}
	}
	with := b.with
	if r := b.refusal; r != nil {
		out.Command, out.Lines, out.More = r.Command, r.Lines, r.More
		if len(r.Outputs) > 0 {
			out.Output = landing.CheckOutput(r.Outputs[0])
		}
		if r.Kind == string(queue.Interaction) {
			with = m.suspects(with, out.Output)
		}
	}
	for _, id := range with {
		other, err := m.other(ctx, id, paths)
		if err != nil {
			return out, err
		}
		if other != nil {
			out.Others = append(out.Others, *other)
		}
	}
	return out, nil
}

// suspects are those of the patches that the output of a failed check names; all of them if
// it names none.
func (m *merging) suspects(with []task.ID, output string) []task.ID {
	paths := map[string][]string{}
	for _, id := range with {
		if a := m.view().Agent(id); a != nil && a.Patch() != nil {
			paths[string(id)] = a.Patch().Paths
		}
	}
	if named := landing.Suspects(output, "", paths); len(named) > 0 {
		return taskIDs(named)
	}
	return with
}

// other is an agent whose patch is on the branch; nil if it is not of this run. Its changes
// are those of the paths, or all of them if it changed none of these.
func (m *merging) other(ctx context.Context, id task.ID, paths []string) (*Other, error) {
	a := m.view().Agent(id)
	if a == nil {
		return nil, nil
	}
	o := &Other{ID: string(id), Title: engine.Title(a.ID, a.Call), Task: task.Prompt(a.Call.Input)}
	p := a.Patch()
	if p == nil {
		return o, nil
	}
	common := slices.DeleteFunc(slices.Clone(p.Paths), func(path string) bool { return !slices.Contains(paths, path) })
	if len(common) == 0 {
		common = p.Paths
	}
	if len(common) == 0 {
		return o, nil
	}
	text := &start{most: 2 * maxDiff}
	err := m.Lander.Repo.WritePathsPatch(ctx, text, git.PathsPatch{From: git.Hash(p.Base), To: git.Hash(p.Commit), Paths: common})
	o.Diff = changedLines(text.String())
	return o, err
}

// start keeps the start of the written text.
type start struct {
	strings.Builder
	most int
}

func (s *start) Write(p []byte) (int, error) {
	if room := s.most - s.Len(); room > 0 {
		s.Builder.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// changedLines leaves the headers of a patch out that tell a reader nothing.
func changedLines(patch string) string {
	var b strings.Builder
	for line := range strings.Lines(patch) {
		if !strings.HasPrefix(line, "diff --git ") && !strings.HasPrefix(line, "index ") && !strings.HasPrefix(line, "--- ") {
			b.WriteString(line)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}
