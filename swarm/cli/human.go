package cli

import (
	"fmt"
	"strconv"
	"time"
)

// Duration writes how long something took: 12ms, 1.2s, 3m04s, 1h02m, 2d03h.
func Duration(d time.Duration) string {
	switch {
	case d <= 0:
		return "0.0s"
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%dms", max(1, d.Round(time.Millisecond).Milliseconds()))
	case d.Round(100*time.Millisecond) < time.Minute:
		return fmt.Sprintf("%.1fs", d.Round(100*time.Millisecond).Seconds())
	}
	// Rounded first and split after: 59m59.9s is an hour, not "59m60s".
	if s := d.Round(time.Second); s < time.Hour {
		return fmt.Sprintf("%dm%02ds", s/time.Minute, s%time.Minute/time.Second)
	}
	if m := d.Round(time.Minute); m < 24*time.Hour {
		return fmt.Sprintf("%dh%02dm", m/time.Hour, m%time.Hour/time.Minute)
	}
	h := int(d.Round(time.Hour) / time.Hour)
	return fmt.Sprintf("%dd%02dh", h/24, h%24)
}

// Bytes writes a size: 512 B, 1.5 KiB, 23 MiB.
func Bytes(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/1024, 0
	for value >= 1023.5 && unit < len("KMGTPE")-1 {
		value, unit = value/1024, unit+1
	}
	format := "%.1f %ciB"
	if value >= 9.95 {
		format = "%.0f %ciB"
	}
	return fmt.Sprintf(format, value, "KMGTPE"[unit])
}

// Count writes a number with its noun: 1 file, 3 files, 1,200 files.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + many
}

// Number writes a number in groups of three digits.
func Number(n int) string {
	s := strconv.Itoa(n)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

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
