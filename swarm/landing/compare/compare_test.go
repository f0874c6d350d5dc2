package compare

import (
	"reflect"
	"slices"
	"testing"

	"agentswarm/internal/testing/campaign"
)

// TestWays: without flakes each way lands all good patches, and no tree that fails.
func TestWays(t *testing.T) {
	t.Parallel()
	for _, s := range []Scenario{
		{Patches: 1}, {Patches: 1, Bad: 1}, {Patches: 30}, {Patches: 30, Bad: 0.2, Pairs: 2}, {Patches: 30, Bad: 1},
		{Patches: 30, Bad: 0.1, Pairs: 3, Named: 1},
	} {
		for _, way := range Ways() {
			for _, slots := range []int{1, 3, 40} {
				for seed := range uint64(5) {
					w := newWorld(s, seed)
					landed, err := w.land(t.Context(), way, slots)
					if err != nil {
						t.Fatal(err)
					}
					r := w.result(landed)
					none := way == Queue && len(landed) == 0 // the branch is all there is
					if r.Broken > 0 || r.Innocent > 0 || r.Landed != r.Good && !none {
						t.Errorf("%s, %d slots, seed %d of %+v: %+v", way, slots, seed, s, r)
					}
					if slots == 1 && way != Queue && r.Rounds != r.Verifications {
						t.Errorf("%s: %d rounds of %d verifications with one slot", way, r.Rounds, r.Verifications)
					}
				}
			}
		}
	}
}

// TestTable: the figures are the same each time, and the queue reaches its goals: no
// failing tree lands, no good patch is refused, and it takes fewer runs than halving
// if outputs name failures, and fewer rounds than the others with 16 slots.
func TestTable(t *testing.T) {
	t.Parallel()
	r := Request{Landings: campaign.Rounds(t, 5, 200), Scenarios: Standard(), Slots: []int{1, 16}, Seed: 1}
	rows, err := Table(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Table(t.Context(), r); err != nil || !reflect.DeepEqual(again, rows) {
		t.Errorf("the same seeds give other figures: %v", err)
	}
	find := func(bad, named float64, slots int, way Way) Row {
		at := slices.IndexFunc(rows, func(r Row) bool { return r.Bad == bad && r.Named == named && r.Slots == slots && r.Way == way })
		if at < 0 {
			t.Fatalf("no row of %s for %v, %v, %d", way, bad, named, slots)
		}
		return rows[at]
	}
	for _, row := range rows {
		if row.Way == Queue && row.Broken > 0 {
			t.Errorf("%d failing trees landed: %+v", row.Broken, row)
		}
	}
	for _, bad := range []float64{0.05, 0.10, 0.20} {
		halving := find(bad, 0, 1, Halving)
		if named := find(bad, 0.7, 1, Queue); named.Verifications >= halving.Verifications {
			t.Errorf("%v bad: the queue takes %d runs with names, halving %d", bad, named.Verifications, halving.Verifications)
		}
		chain, blind := find(bad, 0, 16, Chain), find(bad, 0, 16, Queue)
		if blind.Rounds >= min(chain.Rounds, halving.Rounds) || blind.Verifications >= chain.Verifications {
			t.Errorf("%v bad, 16 slots: the queue takes %d runs in %d rounds, a chain %d in %d",
				bad, blind.Verifications, blind.Rounds, chain.Verifications, chain.Rounds)
		}
	}
	if _, err := Table(t.Context(), Request{}); err == nil {
		t.Error("a table of no landings is one")
	}
}
