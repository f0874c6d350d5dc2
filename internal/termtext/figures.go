package termtext

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
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

// Tokens is a number of tokens in few letters; empty for none.
func Tokens(n int64) string {
	switch {
	case n <= 0:
		return ""
	case n < 1000:
		return fmt.Sprintf("%d tok", n)
	case n < 999_500:
		return fmt.Sprintf("%.3gk tok", float64(n)/1e3)
	default:
		return fmt.Sprintf("%.3gM tok", float64(n)/1e6)
	}
}

// List is a list of words of which the first few are named.
func List(words []string, most int) string {
	if more := len(words) - most; more > 1 {
		words = append(slices.Clone(words[:most]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, ", ")
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

// Quote is a word of the user's in a message.
func Quote(word string) string { return `"` + Line(word) + `"` }

// ErrorLine is an error for a message of a single line.
func ErrorLine(err error) string {
	if err == nil {
		return "nothing says why"
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}
