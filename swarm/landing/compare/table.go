package compare

import (
	"context"
	"fmt"
)

// Row is a line of the table: the same landings by a single way.
type Row struct {
	Scenario
	Slots int
	Way   Way
	Result
}

// Request asks for a table.
type Request struct {
	Landings  int // of each row; at least 1
	Scenarios []Scenario
	Slots     []int // how many checks run at the same time
	Seed      uint64
}

// Standard are the scenarios that the queue was designed by: 100 patches with two
// pairs that fail only together, and two flakes in a hundred runs. The outputs name no
// bad patch, or seven of ten.
func Standard() []Scenario {
	var all []Scenario
	for _, bad := range []float64{0.05, 0.10, 0.20} {
		for _, named := range []float64{0, 0.7} {
			all = append(all, Scenario{Patches: 100, Bad: bad, Pairs: 2, Flaky: 0.02, Named: named})
		}
	}
	return all
}

// Table lands the same patches in each way. Only the queue reads outputs, so that
// the other ways are in the scenarios without named patches only, and the ways
// without slots in the rows of the first number of slots only.
func Table(ctx context.Context, r Request) ([]Row, error) {
	if r.Landings < 1 {
		return nil, fmt.Errorf("compare: %d landings; want at least 1", r.Landings)
	}
	var rows []Row
	for _, s := range r.Scenarios {
		for i, slots := range r.Slots {
			for _, way := range Ways() {
				if way != Queue && s.Named > 0 || i > 0 && (way == Serial || way == Halving) {
					continue
				}
				row := Row{Scenario: s, Slots: slots, Way: way}
				for n := range r.Landings {
					if err := ctx.Err(); err != nil {
						return nil, err
					}
					w := newWorld(s, r.Seed+uint64(n))
					landed, err := w.land(ctx, way, slots)
					if err != nil {
						return nil, err
					}
					row.add(w.result(landed))
				}
				rows = append(rows, row)
			}
		}
	}
	return rows, nil
}
