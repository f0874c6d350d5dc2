package resettime

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // a container may have no time zones
)

// clockForm is a time of the day after a word that introduces it. A month and a
// day, or a weekday, may come before it, and a zone after it.
var clockForm = sync.OnceValue(func() *regexp.Regexp {
	const (
		words   = `\b(?:resets?|try again|available again|retry|until)(?:\s+(?:at|on|by))?`
		months  = `(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?`
		date    = months + `\s+([0-9]{1,2})(?:st|nd|rd|th)?(?:,?\s+([0-9]{4})\b)?`
		weekday = `(sun|mon|tue|wed|thu|fri|sat)[a-z]*\.?`
		soon    = `(today|tomorrow)`
		day     = `(?:(?:` + date + `|` + weekday + `|` + soon + `)(?:,|\s+at\b|,\s*at\b)?\s+)?`
		clock   = `([0-9]{1,2})(?::([0-9]{2}))?(?::([0-9]{2}))?(?:\s*([ap])\.?m\b\.?)?`
		zone    = `(?:\s*\(([A-Za-z][A-Za-z0-9_+/-]{0,60})\)|\s+(UTC|GMT|Z)\b)?`
	)
	return regexp.MustCompile(`(?i)` + words + `:?\s+` + day + clock + zone)
})

// The groups of clockForm.
const (
	inMonth = iota + 1
	inDay
	inYear
	inWeekday
	inSoon
	inHour
	inMinute
	inSecond
	inHalf
	inZone
	inUTC
)

// clock reads "resets 6:30pm (Europe/Berlin)", "resets Nov 25, 6am", "resets Monday
// 9am" and "try again at Nov 25th, 2026 6:00 AM".
func clock(text string, now time.Time, local *time.Location) (time.Time, bool) {
	for _, at := range clockForm().FindAllStringSubmatchIndex(text, -1) {
		m := make([]string, inUTC+1)
		for i := range m {
			if at[2*i] >= 0 {
				m[i] = strings.ToLower(text[at[2*i]:at[2*i+1]])
			}
		}
		if at[2*inZone] >= 0 { // names of zones have upper case
			m[inZone] = text[at[2*inZone]:at[2*inZone+1]]
		}
		if goesOn(text[at[1]:]) {
			continue
		}
		if found, ok := moment(m, now, local); ok {
			return found, true
		}
	}
	return time.Time{}, false
}

// goesOn reports whether the rest makes the last number something else, such as
// the 5 of "5-hour limit", "5 minutes" or "5.5".
func goesOn(rest string) bool {
	trimmed := strings.TrimLeft(rest, " \t")
	switch {
	case rest == "", trimmed == "":
		return false
	case strings.ContainsRune("0123456789:-/%_", rune(rest[0])):
		return true
	case rest[0] == '.':
		return len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9'
	}
	word := strings.ToLower(trimmed)
	for _, unit := range []string{"week", "day", "hour", "hr", "minute", "min", "second", "sec", "time", "request", "token"} {
		if strings.HasPrefix(word, unit) {
			return true
		}
	}
	return rest == trimmed && (word[0] >= 'a' && word[0] <= 'z')
}

// moment is the time that the groups of a match name.
func moment(m []string, now time.Time, local *time.Location) (time.Time, bool) {
	in := local
	if m[inUTC] != "" {
		in = time.UTC
	}
	if m[inZone] != "" {
		named, err := time.LoadLocation(m[inZone])
		if err != nil || m[inZone] == "Local" {
			return time.Time{}, false // the time in another zone is hours off
		}
		in = named
	}
	t, ok := timeOfDay(m)
	if !ok {
		return time.Time{}, false
	}
	now = now.In(in)
	today := now
	switch {
	case m[inMonth] != "":
		return onDate(m, t, now)
	case m[inWeekday] != "":
		days := slices.Index([]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}, m[inWeekday]) - int(now.Weekday())
		return next(today, (days+7)%7, 7, t), true
	case m[inSoon] == "tomorrow":
		return t.on(now.Year(), now.Month(), now.Day()+1, in), true
	case m[inSoon] == "today":
		return t.on(now.Year(), now.Month(), now.Day(), in), true
	default:
		return next(today, 0, 1, t), true
	}
}

// next is the first occurrence after now of a time of the day, days ahead or any
// number of steps after that.
func next(now time.Time, days, step int, t daytime) time.Time {
	at := t.on(now.Year(), now.Month(), now.Day()+days, now.Location())
	if !at.After(now) {
		at = t.on(now.Year(), now.Month(), now.Day()+days+step, now.Location())
	}
	return at
}

// daytime is a time of the day.
type daytime struct{ hour, minute, second int }

func timeOfDay(m []string) (daytime, bool) {
	number := func(group int) int {
		n, _ := strconv.Atoi(m[group]) // empty is 0, and the rest are digits
		return n
	}
	t := daytime{number(inHour), number(inMinute), number(inSecond)}
	if m[inHalf] == "" {
		// A bare number is no time: "resets 5".
		return t, m[inMinute] != "" && t.hour < 24 && t.minute < 60 && t.second < 60
	}
	if t.hour < 1 || t.hour > 12 || t.minute > 59 || t.second > 59 {
		return t, false
	}
	t.hour %= 12
	if m[inHalf] == "p" {
		t.hour += 12
	}
	return t, true
}

// on is the time on a day. The package time gives either meaning where the
// clocks change. Of a skipped time this function wants the later meaning, of a
// repeated time the first.
func (t daytime) on(year int, month time.Month, day int, in *time.Location) time.Time {
	at := time.Date(year, month, day, t.hour, t.minute, t.second, 0, in)
	_, before := at.Add(-24 * time.Hour).Zone()
	// The wall clock, read with the offset that held before any change of that day.
	old := time.Date(year, month, day, t.hour, t.minute, t.second, 0, time.UTC).Add(-time.Duration(before) * time.Second).In(in)
	if _, offset := old.Zone(); offset == before {
		return old // before the change, and the first of two
	}
	if at.Hour() == t.hour && at.Minute() == t.minute {
		return at // after the change
	}
	return old // skipped: as long after the change as it would have been
}

// onDate is the time on a month and a day. A date without a year that has passed,
// or that this year does not have, is that of the next year.
func onDate(m []string, t daytime, now time.Time) (time.Time, bool) {
	month := time.Month(1 + slices.Index([]string{
		"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
	}, m[inMonth]))
	day, _ := strconv.Atoi(m[inDay])
	first, last := now.Year(), now.Year()+1
	if m[inYear] != "" {
		first, _ = strconv.Atoi(m[inYear])
		last = first
	}
	for year := first; year <= last; year++ {
		if date := time.Date(year, month, day, 0, 0, 0, 0, time.UTC); day < 1 || date.Month() != month {
			continue // there is no such day
		}
		if at := t.on(year, month, day, now.Location()); at.After(now) || m[inYear] != "" {
			return at, true
		}
	}
	return time.Time{}, false
}
