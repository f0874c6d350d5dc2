package follow

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/internal/testing/getenv"
	"agentswarm/swarm/cli/cmdline"
)

// manyRuns are n runs, of which those in live still run.
func manyRuns(n int, live ...int) []listedObject {
	runs := make([]listedObject, n)
	for i := range runs {
		runs[i] = listedObject{
			Run: fmt.Sprintf("run%03d", i), Status: "completed", Agents: 3, Completed: 3,
			Args: []string{"run", "--each", "packages/service/*/", "-- 文件 \x1b[2J"}, Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		}
		if slices.Contains(live, i) {
			runs[i].Status = "running"
		}
	}
	return runs
}

// shownRuns are the ids in a list, and its last line.
func shownRuns(lines []string) (ids []string, last string) {
	for _, l := range lines {
		if word, _, _ := strings.Cut(l, " "); strings.HasPrefix(word, "run") {
			ids = append(ids, word)
		}
	}
	return ids, lines[len(lines)-1]
}

func TestListLinesShort(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		runs   []listedObject
		height int
		want   []string
		last   string
	}{
		{"all fit", manyRuns(3), 5, []string{"run000", "run001", "run002"}, ""},
		{"the newest", manyRuns(9), 6, []string{"run006", "run007", "run008"}, "6 more runs are not shown"},
		{"running ones first", manyRuns(9, 1, 4), 6, []string{"run001", "run004", "run008"}, "6 more runs are not shown"},
		{"the newest running", manyRuns(9, 0, 1, 2, 3, 4), 6, []string{"run002", "run003", "run004"}, "6 more runs are not shown"},
		{"one is hidden by the line", manyRuns(5), 6, []string{"run002", "run003", "run004"}, "2 more runs are not shown"},
	}
	for _, tt := range tests {
		lines := listLines(sized(100, tt.height), tt.runs)
		got, last := shownRuns(lines)
		if !slices.Equal(got, tt.want) || tt.last != "" && last != tt.last || len(lines) > tt.height-1 {
			t.Errorf("%s: %q, %q in\n%s", tt.name, got, last, strings.Join(lines, "\n"))
		}
	}
}

// TestListLinesFit tries every small terminal: nothing wraps, nothing scrolls.
func TestListLinesFit(t *testing.T) {
	t.Parallel()
	runs := manyRuns(30, 3, 17)
	runs[17].Waiting = 2
	for _, give := range [][]listedObject{nil, runs[:1], runs} {
		for width := 1; width <= 81; width++ {
			for height := 1; height <= 40; height++ {
				lines := listLines(sized(width, height), give)
				if len(lines) == 0 || len(lines) > max(height-1, 1) {
					t.Errorf("%d runs at %dx%d: %d lines", len(give), width, height, len(lines))
				}
				for _, l := range lines {
					if terminal.Columns(l) > max(width-1, 1) || termtext.Line(l) != l {
						t.Errorf("%d runs at %dx%d: line %q", len(give), width, height, l)
					}
				}
			}
		}
	}
}

func TestNeedsYouColumn(t *testing.T) {
	t.Parallel()
	runs := manyRuns(2)
	if title := runTable(terminal.Output{}, runs).Lines(0)[0]; strings.Contains(title, "NEEDS YOU") {
		t.Errorf("titles are %q though nobody is needed", title)
	}
	runs[1].Waiting = 7
	lines := runTable(terminal.Output{}, runs).Lines(0)
	if want := "RUN     STATUS     AGENTS  NEEDS YOU  COMPLETED"; !strings.HasPrefix(lines[0], want) {
		t.Errorf("titles are %q, want %q…", lines[0], want)
	}
	if want := "run001  completed       3          7          3"; !strings.HasPrefix(lines[2], want) {
		t.Errorf("row is %q, want %q…", lines[2], want)
	}
}

// TestWatchShows goes through a life of a list in each of the three ways.
func TestWatchShows(t *testing.T) {
	t.Parallel()
	frames := [][]listedObject{{}, manyRuns(1, 0), manyRuns(1, 0), manyRuns(2, 0, 1), manyRuns(2), manyRuns(1)}
	frames[2][0].Duration = 5000 // the clock alone is no change
	frames[3][1].Waiting = 2
	frames[4][1].Status, frames[4][1].Reason = "damaged", "no\nsense"

	var text, objects bytes.Buffer
	pen := &screen{}
	lines := &listWatcher{place: cmdline.Without(cmdline.Env{Stdout: &text})}
	object := &listWatcher{place: cmdline.Without(cmdline.Env{Stdout: &objects})}
	drawn := &listWatcher{picture: newProgress(pen, terminal.Output{
		TTY: true, Motion: true, Descriptor: -1, Getenv: getenv.Func("COLUMNS", "80", "LINES", "24"),
	})}
	for i, f := range frames {
		if err := lines.lines(f, i == 0); err != nil {
			t.Fatal(err)
		}
		if err := object.object(f, i == 0); err != nil {
			t.Fatal(err)
		}
		if err := drawn.draw(f, i == 0); err != nil {
			t.Fatal(err)
		}
		if want := listLines(sized(80, 24), f); !slices.Equal(pen.rows, want) {
			t.Errorf("frame %d shows\n%s\nwant\n%s", i, strings.Join(pen.rows, "\n"), strings.Join(want, "\n"))
		}
		lines.shown, object.shown = f, f
	}
	if want := `run000 running: 3 agents, 3 completed
run001 running: 3 agents, 2 waiting for you, 3 completed
run000 completed: 3 agents, 3 completed
run001 damaged (no\nsense): 3 agents, 3 completed
run001 removed
`; text.String() != want {
		t.Errorf("lines are\n%swant\n%s", text.String(), want)
	}
	if got := strings.Count(objects.String(), `{"schema":"swarm.list/1","runs":[`); got != 5 {
		t.Errorf("%d objects, want one for each of the 5 states:\n%s", got, objects.String())
	}
	// Messages meanwhile stand above the list and stay.
	fmt.Fprintf(&printerAbove{drawn.picture}, "swarm: one\nswarm: two\n")
	if want := append([]string{"swarm: one", "swarm: two"}, listLines(sized(80, 24), frames[5])...); !slices.Equal(pen.rows, want) {
		t.Errorf("after two messages:\n%s", strings.Join(pen.rows, "\n"))
	}
}

// sized is a window of that size, without colors.
func sized(width, height int) terminal.Output {
	return terminal.Output{Getenv: getenv.Func(fmt.Sprintf("COLUMNS=%d", width), fmt.Sprintf("LINES=%d", height))}
}
