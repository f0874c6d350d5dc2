package task

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Amount is a quantity that a budget bounds. As a total, a field of 0 bounds
// nothing.
type Amount struct {
	Tokens int64         `json:"tokens,omitempty"` // output and reasoning
	USD    float64       `json:"usd,omitempty"`
	Time   time.Duration `json:"time_ns,omitempty"` // in which an agent was at work
}

// Spent is the part of a usage that a budget counts.
func (u Usage) Spent() Amount { return Amount{Tokens: u.Output, USD: u.CostUSD} }

// Tokens are all that were used.
func (u Usage) Tokens() int64 {
	return plus(plus(u.Input, u.Output), plus(u.CacheRead, u.CacheWrite))
}

// Add adds b to a.
func (a *Amount) Add(b Amount) {
	a.Tokens = plus(a.Tokens, b.Tokens)
	a.USD = paid(a.USD, b.USD)
	a.Time = time.Duration(plus(int64(a.Time), int64(b.Time)))
}

// plus is a sum that stays at the largest number there is: an agent that says
// it has used that much twice must not have used less than nothing.
func plus(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// MostUSD is the largest amount that is counted: larger amounts are not told
// apart. JSON, the form of all records, has no infinity, and sums and shares of
// these amounts are far from it.
const MostUSD = 1e15

// paid is such a sum of dollars.
func paid(a, b float64) float64 { return min(a+b, MostUSD) }

// Dollars formats an amount of dollars: with cents, and below a cent with two
// significant digits.
func Dollars(usd float64) string {
	if usd > 0 && usd < 0.01 {
		digits := 1 - int(math.Floor(math.Log10(usd)))
		return "$" + strconv.FormatFloat(usd, 'f', digits, 64)
	}
	return fmt.Sprintf("$%.2f", usd)
}
