package inspect

import (
	"bufio"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/proc"
)

// TestLogWindow holds which lines of a file are printed, by the times at which
// they were.
func TestLogWindow(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const text = "one\ntwo\nthree\nfour\n"
	marks := []proc.Mark{{Offset: 0, Time: start}, {Offset: 4, Time: start.Add(10 * time.Second)}, {Offset: 14, Time: start.Add(20 * time.Second)}}
	for _, tt := range []struct {
		name string
		give logWindow
		want string
	}{
		{"all", logWindow{}, text},
		{"the last two", logWindow{tailed: true, tail: 2}, "three\nfour\n"},
		{"none", logWindow{tailed: true}, ""},
		{"more than there are", logWindow{tailed: true, tail: 9}, text},
		{"since the second", logWindow{since: start.Add(10 * time.Second)}, "two\nthree\nfour\n"},
		{"since later", logWindow{since: start.Add(11 * time.Second)}, "four\n"},
		{"since the future", logWindow{since: start.Add(time.Hour)}, ""},
		{"both", logWindow{tailed: true, tail: 3, since: start.Add(20 * time.Second)}, "four\n"},
		{"with times", logWindow{tailed: true, tail: 1, timestamps: true}, start.Add(20*time.Second).Local().Format(time.RFC3339) + " four\n"},
	} {
		var out strings.Builder
		l := &logger{out: bufio.NewWriter(&out), window: tt.give}
		s := &stream{id: "a1", attempt: 1, spec: &agent.Spec{Format: agent.FormatText}}
		for _, m := range marks {
			s.marks = append(s.marks, proc.Mark{Offset: m.Offset, Time: m.Time.Local()})
		}
		l.streams = []*stream{s}
		for s.at < int64(len(text)) {
			end := s.timed(-1)
			if end < 0 {
				end = int64(len(text))
			}
			piece := text[s.at:end]
			s.at = end
			if err := s.print(l, []byte(piece)); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.release(); err != nil {
			t.Fatal(err)
		}
		if err := l.out.Flush(); err != nil || out.String() != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.name, out.String(), err, tt.want)
		}
	}
}
