package landing

import (
	"testing"
	"time"
)

func TestSlots(t *testing.T) {
	t.Parallel()
	const second, gib = time.Second, 1 << 30
	machine := Machine{Processors: 16, Memory: 32 * gib}
	for _, tt := range []struct {
		name    string
		machine Machine
		loads   []Load
		want    int
	}{
		{"nothing is known", machine, nil, 1},
		{"it fills the machine", machine, []Load{{CPU: 16 * second, Wall: second}}, 1},
		{"it needs more than half", machine, []Load{{CPU: 9 * second, Wall: second}}, 1},
		{"it needs four processors", machine, []Load{{CPU: 8 * second, Wall: 2 * second}}, 4},
		{"the busiest counts", machine, []Load{{CPU: 8 * second, Wall: second}, {CPU: second, Wall: second}}, 2},
		{"it waits", machine, []Load{{CPU: second, Wall: 100 * second}}, 16},
		{"by memory", machine, []Load{{CPU: second, Wall: second, MaxRSS: 4 * gib}}, 6},
		{"by memory of several processes", machine, []Load{{CPU: 2 * second, Wall: second, MaxRSS: 4 * gib}}, 3},
		{"more than the memory", machine, []Load{{CPU: second, Wall: second, MaxRSS: 64 * gib}}, 1},
		{"memory is not known", Machine{Processors: 4}, []Load{{CPU: second, Wall: second, MaxRSS: gib}}, 4},
		{"no time", machine, []Load{{CPU: second}}, 1},
	} {
		s := Slots{Machine: tt.machine}
		for _, l := range tt.loads {
			s.Learn(l)
		}
		if got := s.Count(); got != tt.want {
			t.Errorf("%s: %d slots, want %d", tt.name, got, tt.want)
		}
	}
}
