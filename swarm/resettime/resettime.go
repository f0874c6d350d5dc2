// Package resettime reads the time at which a quota window opens again from the
// text that agents and providers print, such as "resets 6:30pm (Europe/Berlin)".
//
// It knows clock times, dates, weekdays, durations and Unix seconds. It does not
// know which text is an error: its caller passes only text from an error
// position, never text that an agent wrote of its own.
package resettime

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxText is how much of a text is read, in bytes. Messages of limits are short.
const maxText = 4096

// maxAhead bounds how far ahead a time may be: longer than the longest window.
const maxAhead = 400 * 24 * time.Hour

// Parse finds the reset time that a text names, seen from now. A clock time is
// in the zone that the text names in brackets, else in local. It means its next
// occurrence; a weekday the next such day; a date without a year that has
// passed is that of next year. A clock time that a change of the clocks skips
// is as long after the change as it would have been. Of a clock time that
// occurs twice the first counts.
//
// ok is false if the text names no time, an impossible time, or a past time.
func Parse(text string, now time.Time, local *time.Location) (at time.Time, ok bool) {
	if len(text) > maxText {
		text = text[:maxText]
	}
	for _, read := range []func(string, time.Time, *time.Location) (time.Time, bool){unix, inSeconds, after, clock} {
		if at, ok := read(text, now, local); ok {
			return at, at.After(now) && at.Sub(now) <= maxAhead
		}
	}
	return time.Time{}, false
}

// Midnight returns the next midnight of a time zone, at which quotas per day end.
// If the clocks skip it there, it is the first moment of the day.
func Midnight(now time.Time, in *time.Location) time.Time {
	now = now.In(in)
	return daytime{}.on(now.Year(), now.Month(), now.Day()+1, in)
}

var unixForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:\blimit reached\||\bresets?(?:_?at)?"?\s*[:=]\s*)([0-9]{10})(?:[0-9]{3})?\b`)
})

// unix reads "usage limit reached|1795500000" and "resets_at: 1795500000".
// Thirteen digits are milliseconds.
func unix(text string, _ time.Time, _ *time.Location) (time.Time, bool) {
	m := unixForm().FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseInt(m[1], 10, 64)
	return time.Unix(seconds, 0), err == nil
}

// Unix reads a time in Unix seconds, as bodies in JSON have it.
func Unix(text string) (time.Time, bool) {
	return unix(text[:min(len(text), maxText)], time.Time{}, nil)
}

var inSecondsForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\bresets?_(?:in|after)_seconds"?\s*[:=]\s*([0-9]{1,9})\b`)
})

// inSeconds reads "resets_in_seconds": 13872 of a body in JSON.
func inSeconds(text string, now time.Time, _ *time.Location) (time.Time, bool) {
	m := inSecondsForm().FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseInt(m[1], 10, 64)
	return now.Add(time.Duration(seconds) * time.Second), err == nil
}

var afterForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:resets?|try again|retry|available again|reset after)\s+(?:in\s+|after\s+)?~?` +
		`((?:[0-9]{1,6}(?:\.[0-9]{1,3})?\s*(?:weeks?|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|[wdhms])(?:[\s,]+and\s+|[\s,]*)\b?)+)`)
})

var partForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)([0-9]{1,6}(?:\.[0-9]{1,3})?)\s*([wdhms])`)
})

// after reads "try again in 2 days 17 hours 14 minutes" and "retry after 6m0s".
func after(text string, now time.Time, _ *time.Location) (time.Time, bool) {
	m := afterForm().FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	units := map[string]time.Duration{
		"w": 7 * 24 * time.Hour, "d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second,
	}
	var total time.Duration
	for _, part := range partForm().FindAllStringSubmatch(m[1], -1) {
		n, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			return time.Time{}, false
		}
		// A million weeks do not overflow, and are too far ahead.
		step := time.Duration(min(n*float64(units[strings.ToLower(part[2])]), float64(2*maxAhead)))
		total = min(total+step, 2*maxAhead)
	}
	return now.Add(total), true
}
