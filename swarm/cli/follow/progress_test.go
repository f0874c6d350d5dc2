package follow

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/internal/testing/getenv"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

func busyFrame() Frame {
	f := Frame{
		Elapsed: 83 * time.Second,
		Counts: store.Counts{
			Of: map[task.State]int{
				task.Queued: 45, task.Working: 9, task.Waiting: 1, task.WaitingSlot: 3, task.Checking: 2,
			},
			Completed: 36, Failed: 3, Cancelled: 1,
		},
		Slots: "p/m: 4 of 4", Left: 3 * time.Minute, Spent: "1.2M tok  $3.10 of $20.00",
		Note: "2 questions are open",
	}
	for i := range 3 {
		f.Failed = append(f.Failed, Row{
			ID: fmt.Sprintf("a%d", i+1), Label: "pkg/pricing", State: "failed", Style: terminal.StyleError,
			For: 12 * time.Second, Doing: "other: cannot find symbol frobnicate",
		})
	}
	for i := range 12 {
		f.Live = append(f.Live, Row{
			ID:    fmt.Sprintf("a%d", 90+i),
			Label: fmt.Sprintf("packages/service-%02d/internal/container/runtime", i),
			State: "running", For: time.Duration(80-7*i) * time.Second, Tokens: int64(900 * i * i), Doing: "edit pkg/almanac/kv.go",
		})
	}
	f.Live[2].Label = "文件\x1b[2J\n/\u202eevil"
	f.Live[3].Doing = "\x1b]0;evil\a"
	return f
}

// rendered is a frame without colours.
func rendered(f Frame, width, height int) []string {
	return drawFrame(terminal.Output{}, f, width, height)
}

func TestRender(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {40, 10}, {200, 50}} {
		lines := rendered(busyFrame(), size[0], size[1])
		golden(t, fmt.Sprintf("progress_%dx%d", size[0], size[1]), strings.Join(lines, "\n")+"\n")
	}
}

// TestRenderFits tries every small terminal: nothing wraps, nothing scrolls.
func TestRenderFits(t *testing.T) {
	t.Parallel()
	growing := busyFrame()
	growing.Growing, growing.Phase = true, "a\tphase"
	for _, f := range []Frame{busyFrame(), growing} {
		for width := 1; width <= 60; width++ {
			for height := 1; height <= 24; height++ {
				lines := rendered(f, width, height)
				if len(lines) == 0 || len(lines) > max(height-1, 1) {
					t.Errorf("render at %dx%d: %d lines", width, height, len(lines))
				}
				for _, l := range lines {
					if terminal.Columns(l) > max(width-1, 1) || termtext.Line(l) != l {
						t.Errorf("render at %dx%d: line %q", width, height, l)
					}
				}
			}
		}
	}
}

// TestRenderUsesTheRoom checks that every live agent has a row if there is room
// for it. Failed agents come first, and agents without a row are counted.
func TestRenderUsesTheRoom(t *testing.T) {
	t.Parallel()
	f := Frame{}
	for i := range 40 {
		f.Live = append(f.Live, Row{ID: fmt.Sprintf("a%d", i+1), State: "running"})
	}
	for i := range 20 {
		f.Failed = append(f.Failed, Row{ID: fmt.Sprintf("f%d", i+1), State: "failed"})
	}
	for _, tt := range []struct{ height, failed, live, hidden int }{
		{70, 20, 40, 0}, {62, 20, 40, 0}, {61, 19, 39, 2}, {42, 13, 26, 21}, {24, 7, 14, 39}, {3, 1, 0, 0},
	} {
		lines := rendered(f, 60, tt.height)
		text := strings.Join(lines, "\n")
		failed, live := strings.Count(text, "  failed"), strings.Count(text, "  running")
		_, more, _ := strings.Cut(text, "  and ")
		hidden := 0
		_, _ = fmt.Sscanf(more, "%d more", &hidden)
		if failed != tt.failed || live != tt.live || hidden != tt.hidden || len(lines) > tt.height-1 {
			t.Errorf("%d rows: %d failed, %d live, %d hidden, want %d, %d, %d", tt.height, failed, live, hidden, tt.failed, tt.live, tt.hidden)
		}
		if failed > 0 && live > 0 && strings.Index(text, "  running") < strings.Index(text, "  failed") {
			t.Errorf("%d rows: what failed is not first", tt.height)
		}
	}
}

// TestRenderColours holds that colours change no letter, and that there are none
// where the terminal has none.
func TestRenderColours(t *testing.T) {
	t.Parallel()
	for _, color := range []bool{false, true} {
		painted, plain := 0, rendered(busyFrame(), 80, 24)
		for i, l := range drawFrame((terminal.Output{Color: color}), busyFrame(), 80, 24) {
			bare := l
			for strings.Contains(bare, "\x1b[") {
				before, after, _ := strings.Cut(bare, "\x1b[")
				_, after, _ = strings.Cut(after, "m")
				bare = before + after
			}
			if bare != plain[i] {
				t.Errorf("%q is painted as %q", plain[i], l)
			}
			if l != plain[i] {
				painted++
			}
		}
		if (painted > 0) != color {
			t.Errorf("colour %v: %d lines have one", color, painted)
		}
	}
}

func TestRenderEdges(t *testing.T) {
	t.Parallel()
	counts := func(completed, failed, cancelled, queued int) store.Counts {
		return store.Counts{Of: map[task.State]int{task.Queued: queued}, Completed: completed, Failed: failed, Cancelled: cancelled}
	}
	tests := []struct {
		name string
		give Frame
		want string
	}{
		{"nothing yet", Frame{}, "[-----------]  0/0  0.0s"},
		{"all done", Frame{Counts: counts(4, 0, 0, 0)}, "[###########]  4/4  0.0s\n4 completed"},
		{"all failed", Frame{Counts: counts(0, 4, 0, 0)}, "[xxxxxxxxxxx]  4/4  0.0s\n4 failed"},
		{"cancelled is not done", Frame{Counts: counts(2, 0, 2, 0)}, "[#####------]  2/4  0.0s\n2 completed, 2 cancelled"},
		{"a script may start more", Frame{Growing: true, Counts: counts(2, 0, 0, 1)}, "2 done of 3 so far  0.0s\n1 queued, 2 completed"},
	}
	for _, tt := range tests {
		if got := strings.Join(rendered(tt.give, 25, 24), "\n"); got != tt.want {
			t.Errorf("%s: render = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestChangeLine(t *testing.T) {
	t.Parallel()
	tests := []struct {
		give Change
		want string
	}{
		{Change{ID: "a3", Label: "pkg/foo", State: "completed", For: 1200 * time.Millisecond}, "a3 pkg/foo completed 1.2s"},
		{Change{ID: "a3", Label: "a3", State: "queued"}, "a3 queued"},
		{Change{ID: "a3", State: "failed", For: time.Second, Note: "exit 1\nswarm: ok"}, `a3 failed 1.0s: exit 1\nswarm: ok`},
	}
	for _, tt := range tests {
		if got := tt.give.line(); got != tt.want {
			t.Errorf("line(%+v) = %q, want %q", tt.give, got, tt.want)
		}
	}
}

// screen is a terminal that understands the sequences of Progress.
type screen struct {
	rows []string
	at   int
}

func (s *screen) Write(p []byte) (int, error) {
	text := string(p)
	for text != "" {
		var up int
		switch {
		case strings.HasPrefix(text, "\x1b[K"):
			text = text[3:] // rows are replaced whole below
		case strings.HasPrefix(text, "\x1b[J"):
			s.rows, text = s.rows[:s.at], text[3:]
		case text[0] == '\r':
			text = text[1:]
		case text[0] == '\x1b':
			if _, err := fmt.Sscanf(text, "\x1b[%dA", &up); err != nil {
				return 0, fmt.Errorf("unknown sequence %q", text)
			}
			s.at -= up
			_, text, _ = strings.Cut(text, "A")
		default:
			line, rest, _ := strings.Cut(text, "\n")
			row, clears := strings.CutSuffix(line, "\x1b[K")
			switch {
			case s.at == len(s.rows):
				s.rows = append(s.rows, row)
			case clears:
				s.rows[s.at] = row
			default:
				s.rows[s.at] += row // the earlier text shines through
			}
			s.at, text = s.at+1, rest
		}
	}
	return len(p), nil
}

func TestProgressDraws(t *testing.T) {
	t.Parallel()
	var s screen
	p := newProgress(&s, terminal.Output{TTY: true, Motion: true, Getenv: getenv.Func("COLUMNS=40", "LINES=10"), Descriptor: -1})
	frame := func(ms int, note string) Frame {
		return Frame{Elapsed: time.Duration(ms) * time.Millisecond, Note: note}
	}
	want := func(step string, rows ...string) {
		t.Helper()
		if got := strings.Join(s.rows, "\n"); got != strings.Join(rows, "\n") {
			t.Errorf("%s: screen is\n%s\nwant\n%s", step, got, strings.Join(rows, "\n"))
		}
	}
	const bar = "[--------------------------]  0/0  "
	p.Say("before")
	p.Show(frame(1000, "one"))
	want("first frame", "before", bar+"1.0s", "one")
	p.Show(frame(1050, "two"))
	want("too soon", "before", bar+"1.0s", "one")
	p.Show(frame(1100, ""))
	want("fewer lines", "before", bar+"1.1s")
	p.Say("careful\x1b[2J")
	want("a lasting line", "before", `careful\x1b[2J`, bar+"1.1s")
	p.Line(Change{ID: "a1", State: "running"})
	p.Show(frame(1190, "last"))
	p.Close()
	p.Close()
	p.Show(frame(9000, "late"))
	want("closed", "before", `careful\x1b[2J`, bar+"1.2s", "last")
	p.Say("after")
	want("after", "before", `careful\x1b[2J`, bar+"1.2s", "last", "after")
}

// TestProgressNarrower makes the window narrower between two frames: the old
// lines have wrapped, and the cursor must go up past all their rows.
func TestProgressNarrower(t *testing.T) {
	t.Parallel()
	width := "80"
	var b strings.Builder
	p := newProgress(&b, terminal.Output{TTY: true, Motion: true, Descriptor: -1, Getenv: func(name string) string {
		return map[string]string{"COLUMNS": width, "LINES": "24"}[name]
	}})
	p.Show(Frame{Note: strings.Repeat("x", 75)})
	width = "40"
	b.Reset()
	p.Show(Frame{Elapsed: time.Second})
	if !strings.HasPrefix(b.String(), "\r\x1b[4A") { // two lines of 74 and 75 columns
		t.Errorf("Show after narrowing begins %q, want four rows up", b.String())
	}
}

func TestProgressLines(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	p := newProgress(&b, terminal.Output{Color: true})
	p.Show(busyFrame())
	p.Line(Change{ID: "a1", Label: "x", State: "running"})
	p.Say("note")
	p.Close()
	p.Line(Change{ID: "a1", State: "late"})
	if got, want := b.String(), "a1 x running\nnote\n"; got != want {
		t.Errorf("without a terminal: %q, want %q", got, want)
	}
}

func TestProgressConcurrent(t *testing.T) {
	t.Parallel()
	var s screen
	p := newProgress(&s, terminal.Output{TTY: true, Motion: true, Descriptor: -1, Getenv: getenv.Func("COLUMNS=40", "LINES=10")})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			p.Show(Frame{Elapsed: time.Duration(i) * time.Second, Note: "n"})
			p.Say("line")
			p.Line(Change{})
		})
	}
	all.Wait()
	p.Close()
	if got := strings.Count(strings.Join(s.rows, "\n")+"\n", "line\n"); got != 8 {
		t.Errorf("%d lasting lines, want 8:\n%s", got, strings.Join(s.rows, "\n"))
	}
}
