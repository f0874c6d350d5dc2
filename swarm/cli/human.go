package cli

import (
	"fmt"
	"time"

	"agentswarm/internal/termtext"
)

// Duration writes how long something took; see [termtext.Duration].
func Duration(d time.Duration) string { return termtext.Duration(d) }

// Bytes writes a size: 512 B, 1.5 KiB, 23 MiB.
func Bytes(n int64) string { return termtext.Bytes(n) }

// Count writes a number with its noun: 1 file, 3 files, 1,200 files.
func Count(n int, one, many string) string { return termtext.Count(n, one, many) }

// Number writes a number in groups of three digits.
func Number(n int) string { return termtext.Number(n) }

// Ago writes when something was, seen from now. After a month the day says
// more than the distance does; a time to come is a clock that was set.
func Ago(now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case d < 5*time.Second:
		return "just now"
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh ago", d/time.Hour)
	case d < 30*24*time.Hour:
		return fmt.Sprintf("%dd ago", d/(24*time.Hour))
	}
	return t.Format(time.DateOnly)
}
