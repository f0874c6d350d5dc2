package report

import (
	"cmp"
	"time"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Sizes of the timeline in pixels.
const (
	timelineWidth = 960
	labelWidth    = 240
	rowHeight     = 16
	mostLabel     = 36 // characters
)

// Timeline is when each agent worked, as a picture.
type Timeline struct {
	Width, Height int
	Rows          []TimelineRow
}

// TimelineRow is an agent in the timeline.
type TimelineRow struct {
	Label, Status, Took string
	TextY, Y            int
	X, Width            int
}

// Label is the width of the labels in pixels.
func (t Timeline) Label() int { return labelWidth }

// timelineOf places the agents that started, in call order.
func timelineOf(v *store.View, end time.Time) Timeline {
	t := Timeline{Width: timelineWidth}
	total := end.Sub(v.Began)
	if v.Began.IsZero() || total <= 0 {
		return t
	}
	at := func(when time.Time) int {
		share := min(max(when.Sub(v.Began), 0), total)
		return labelWidth + int(float64(timelineWidth-labelWidth)*float64(share)/float64(total))
	}
	for _, a := range v.Agents {
		if a.Started.IsZero() {
			continue
		}
		until := cmp.Or(a.Ended, end)
		label := []rune(termtext.Text(string(a.ID) + " " + engine.Title(a.ID, a.Call)))
		if len(label) > mostLabel {
			label = append(label[:mostLabel-1], '…')
		}
		y := len(t.Rows) * rowHeight
		x := at(a.Started)
		t.Rows = append(t.Rows, TimelineRow{
			Label: string(label), Status: task.Word(a.Status), Took: span(a.Started, until),
			Y: y + 2, TextY: y + rowHeight - 4, X: x, Width: max(1, at(until)-x),
		})
	}
	t.Height = len(t.Rows) * rowHeight
	return t
}
