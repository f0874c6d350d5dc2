package limit

import (
	"math"
	"strconv"
	"time"
)

// requestsEach is the number of requests that an agent may make within a
// minute. An agent asks, and then runs a tool: three seconds for both is quick.
const requestsEach = 20

// longestReset is the longest time after which a limit counts as a limit of
// requests or tokens a minute. A limit a day says nothing about the number of
// agents.
const longestReset = 2 * time.Minute

// Remaining returns how many requests with this usage a provider still allows
// within about a minute, by the headers of its answer; 0 if they do not say it.
// It knows the headers of OpenAI (and of many servers with its API) and of
// Anthropic. header returns a header by its name in lower case, or "".
func Remaining(header func(name string) string, tokens int64, now time.Time) int {
	least := math.MaxInt32
	note := func(left int64) { least = int(min(int64(least), max(left, 1))) }
	for _, names := range [][2]string{
		{"x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"},
		{"anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"},
	} {
		if left, ok := allowance(header(names[0]), header(names[1]), now); ok {
			note(left)
		}
	}
	for _, names := range [][2]string{
		{"x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"},
		{"anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"},
		{"anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"},
	} {
		if left, ok := allowance(header(names[0]), header(names[1]), now); ok && tokens > 0 {
			note(left / tokens)
		}
	}
	if least == math.MaxInt32 {
		return 0
	}
	return least
}

// allowance reads how much is left, and when there is all of it again: a duration,
// a number of seconds, or a date. It is false if that is far away or not known.
func allowance(left, reset string, now time.Time) (int64, bool) {
	n, err := strconv.ParseInt(left, 10, 64)
	if err != nil || n < 0 {
		return 0, false
	}
	var after time.Duration
	if at, err := time.Parse(time.RFC3339, reset); err == nil {
		after = at.Sub(now)
	} else if after, err = time.ParseDuration(reset); err != nil {
		seconds, err := strconv.ParseFloat(reset, 64)
		if err != nil || math.IsNaN(seconds) || math.Abs(seconds) > longestReset.Seconds() {
			return 0, false
		}
		after = time.Duration(seconds * float64(time.Second))
	}
	return n, after <= longestReset
}
