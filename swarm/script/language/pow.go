package language

import (
	"math"
	"math/big"
	"sync"
)

// powBits is the precision of the numbers with which powers are computed.
const powBits = 192

// ln2 is the natural logarithm of 2.
var ln2 = sync.OnceValue(func() *big.Float {
	n, _, err := big.ParseFloat("0.69314718055994530941723212145817656807550013436025525412068000949339362196969471560586332699641868754", 10, powBits, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return n
})

// raise returns x to the power of y, rounded correctly. Ok is false where the
// engine has to decide: for results that are no finite number or zero, and for
// bases that are.
func raise(x, y float64) (p float64, ok bool) {
	about := math.Pow(x, y)
	if x == 0 || math.IsNaN(x) || about == 0 || math.IsInf(x, 0) || math.IsInf(y, 0) || math.IsNaN(about) || math.IsInf(about, 0) {
		return 0, false
	}
	sign := 1.0
	if x < 0 { // y is whole, since about is a number
		x = -x
		if math.Mod(y, 2) != 0 {
			sign = -1
		}
	}
	whole, part := math.Modf(y)
	if math.Abs(whole) >= 1<<62 {
		return 0, false
	}
	result := wholePower(newBig(x), int64(whole))
	if part != 0 {
		result.Mul(result, exponential(new(big.Float).Mul(newBig(part), logarithm(x))))
	}
	p, _ = result.Float64()
	return sign * p, true
}

func newBig(n float64) *big.Float { return new(big.Float).SetPrec(powBits).SetFloat64(n) }

// wholePower returns x to the power of a whole number.
func wholePower(x *big.Float, n int64) *big.Float {
	result, square := newBig(1), new(big.Float).Copy(x)
	for left := max(n, -n); left > 0; left >>= 1 {
		if left&1 == 1 {
			result.Mul(result, square)
		}
		if left > 1 {
			square.Mul(square, square)
		}
	}
	if n < 0 {
		result.Quo(newBig(1), result)
	}
	return result
}

// logarithm returns the natural logarithm of a positive number: of its
// fraction by the series of the inverse hyperbolic tangent.
func logarithm(x float64) *big.Float {
	fraction, exponent := math.Frexp(x)
	if fraction < math.Sqrt2/2 {
		fraction, exponent = fraction*2, exponent-1
	}
	m := newBig(fraction)
	z := new(big.Float).Quo(new(big.Float).Sub(m, newBig(1)), new(big.Float).Add(m, newBig(1)))
	square := new(big.Float).Mul(z, z)
	sum, term := new(big.Float).Copy(z), new(big.Float).Copy(z)
	for i := 3; term.Sign() != 0 && term.MantExp(nil) > z.MantExp(nil)-powBits; i += 2 {
		term.Mul(term, square)
		sum.Add(sum, new(big.Float).Quo(term, newBig(float64(i))))
	}
	sum.Mul(sum, newBig(2))
	return sum.Add(sum, new(big.Float).Mul(newBig(float64(exponent)), ln2()))
}

// exponential returns e to the power of t.
func exponential(t *big.Float) *big.Float {
	const halvings = 8
	about, _ := new(big.Float).Quo(t, ln2()).Float64()
	doublings := math.Round(about)
	rest := new(big.Float).Sub(t, new(big.Float).Mul(newBig(doublings), ln2()))
	rest.SetMantExp(rest, -halvings)
	sum, term := newBig(1), newBig(1)
	for i := 1; term.Sign() != 0 && term.MantExp(nil) > -powBits; i++ {
		term.Mul(term, rest)
		term.Quo(term, newBig(float64(i)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum.SetMantExp(sum, int(doublings))
}
