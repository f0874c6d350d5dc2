package runcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentswarm/internal/terminal"
	"agentswarm/internal/testing/getenv"
	"agentswarm/merge"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/event"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// ranWith is an ended run of n agents. Every fourth completed with a patch out
// of its scope. All others failed, each with a long reason of its own, a note
// and a denied question.
func ranWith(n int) *store.View {
	events := []event.Event{&event.Opened{}}
	for i := 1; i <= n; i++ {
		id := task.ID(fmt.Sprintf("a%d", i))
		events = append(events, &event.Called{Agent: id, Call: &task.Call{
			Input: &task.TypedAgentInput{}, Label: fmt.Sprintf("pkg/%d/%s", i, strings.Repeat("long/", 30)),
		}})
		captured := &event.Captured{
			Agent: id, Attempt: 1, Complete: true,
			Notes: []string{fmt.Sprintf("note-%d-told %s", i, strings.Repeat("on and on ", 30))},
		}
		question := fmt.Sprintf("k3x9q2-%d", i)
		events = append(events,
			&event.Started{Agent: id, Attempt: 1, Step: "agent"},
			&event.Questioned{ID: question, Agent: id, Attempt: 1, Ask: "q"},
			&event.Replied{ID: question, By: task.ByPolicy})
		work := task.Work{Attempts: 1}
		var result task.Result = &task.Failed{
			Work: work, Kind: task.Other,
			Reason: fmt.Sprintf("cause-%d-told %s\nand more", i, strings.Repeat("wide 文 ", 60)),
		}
		if i%4 == 0 {
			work.Patch = &task.Patch{
				Ref: "refs/swarm/x", Files: 1, OutOfScope: []string{fmt.Sprintf("cause-%d-told/%s", i, strings.Repeat("x", 150))},
			}
			captured.Patch = work.Patch
			result = &task.Completed{Work: work}
		}
		events = append(events, captured, &event.Settled{Agent: id, Attempt: 1, Result: result})
	}
	events = append(events, &event.Closed{Status: string(store.RunDegraded), Code: int(exit.Degraded)})
	var records []event.Record
	for i, e := range events {
		records = append(records, event.Record{N: int64(i + 1), Time: time.Now(), Event: e})
	}
	return store.Fold(store.Identity{Run: "k3x9q2"}, records)
}

// mergedWith is a merge of a run in which every patch met another.
func mergedWith(v *store.View) *lander.Report {
	r := &lander.Report{Run: "k3x9q2", View: v, Ref: "refs/heads/main", Outcome: &merge.Outcome{}}
	for i, a := range v.Agents {
		r.Outcome.Conflicts = append(r.Outcome.Conflicts, merge.Conflict{
			ID: string(a.ID), With: []string{"a1"}, Paths: []string{fmt.Sprintf("conflict-%d-told", i+1)},
		})
	}
	return r
}

// summaryOf prints the end of a run, and returns its lines and the folder that
// it wrote to.
func summaryOf(t *testing.T, width int, v *store.View, merged *lander.Report) (lines []string, dir string) {
	t.Helper()
	dir = t.TempDir()
	var screen strings.Builder
	p := cmdline.Without(cmdline.Env{Stderr: &screen, Calls: "swarm", Getenv: getenv.Func(fmt.Sprintf("COLUMNS=%d", width))})
	if err := view.PrintSummary(p, &store.Run{ID: "k3x9q2", Dir: dir}, v, merged); err != nil {
		t.Fatal(err)
	}
	text, ended := strings.CutSuffix(screen.String(), "\n")
	if !ended {
		t.Errorf("the last line has no end: %q", text)
	}
	return strings.Split(text, "\n"), dir
}

// TestSummaryIsShort checks that the end of a large run leaves the text above
// it in sight, and that nothing of it is lost.
func TestSummaryIsShort(t *testing.T) {
	t.Parallel()
	const agents, screen = 100, 40
	for _, width := range []int{0, 80, 200} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			v := ranWith(agents)
			lines, dir := summaryOf(t, width, v, mergedWith(v))
			last := lines[len(lines)-1]
			named, ok := strings.CutPrefix(last, "all of it: ")
			if !ok || named != filepath.Join(dir, "summary.txt") {
				t.Errorf("the last line is %q, want it to name the file", last)
			}
			// How long the name of the folder is, is not the summary's choice.
			if rows := view.RowsOf(lines, width); rows > screen {
				t.Errorf("%d rows, want at most %d:\n%s", rows, screen, strings.Join(lines, "\n"))
			}
			file := filepath.Join(dir, "summary.txt")
			if at, err := os.Stat(file); err != nil || at.Mode() != 0o600 {
				t.Errorf("the file is %v, %v, want mode 0600", at, err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			rows := strings.Split(string(text), "\n")
			for i := 1; i <= agents; i++ {
				id := fmt.Sprintf("a%d", i)
				if !slices.ContainsFunc(rows, func(row string) bool { return strings.HasPrefix(row, id+" ") }) {
					t.Errorf("the file has no row of %s", id)
				}
				for _, what := range []string{"cause", "note", "conflict"} {
					if word := fmt.Sprintf("%s-%d-told", what, i); !strings.Contains(string(text), word) {
						t.Errorf("the file does not have %s", word)
					}
				}
			}
		})
	}
}

// TestSummaryEndsWhole: the line of the run and the commands that follow it are not
// cut, however narrow the terminal is.
func TestSummaryEndsWhole(t *testing.T) {
	t.Parallel()
	v := ranWith(100)
	v.Status, v.Reason = store.RunStopped, "stopped by Ctrl-C"
	lines, _ := summaryOf(t, 40, v, nil)
	text := strings.Join(lines, "\n")
	for _, whole := range []string{
		"\n" + view.EndText(v, terminal.Output{}) + "\n", "stopped by Ctrl-C: ", "\nnext: swarm resume " + v.Identity.Run + "\n",
	} {
		if !strings.Contains(text, whole) {
			t.Errorf("%q is not told whole:\n%s", whole, text)
		}
	}
	if strings.Contains(text, "stopped (stopped") {
		t.Errorf("the state is told twice:\n%s", text)
	}
}

// TestSummaryOfFew holds that a short end of a run is told whole, and that no
// file is made for it.
func TestSummaryOfFew(t *testing.T) {
	t.Parallel()
	v := ranWith(3)
	lines, dir := summaryOf(t, 0, v, mergedWith(v))
	text := strings.Join(lines, "\n")
	for i := 1; i <= 3; i++ {
		for _, what := range []string{"cause", "note", "conflict"} {
			if word := fmt.Sprintf("%s-%d-told", what, i); !strings.Contains(text, word) {
				t.Errorf("%s is not told:\n%s", word, text)
			}
		}
	}
	if strings.Contains(text, "all of it") {
		t.Errorf("it names a file:\n%s", text)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("there are files: %v, %v", left, err)
	}
}
