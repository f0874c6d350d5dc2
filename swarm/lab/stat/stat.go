// Package stat compares two figures of each of a number of things: how far
// apart they are on average, between which bounds that lies, and how likely
// such a difference is where there is none.
//
// It is pure, and gives the same answer for the same numbers every time.
package stat

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Mean is the average; 0 for no numbers.
func Mean(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// Interval is where a figure lies with a probability of 95 %.
type Interval struct{ Low, High float64 }

// rounds is how often the numbers are drawn again.
const rounds = 10_000

// MeanInterval returns bounds of the mean behind the sample xs. They are
// percentiles of the means of samples that are drawn from xs itself. The
// interval is a point if there are fewer than two numbers, or all are equal.
func MeanInterval(xs []float64) Interval {
	if len(xs) == 0 {
		return Interval{}
	}
	// The seed is fixed: who looks twice at the same transcripts sees the same.
	draw := rand.New(rand.NewPCG(1, uint64(len(xs))))
	means := make([]float64, rounds)
	for i := range means {
		sum := 0.0
		for range xs {
			sum += xs[draw.IntN(len(xs))]
		}
		means[i] = sum / float64(len(xs))
	}
	slices.Sort(means)
	return Interval{quantile(means, 0.025), quantile(means, 0.975)}
}

// quantile of sorted numbers, between the two that are nearest.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	low := int(at)
	if low+1 >= len(sorted) {
		return sorted[low]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}

// Test is which test gave a probability. The zero value is none.
type Test string

// The tests.
const (
	NoTest   Test = ""
	Wilcoxon Test = "wilcoxon" // signed ranks of differences
	McNemar  Test = "mcnemar"  // of pairs of yes and no, exact
)

// Paired tests whether the second numbers of pairs differ from the first by
// more than chance would have it: two-sided, by McNemar's test where all
// numbers are 0 or 1, else by Wilcoxon's. Without a pair that differs there is
// nothing to test, and p is 1.
func Paired(first, second []float64) (p float64, test Test) {
	binary := true
	var diffs []float64
	for i, a := range first {
		b := second[i]
		binary = binary && (a == 0 || a == 1) && (b == 0 || b == 1)
		diffs = append(diffs, b-a)
	}
	if len(diffs) == 0 {
		return 1, NoTest
	}
	if !binary {
		return SignedRanks(diffs), Wilcoxon
	}
	up, down := 0, 0
	for _, d := range diffs {
		switch {
		case d > 0:
			up++
		case d < 0:
			down++
		}
	}
	return Discordant(up, down), McNemar
}

// Discordant is McNemar's exact two-sided probability, where up pairs changed
// from no to yes and down pairs from yes to no.
func Discordant(up, down int) float64 {
	n, k := up+down, min(up, down)
	if n == 0 {
		return 1
	}
	tail := 0.0
	for i := 0; i <= k; i++ {
		tail += math.Exp(logChoose(n, i) - float64(n)*math.Ln2)
	}
	return min(1, 2*tail)
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// exactRanks is up to how many differences the distribution of the ranks is
// counted out; beyond it is as good as normal.
const exactRanks = 50

// SignedRanks is the two-sided probability of Wilcoxon's test that differences
// are as often and as far above 0 as below. Differences of 0 are left out, and
// equal ones share their ranks.
func SignedRanks(diffs []float64) float64 {
	var kept []float64
	for _, d := range diffs {
		if d = rounded(d); d != 0 {
			kept = append(kept, d)
		}
	}
	if len(kept) == 0 {
		return 1
	}
	ranks := doubledRanks(kept)
	total, above := 0, 0
	for i, r := range ranks {
		total += r
		if kept[i] > 0 {
			above += r
		}
	}
	less := min(above, total-above)
	if len(kept) <= exactRanks {
		return exact(ranks, total, less)
	}
	// Half of the doubled sum of ranks.
	mean, variance := float64(total)/4, 0.0
	for _, r := range ranks {
		variance += float64(r) * float64(r) / 16
	}
	z := (mean - float64(less)/2 - 0.5) / math.Sqrt(variance)
	return min(1, math.Erfc(max(0, z)/math.Sqrt2))
}

// rounded removes from a difference of means the error that the order of
// summation leaves. Such an error is no difference, and two equal differences
// share their rank.
func rounded(d float64) float64 { return math.Round(d*1e9) / 1e9 }

// doubledRanks are twice the ranks by size, so that shared ones are whole.
func doubledRanks(diffs []float64) []int {
	order := make([]int, len(diffs))
	for i := range order {
		order[i] = i
	}
	size := func(i int) float64 { return math.Abs(diffs[order[i]]) }
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(math.Abs(diffs[a]), math.Abs(diffs[b])) })
	ranks := make([]int, len(diffs))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && size(to) == size(from) {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = from + 1 + to
		}
		from = to
	}
	return ranks
}

// exact counts in how many of all ways to give the ranks signs their sum above
// 0 is no more than less, and doubles that for both sides.
func exact(ranks []int, total, less int) float64 {
	ways := make([]float64, total+1)
	ways[0] = 1
	for _, r := range ranks {
		for sum := total; sum >= r; sum-- {
			ways[sum] += ways[sum-r]
		}
	}
	tail := 0.0
	for _, n := range ways[:less+1] {
		tail += n
	}
	return min(1, 2*tail/math.Exp2(float64(len(ranks))))
}
