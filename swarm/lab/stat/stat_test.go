package stat

import (
	"math"
	"testing"
)

func near(a, b, by float64) bool { return math.Abs(a-b) <= by }

// The exact critical values are those of the usual tables. For n differences a
// smaller sum of ranks of at most T has a two-sided probability below 0.05, and
// a sum of T+1 has not.
func TestSignedRanksTable(t *testing.T) {
	t.Parallel()
	for n, critical := range map[int]int{6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 12: 13, 15: 25, 20: 52, 25: 89} {
		if p := SignedRanks(withSum(n, critical)); p > 0.05 {
			t.Errorf("n = %d, T = %d: p = %.4f, want at most 0.05", n, critical, p)
		}
		if p := SignedRanks(withSum(n, critical+1)); p <= 0.05 {
			t.Errorf("n = %d, T = %d: p = %.4f, want more than 0.05", n, critical+1, p)
		}
	}
}

// withSum has differences of the sizes 1 to n, of which those below 0 add up.
func withSum(n, sum int) []float64 {
	diffs := make([]float64, n)
	for i := n; i >= 1; i-- {
		diffs[i-1] = float64(i)
		if i <= sum {
			diffs[i-1], sum = -diffs[i-1], sum-i
		}
	}
	return diffs
}

func TestSignedRanks(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		give []float64
		want float64
	}{
		{"none", nil, 1},
		{"all the same", []float64{0, 0}, 1},
		{"one", []float64{3}, 1},
		{"five in one direction", []float64{1, 2, 3, 4, 5}, 2.0 / 32},
		{"zeros do not count", []float64{0, 1, 2, 3, 4, 5, 0}, 2.0 / 32},
		{"the other direction", []float64{-1, -2, -3, -4, -5}, 2.0 / 32},
		{"ties share ranks", []float64{1, 1, 1, -1}, 2 * (1 + 4) / 16.0},
		{"balanced", []float64{1, -1, 2, -2}, 1},
	} {
		if got := SignedRanks(tc.give); !near(got, tc.want, 1e-12) {
			t.Errorf("%s: SignedRanks(%v) = %g, want %g", tc.name, tc.give, got, tc.want)
		}
	}
}

// Beyond the exact count the normal distribution stands in: at the border both
// are close.
func TestSignedRanksNormal(t *testing.T) {
	t.Parallel()
	counted, normal := SignedRanks(withSum(50, 434)), SignedRanks(withSum(51, 451))
	if !near(counted, normal, 0.01) || counted < 0.02 || counted > 0.08 {
		t.Errorf("at the border: %.4f counted, %.4f normal", counted, normal)
	}
}

func TestDiscordant(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		up, down int
		want     float64
	}{
		{0, 0, 1},
		{1, 0, 1},
		{5, 0, 0.0625},
		{0, 6, 0.03125},
		{6, 1, 0.125},
		{9, 1, 22.0 / 1024},
		{10, 10, 1},
		{15, 5, 0.041389},
	} {
		if got := Discordant(tc.up, tc.down); !near(got, tc.want, 1e-6) {
			t.Errorf("Discordant(%d, %d) = %.6f, want %.6f", tc.up, tc.down, got, tc.want)
		}
	}
}

func TestPairedChoosesTheTest(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		first, second []float64
		want          Test
		p             float64
	}{
		{nil, nil, NoTest, 1},
		{[]float64{0, 0, 0, 0, 0, 1}, []float64{1, 1, 1, 1, 1, 1}, McNemar, 0.0625},
		{[]float64{0, 0, 0, 0, 0}, []float64{1, 1, 1, 1, 0.5}, Wilcoxon, 0.0625},
		{[]float64{1}, []float64{1}, McNemar, 1},
	} {
		p, test := Paired(tc.first, tc.second)
		if test != tc.want || !near(p, tc.p, 1e-12) {
			t.Errorf("Paired(%v, %v) = %g, %q, want %g, %q", tc.first, tc.second, p, test, tc.p, tc.want)
		}
	}
}

func TestMeanInterval(t *testing.T) {
	t.Parallel()
	if got := MeanInterval(nil); got != (Interval{}) {
		t.Errorf("MeanInterval(nil) = %v", got)
	}
	if got := MeanInterval([]float64{2, 2, 2}); got != (Interval{2, 2}) {
		t.Errorf("of three twos: %v", got)
	}
	var xs []float64
	for i := range 100 {
		xs = append(xs, float64(i%10))
	}
	// The deviation of 0 … 9 is 2.872, of the mean of a hundred a tenth of that.
	got := MeanInterval(xs)
	if !near(got.Low, 4.5-1.96*0.2872, 0.06) || !near(got.High, 4.5+1.96*0.2872, 0.06) {
		t.Errorf("MeanInterval = %v, want about 3.94 to 5.06", got)
	}
	if again := MeanInterval(xs); again != got {
		t.Errorf("the second time %v, the first time %v", again, got)
	}
	if Mean(xs) != 4.5 || Mean(nil) != 0 {
		t.Errorf("Mean = %g, %g", Mean(xs), Mean(nil))
	}
}

// The error of sums in another order is no difference, and does not separate
// equal differences.
func TestSignedRanksOfSums(t *testing.T) {
	t.Parallel()
	var same, thirds, exact []float64
	one, two, three := 0.1, 0.2, 0.3 // no constants: those are exact
	whole, third2 := 10*one, 10*two/(30*one)
	third, thirdToo := whole-third2, third2-whole/(30*one)
	if one+two+three == three+two+one || third == thirdToo {
		t.Fatalf("sums are exact here: %v, %v", third, thirdToo)
	}
	for i := range 20 {
		same = append(same, (one+two+three)-(three+two+one))
		if i%3 == 0 {
			thirds, exact = append(thirds, -thirdToo), append(exact, -1)
		} else {
			thirds, exact = append(thirds, third), append(exact, 1)
		}
	}
	if p := SignedRanks(same); p != 1 {
		t.Errorf("of sums of the same in another order p is %g, want 1", p)
	}
	if got, want := SignedRanks(thirds), SignedRanks(exact); got != want {
		t.Errorf("of thirds p is %g, want %g", got, want)
	}
}

// Figures that were computed by hand, or stand in tables.
func TestKnown(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name      string
		got, want float64
	}{
		{"McNemar, 10 and 2 of 12: 2*79/4096", Discordant(10, 2), 158.0 / 4096},
		{"McNemar, 5 and none: 2/32", Discordant(5, 0), 2.0 / 32},
		{"McNemar, one", Discordant(1, 0), 1},
		{"McNemar, as many", Discordant(4, 4), 1},
		{"ranks, six above: 2/64", SignedRanks([]float64{1, 2, 3, 4, 5, 6}), 2.0 / 64},
		{"ranks, the smallest of six below: 4/64", SignedRanks([]float64{-1, 2, 3, 4, 5, 6}), 4.0 / 64},
		{"ranks, one", SignedRanks([]float64{3}), 1},
		{"ranks, ties of four above: 2/16", SignedRanks([]float64{2, 2, 2, 2, 0, 0}), 2.0 / 16},
	} {
		if d := tc.got - tc.want; d > 1e-12 || d < -1e-12 {
			t.Errorf("%s: %g, want %g", tc.name, tc.got, tc.want)
		}
	}
	if within := MeanInterval([]float64{2, 2, 2}); within.Low != 2 || within.High != 2 {
		t.Errorf("of all the same the interval is %+v", within)
	}
}
