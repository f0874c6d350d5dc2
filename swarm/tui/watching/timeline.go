package watching

import (
	"strings"
	"time"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/tui"
)

// timeline shows when each agent worked, over the time of the run.
func (s *Screen) timeline(room int) []string {
	if len(s.rows) == 0 || room < 2 {
		return nil
	}
	name := 0
	for _, r := range s.rows {
		name = max(name, len(r.Key()))
	}
	label := min(24, max(0, s.width/4-name))
	bar := max(1, s.width-name-label-4)
	total := s.snap.Now.Sub(s.snap.Began)
	head := strings.Repeat(" ", name+label+4) + scale(total, bar)
	lines := s.list.Draw(room-1, func(group string) string {
		return s.palette.Paint(roleOf(Group(group)), termtext.CutEnd(group, s.width))
	}, func(i int, selected bool) string {
		r := s.rows[i]
		mark := "  "
		if selected {
			mark = "> "
		}
		text := mark + termtext.Pad(r.Key(), name) + " " + termtext.Pad(termtext.Head(r.Label, label), label) + " "
		line := termtext.CutEnd(text+s.bar(r, total, bar), s.width)
		if selected {
			return s.palette.Paint(tui.Selected, termtext.Pad(line, s.width))
		}
		return s.palette.Paint(roleOf(r.Group), line)
	})
	return append([]string{s.palette.Paint(tui.Quiet, termtext.CutEnd(head, s.width))}, lines...)
}

// scale is a line of times over a width.
func scale(total time.Duration, width int) string {
	if total <= 0 {
		return ""
	}
	const step = 16
	var b strings.Builder
	for at := 0; at+step/2 < width; at += step {
		text := "|" + termtext.Duration((total * time.Duration(at) / time.Duration(width)).Round(time.Second))
		b.WriteString(termtext.Pad(termtext.CutEnd(text, step-1), step))
	}
	return strings.TrimRight(b.String(), " ")
}

// bar is the time of an agent: dots before it began, # while it worked, and how
// it ended.
func (s *Screen) bar(r *Row, total time.Duration, width int) string {
	if r.Started.IsZero() || total <= 0 {
		return ""
	}
	at := func(t time.Time) int {
		share := min(max(t.Sub(s.snap.Began), 0), total)
		return int(float64(width-1) * float64(share) / float64(total))
	}
	end, last := s.snap.Now, ">"
	if !r.Ended.IsZero() {
		end, last = r.Ended, "+"
		if r.Group == Failed {
			last = "x"
		}
	}
	from, to := at(r.Started), at(end)
	return strings.Repeat("·", from) + strings.Repeat("#", max(0, to-from)) + last
}
