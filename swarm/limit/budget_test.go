package limit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"agentswarm/swarm/task"
)

func used(tokens int64) task.Usage { return task.Usage{Input: 1 << 40, Output: tokens} }

// TestReserve checks, for each step of a story, the budget's verdict on a call
// that wants to start then.
func TestReserve(t *testing.T) {
	t.Parallel()
	start := func(id string) func(*Budget) {
		return func(b *Budget) { b.Reserve(Reservation{ID: id, Kind: "k"}) }
	}
	end := func(id string, tokens int64) func(*Budget) {
		return func(b *Budget) { b.End(Ending{ID: id, Usage: used(tokens), Whole: true}) }
	}
	limited := func(id string, own task.Amount) func(*Budget) {
		return func(b *Budget) { b.Reserve(Reservation{ID: id, Kind: "k", Limits: own}) }
	}
	tokens := func(n int64) task.Amount { return task.Amount{Tokens: n} }
	for _, tc := range []struct {
		name  string
		total task.Amount
		steps []func(*Budget)
		want  Admission
	}{
		{"no total", task.Amount{}, []func(*Budget){start("a"), start("b")}, Admitted},
		{"the first", tokens(1), nil, Admitted},
		{"beside one of which nothing is known", tokens(20_000), []func(*Budget){start("a")}, Waits},
		{"beside one, with room", tokens(20_001), []func(*Budget){start("a")}, Admitted},
		{"beside one with a limit of its own", tokens(501), []func(*Budget){limited("a", tokens(500))}, Admitted},
		{"beside one whose limit is all", tokens(500), []func(*Budget){limited("a", tokens(500))}, Waits},
		{"a limit above what is likely", tokens(20_001), []func(*Budget){limited("a", tokens(1<<40))}, Admitted},
		{"the largest that its kind used", tokens(300), []func(*Budget){
			start("a"), end("a", 100), start("b"), end("b", 50), start("c"),
		}, Admitted},
		{"the largest, and no room", tokens(250), []func(*Budget){
			start("a"), end("a", 100), start("b"), end("b", 50), start("c"),
		}, Waits},
		{"another kind tells nothing", tokens(20_000), []func(*Budget){
			start("a"), end("a", 100), func(b *Budget) { b.Reserve(Reservation{ID: "b", Kind: "other"}) },
		}, Waits},
		{"what is reported is reserved no more", tokens(20_001), []func(*Budget){
			start("a"), func(b *Budget) { b.Spend("a", used(15_000)) },
		}, Admitted},
		{"what goes beyond its reservation counts", tokens(20_001), []func(*Budget){
			start("a"), func(b *Budget) { b.Spend("a", used(20_000)); b.Spend("a", used(1)) },
		}, Refused},
		{"spent", tokens(100), []func(*Budget){start("a"), end("a", 100)}, Refused},
		{"the end tells what was not reported", tokens(100), []func(*Budget){
			start("a"), func(b *Budget) { b.Spend("a", used(40)) }, end("a", 99),
		}, Admitted},
		{"a failure that used nothing tells nothing", tokens(20_000), []func(*Budget){
			start("a"), func(b *Budget) { b.End(Ending{ID: "a"}) }, start("b"),
		}, Waits},
		{"who reports nothing reserves nothing", tokens(1), []func(*Budget){
			func(b *Budget) { b.Reserve(Reservation{ID: "a", Kind: "k", Silent: true}) },
		}, Admitted},
		{"dollars", task.Amount{USD: 0.3}, []func(*Budget){start("a")}, Waits},
		{"dollars with room", task.Amount{USD: 0.31}, []func(*Budget){start("a")}, Admitted},
		{"dollars spent", task.Amount{USD: 0.31}, []func(*Budget){
			start("a"), func(b *Budget) { b.Spend("a", task.Usage{CostUSD: 0.31}) },
		}, Refused},
		{"too much to count", tokens(100), []func(*Budget){
			start("a"), func(b *Budget) { b.Spend("a", used(math.MaxInt64)); b.Spend("a", used(math.MaxInt64)) },
		}, Refused},
		{"a total too large to add to", tokens(math.MaxInt64), []func(*Budget){start("a")}, Admitted},
		{"time is not reserved", task.Amount{Time: time.Second}, []func(*Budget){start("a")}, Admitted},
		{"time spent", task.Amount{Time: time.Second}, []func(*Budget){func(b *Budget) { b.Pass(time.Second) }}, Refused},
		{"time never goes back", task.Amount{Time: time.Second}, []func(*Budget){
			func(b *Budget) { b.Pass(time.Second); b.Pass(0) },
		}, Refused},
	} {
		b := NewBudget(tc.total, task.Amount{})
		for _, step := range tc.steps {
			step(b)
		}
		if got := b.Reserve(Reservation{ID: "next", Kind: "k"}); got != tc.want {
			t.Errorf("%s: Reserve = %d, want %d (spent %v)", tc.name, got, tc.want, b.Spent())
		}
	}
}

// TestDollarsInOrder checks that the same calls leave the same room each time:
// a tenth, six and a tenth are eight tenths in some orders, and less in others.
func TestDollarsInOrder(t *testing.T) {
	t.Parallel()
	tenth := 0.1 // no constant: sums of those are exact
	for range 50 {
		b := NewBudget(task.Amount{USD: 0.8}, task.Amount{})
		for id, usd := range map[string]float64{"a1": 0.1, "a2": 0.1, "a3": 0.6} {
			b.running[id] = &reserved{held: task.Amount{USD: usd}}
		}
		if got := b.Reserve(Reservation{ID: "a4"}); got != Waits {
			t.Fatalf("Reserve = %d, want %d each time", got, Waits)
		}
		b = NewBudget(task.Amount{USD: tenth}, task.Amount{USD: tenth + 0.7})
		for id, usd := range map[string]float64{"a1": 0.1, "a2": 0.6} {
			b.running[id] = &reserved{held: task.Amount{USD: usd}}
		}
		if b.Overdrawn() {
			t.Fatal("it is overdrawn, want it never")
		}
	}
}

// TestOverdrawn limits running calls to the total and their reservations.
func TestOverdrawn(t *testing.T) {
	t.Parallel()
	b := NewBudget(task.Amount{Tokens: 100, Time: time.Hour}, task.Amount{Tokens: 40})
	b.Learn("k", task.Amount{Tokens: 30, Time: time.Minute})
	b.Reserve(Reservation{ID: "a", Kind: "k"})
	b.Reserve(Reservation{ID: "b", Kind: "k"})
	b.Spend("a", used(119))
	if b.Overdrawn() {
		t.Errorf("overdrawn at %d, want 160", b.Spent().Tokens)
	}
	b.Spend("b", used(1))
	if !b.Overdrawn() {
		t.Errorf("not overdrawn at %d, want 160", b.Spent().Tokens)
	}
	b.End(Ending{ID: "a", Usage: used(119)})
	b.End(Ending{ID: "b", Usage: used(1)})
	if b.Overdrawn() || b.Spent().Tokens != 160 {
		t.Errorf("with nothing running: overdrawn %t, spent %d, want false and 160", b.Overdrawn(), b.Spent().Tokens)
	}
	late := NewBudget(task.Amount{Time: time.Hour}, task.Amount{})
	if late.Left() != 0 {
		t.Errorf("Left with nothing running = %s, want 0", late.Left())
	}
	late.Reserve(Reservation{ID: "a", Kind: "k", Limits: task.Amount{Time: time.Minute}})
	late.Reserve(Reservation{ID: "b", Kind: "k"})
	if late.Left() != time.Hour+FirstTime {
		t.Errorf("Left = %s, want the total and the longest reservation", late.Left())
	}
	late.Pass(time.Hour + FirstTime)
	if !late.Overdrawn() {
		t.Error("not overdrawn when the time is over")
	}
	large := NewBudget(task.Amount{Tokens: math.MaxInt64}, task.Amount{})
	large.Reserve(Reservation{ID: "a", Kind: "k"})
	if large.Overdrawn() {
		t.Error("a total too large to add to is overdrawn")
	}
	if NewBudget(task.Amount{}, task.Amount{Tokens: 1}).Exhausted() {
		t.Error("a budget without totals is exhausted")
	}
}

// TestBudgetHolds plays random stories. No call starts once a total is spent,
// or beside calls that may use the rest. A waiting call can start once no other
// runs. The spending is the sum of the calls' usage.
func TestBudgetHolds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		dice := rand.New(rand.NewPCG(seed, 1))
		total := int64(1 + dice.IntN(100_000))
		b := NewBudget(task.Amount{Tokens: total}, task.Amount{})
		type call struct{ held, used int64 }
		running := map[string]*call{}
		var spent, most int64 = 0, -1
		for step := range 200 {
			var left, held int64
			for _, c := range running {
				left, held = left+max(0, c.held-c.used), held+c.held
			}
			if want := len(running) > 0 && spent >= total+held; b.Overdrawn() != want {
				t.Fatalf("seed %d, step %d: Overdrawn = %t at %d of %d and %d held", seed, step, !want, spent, total, held)
			}
			id := fmt.Sprint(step)
			switch dice.IntN(3) {
			case 0:
				own := int64(dice.IntN(2) * (1 + dice.IntN(30_000)))
				got := b.Reserve(Reservation{ID: id, Kind: "k", Limits: task.Amount{Tokens: own}})
				want := Admitted
				switch {
				case spent >= total:
					want = Refused
				case spent+left >= total:
					want = Waits
				}
				if got != want || got == Waits && len(running) == 0 {
					t.Fatalf("seed %d, step %d: Reserve = %d, want %d", seed, step, got, want)
				}
				if got == Admitted {
					c := &call{held: FirstTokens}
					if most >= 0 {
						c.held = most
					}
					if own > 0 {
						c.held = min(c.held, own)
					}
					running[id] = c
				}
			case 1:
				for id, c := range running {
					n := int64(dice.IntN(5_000))
					b.Spend(id, used(n))
					c.used, spent = c.used+n, spent+n
					break
				}
			default:
				for id, c := range running {
					more := int64(dice.IntN(2) * dice.IntN(5_000))
					b.End(Ending{ID: id, Usage: used(c.used + more), Whole: true})
					spent, most = spent+more, max(most, c.used+more)
					delete(running, id)
					break
				}
			}
			if b.Spent().Tokens != spent {
				t.Fatalf("seed %d, step %d: Spent = %d, want %d", seed, step, b.Spent().Tokens, spent)
			}
		}
	}
}
