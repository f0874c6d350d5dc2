package cli

import (
	"math"
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	t.Parallel()
	tests := []struct {
		give time.Duration
		want string
	}{
		{-time.Second, "0.0s"},
		{0, "0.0s"},
		{time.Nanosecond, "1ms"},
		{12 * time.Millisecond, "12ms"},
		{100 * time.Millisecond, "0.1s"},
		{1240 * time.Millisecond, "1.2s"},
		{59940 * time.Millisecond, "59.9s"},
		{59960 * time.Millisecond, "1m00s"},
		{3*time.Minute + 4*time.Second, "3m04s"},
		{59*time.Minute + 59700*time.Millisecond, "1h00m"},
		{time.Hour + 2*time.Minute + 29*time.Second, "1h02m"},
		{23*time.Hour + 59*time.Minute + 40*time.Second, "1d00h"},
		{51 * time.Hour, "2d03h"},
		{math.MaxInt64, "106751d23h"},
	}
	for _, tt := range tests {
		if got := Duration(tt.give); got != tt.want {
			t.Errorf("Duration(%d) = %q, want %q", tt.give, got, tt.want)
		}
	}
}

func TestBytes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		give int64
		want string
	}{
		{0, "0 B"},
		{1023, "1023 B"},
		{1024, "1.0 KiB"},
		{1536, "1.5 KiB"},
		{10 << 10, "10 KiB"},
		{1<<20 - 1, "1.0 MiB"},
		{64 << 20, "64 MiB"},
		{5 << 30, "5.0 GiB"},
		{math.MaxInt64, "8.0 EiB"},
	}
	for _, tt := range tests {
		if got := Bytes(tt.give); got != tt.want {
			t.Errorf("Bytes(%d) = %q, want %q", tt.give, got, tt.want)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	tests := []struct {
		give int
		want string
	}{
		{0, "0 patches"},
		{1, "1 patch"},
		{3, "3 patches"},
		{999, "999 patches"},
		{1000, "1,000 patches"},
		{-1000, "-1,000 patches"},
		{-100, "-100 patches"},
		{1234567, "1,234,567 patches"},
	}
	for _, tt := range tests {
		if got := Count(tt.give, "patch", "patches"); got != tt.want {
			t.Errorf("Count(%d) = %q, want %q", tt.give, got, tt.want)
		}
	}
}

func TestAgo(t *testing.T) {
	t.Parallel()
	now := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		give time.Duration
		want string
	}{
		{-time.Hour, "just now"},
		{time.Second, "just now"},
		{12 * time.Second, "12s ago"},
		{60 * time.Second, "1m ago"},
		{119 * time.Minute, "1h ago"},
		{24 * time.Hour, "1d ago"},
		{29 * 24 * time.Hour, "29d ago"},
		{30 * 24 * time.Hour, "2025-01-30"},
	}
	for _, tt := range tests {
		if got := Ago(now, now.Add(-tt.give)); got != tt.want {
			t.Errorf("Ago(%v before) = %q, want %q", tt.give, got, tt.want)
		}
	}
}
