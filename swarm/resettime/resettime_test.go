package resettime

import (
	"strings"
	"testing"
	"time"
)

// at reads a time of the table: in UTC, or with the offset that it names.
func at(t *testing.T, text string) time.Time {
	t.Helper()
	when, err := time.Parse("2006-01-02 15:04:05Z07:00", text)
	if err != nil {
		t.Fatal(err)
	}
	return when
}

func TestParse(t *testing.T) {
	t.Parallel()
	const thursday = "2026-11-26 10:00:00Z" // 11:00 in Berlin
	tests := []struct{ text, now, local, want string }{
		// Clock times, here and in a zone.
		{"You've hit your session limit · resets 6:30pm (Europe/Berlin)", thursday, "UTC", "2026-11-26 17:30:00Z"},
		{"You've hit your session limit · resets 6:30pm", thursday, "UTC", "2026-11-26 18:30:00Z"},
		{"5-hour limit reached ∙ resets 3pm", thursday, "Europe/Berlin", "2026-11-26 14:00:00Z"},
		{"Session limit reached ∙ resets 2am", thursday, "UTC", "2026-11-27 02:00:00Z"},
		{"resets 2:30am", "2026-11-26 23:00:00Z", "UTC", "2026-11-27 02:30:00Z"},
		{"resets 9am", thursday, "UTC", "2026-11-27 09:00:00Z"},
		{"resets 10am", thursday, "UTC", "2026-11-27 10:00:00Z"},
		{"resets 10:00:01am", thursday, "UTC", "2026-11-26 10:00:01Z"},
		{"Resets at 18:30", thursday, "UTC", "2026-11-26 18:30:00Z"},
		{"resets at 18:30 UTC", thursday, "America/New_York", "2026-11-26 18:30:00Z"},
		{"resets 6 PM.", thursday, "UTC", "2026-11-26 18:00:00Z"},
		{"resets 6 p.m. (America/New_York)", thursday, "UTC", "2026-11-26 23:00:00Z"},
		{"try again at 12:16 PM.", thursday, "UTC", "2026-11-26 12:16:00Z"},
		{"resets 12pm", thursday, "UTC", "2026-11-26 12:00:00Z"},
		{"resets 12am", thursday, "UTC", "2026-11-27 00:00:00Z"},
		{"resets 0:00", thursday, "UTC", "2026-11-27 00:00:00Z"},
		{"resets 00:05", "2026-11-26 23:59:59Z", "UTC", "2026-11-27 00:05:00Z"},
		{"resets 12:30am", "2026-12-31 23:59:00Z", "UTC", "2027-01-01 00:30:00Z"},
		{"resets 1am (Asia/Kathmandu)", thursday, "UTC", "2026-11-26 19:15:00Z"},
		{"resets 8am (Pacific/Kiritimati)", thursday, "UTC", "2026-11-26 18:00:00Z"},
		{"resets 11pm (Pacific/Pago_Pago)", thursday, "UTC", "2026-11-27 10:00:00Z"},
		{"resets 3pm (Nowhere/Land)", thursday, "Europe/Berlin", ""},
		{"resets 3pm (Local)", thursday, "Europe/Berlin", ""},
		{"resets 3pm (UTC)", thursday, "Europe/Berlin", "2026-11-26 15:00:00Z"},
		{"resets today at 3pm", thursday, "UTC", "2026-11-26 15:00:00Z"},
		{"resets tomorrow at 3pm", thursday, "UTC", "2026-11-27 15:00:00Z"},
		{"available again at 15:00", thursday, "UTC", "2026-11-26 15:00:00Z"},
		// Dates.
		{"You've hit your weekly limit · resets Nov 28, 6am (Europe/Berlin)", thursday, "UTC", "2026-11-28 05:00:00Z"},
		{"resets Nov 25, 6am", thursday, "UTC", "2027-11-25 06:00:00Z"},
		{"resets Nov 26, 9am", thursday, "UTC", "2027-11-26 09:00:00Z"},
		{"resets Nov 26, 11am", thursday, "UTC", "2026-11-26 11:00:00Z"},
		{"You've hit your limit · resets Mar 15 at 12pm (America/Los_Angeles)", thursday, "UTC", "2027-03-15 19:00:00Z"},
		{"resets Jan 1 at 12am (Asia/Tokyo)", "2026-12-31 16:00:00Z", "UTC", "2027-12-31 15:00:00Z"},
		{"resets Jan 1, 12am", "2026-12-31 16:00:00Z", "UTC", "2027-01-01 00:00:00Z"},
		{"try again at Nov 28th, 2026 6:00 AM", thursday, "UTC", "2026-11-28 06:00:00Z"},
		{"try again at December 1st, 2026 6:00 AM.", thursday, "UTC", "2026-12-01 06:00:00Z"},
		{"resets Dec 2nd 18:00", thursday, "UTC", "2026-12-02 18:00:00Z"},
		{"resets Feb 28, 9am", thursday, "UTC", "2027-02-28 09:00:00Z"},
		{"resets Feb 29, 9am", "2027-11-26 10:00:00Z", "UTC", "2028-02-29 09:00:00Z"},
		{"resets Sept. 3, 9am", "2026-09-01 10:00:00Z", "UTC", "2026-09-03 09:00:00Z"},
		// Weekdays.
		{"weekly limit · resets Monday 9am", thursday, "UTC", "2026-11-30 09:00:00Z"},
		{"resets Mon 9am", thursday, "UTC", "2026-11-30 09:00:00Z"},
		{"resets Thursday 9am", thursday, "UTC", "2026-12-03 09:00:00Z"},
		{"resets Thursday 11am", thursday, "UTC", "2026-11-26 11:00:00Z"},
		{"resets Wednesday at 11:30pm", thursday, "UTC", "2026-12-02 23:30:00Z"},
		{"resets on Friday, 12am", thursday, "UTC", "2026-11-27 00:00:00Z"},
		{"resets Friday 1am (Pacific/Kiritimati)", thursday, "UTC", "2026-11-26 11:00:00Z"},
		// The clocks go forward: Berlin on 2026-03-29 at 2:00, New York on 2026-03-08.
		{"resets 2:30am (Europe/Berlin)", "2026-03-28 20:00:00Z", "UTC", "2026-03-29 01:30:00Z"},
		{"resets 3:00am (Europe/Berlin)", "2026-03-28 20:00:00Z", "UTC", "2026-03-29 01:00:00Z"},
		{"resets 1:59am (Europe/Berlin)", "2026-03-28 20:00:00Z", "UTC", "2026-03-29 00:59:00Z"},
		{"resets 2:30am (America/New_York)", "2026-03-08 03:00:00Z", "UTC", "2026-03-08 07:30:00Z"},
		{"resets Mar 29, 9am (Europe/Berlin)", "2026-03-20 20:00:00Z", "UTC", "2026-03-29 07:00:00Z"},
		{"resets 12:30am (Africa/Cairo)", "2026-04-23 15:00:00Z", "UTC", "2026-04-23 22:30:00Z"},
		// They go back: Berlin on 2026-10-25 at 3:00, New York on 2026-11-01 at 2:00.
		{"resets 2:30am (Europe/Berlin)", "2026-10-24 20:00:00Z", "UTC", "2026-10-25 00:30:00Z"},
		{"resets 3:00am (Europe/Berlin)", "2026-10-24 20:00:00Z", "UTC", "2026-10-25 02:00:00Z"},
		{"resets 1:30am (America/New_York)", "2026-11-01 03:00:00Z", "UTC", "2026-11-01 05:30:00Z"},
		{"resets 1am (Europe/Berlin)", "2026-10-25 20:00:00Z", "UTC", "2026-10-26 00:00:00Z"},
		{"resets 1:45am (Australia/Lord_Howe)", "2026-04-04 03:00:00Z", "UTC", "2026-04-04 14:45:00Z"},
		// Durations.
		{"You've hit your usage limit. Try again in 2 days 17 hours 14 minutes.", thursday, "UTC", "2026-11-29 03:14:00Z"},
		{"try again in 5 minutes", thursday, "UTC", "2026-11-26 10:05:00Z"},
		{"retry after 6m0s", thursday, "UTC", "2026-11-26 10:06:00Z"},
		{"resets in 3h 12min", thursday, "UTC", "2026-11-26 13:12:00Z"},
		{"Please retry in 2.5s.", thursday, "UTC", "2026-11-26 10:00:02.5Z"},
		{"resets in 1 week", thursday, "UTC", "2026-12-03 10:00:00Z"},
		{"try again in 1 day, 2 hours, and 3 minutes", thursday, "UTC", "2026-11-27 12:03:00Z"},
		// Unix seconds.
		{"Claude AI usage limit reached|1795500000", "2026-11-20 00:00:00Z", "Asia/Tokyo", "2026-11-24 06:00:00Z"},
		{`{"resets_at":1795500000,"resets_in_seconds":9}`, "2026-11-20 00:00:00Z", "UTC", "2026-11-24 06:00:00Z"},
		{"X-RateLimit-Reset: 1795500000000", "2026-11-20 00:00:00Z", "UTC", "2026-11-24 06:00:00Z"},
		{`{"error":{"type":"usage_limit_reached","resets_in_seconds":13872}}`, thursday, "UTC", "2026-11-26 13:51:12Z"},
		{`{"resets_in_seconds":9,"resets_at":1795500000}`, "2026-11-20 00:00:00Z", "UTC", "2026-11-24 06:00:00Z"},
		{"You have hit your ChatGPT usage limit (plus plan). Try again in ~42 min.", thursday, "UTC", "2026-11-26 10:42:00Z"},
		// Several numbers.
		{"5-hour limit reached, 100% used. It resets 5 times a day; resets 3pm", thursday, "UTC", "2026-11-26 15:00:00Z"},
		{"limit until 3pm", thursday, "UTC", "2026-11-26 15:00:00Z"},
		// No time.
		{"Server is temporarily limiting requests (not your usage limit)", thursday, "UTC", ""},
		{"5-hour limit reached", thursday, "UTC", ""},
		{"resets 5", thursday, "UTC", ""},
		{"resets 5 times", thursday, "UTC", ""},
		{"resets 13pm", thursday, "UTC", ""},
		{"resets 0am", thursday, "UTC", ""},
		{"resets 24:00", thursday, "UTC", ""},
		{"resets 9:75am", thursday, "UTC", ""},
		{"resets Feb 30, 9am", thursday, "UTC", ""},
		{"resets Feb 0, 9am", thursday, "UTC", ""},
		{"try again at Nov 25th, 2026 6:00 AM", thursday, "UTC", ""},
		{"try again at Nov 25th, 2099 6:00 AM", thursday, "UTC", ""},
		{"usage limit reached|1700000000", thursday, "UTC", ""},
		{"usage limit reached|17", thursday, "UTC", ""},
		{"try again in 999999 weeks", thursday, "UTC", ""},
		{"try again in 0 seconds", thursday, "UTC", ""},
		{"try again later", thursday, "UTC", ""},
		{"presets 3pm", thursday, "UTC", ""},
		{"the meeting is at 3pm", thursday, "UTC", ""},
		{"resets 3pmx", thursday, "UTC", ""},
		{"", thursday, "UTC", ""},
	}
	if len(tests) < 60 {
		t.Errorf("the table has %d cases", len(tests))
	}
	for _, tt := range tests {
		local, err := time.LoadLocation(tt.local)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := Parse(tt.text, at(t, tt.now), local)
		switch {
		case ok != (tt.want != ""):
			t.Errorf("Parse(%q) at %s in %s = %v, %v, want %q", tt.text, tt.now, tt.local, got.UTC(), ok, tt.want)
		case ok && !got.Equal(at(t, tt.want)):
			t.Errorf("Parse(%q) at %s in %s = %v, want %s", tt.text, tt.now, tt.local, got.UTC(), tt.want)
		}
	}
}

// TestParseLongText: the time of a message stands at its begin.
func TestParseLongText(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-26 10:00:00Z")
	if _, ok := Parse(strings.Repeat("x ", maxText)+"resets 3pm", now, time.UTC); ok {
		t.Error("read beyond the bound")
	}
}

func TestMidnight(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ now, zone, want string }{
		{"2026-11-26 10:00:00Z", "America/Los_Angeles", "2026-11-27 08:00:00Z"},
		{"2026-11-26 07:59:59Z", "America/Los_Angeles", "2026-11-26 08:00:00Z"},
		{"2026-11-26 08:00:00Z", "America/Los_Angeles", "2026-11-27 08:00:00Z"},
		{"2026-11-01 07:30:00Z", "America/Los_Angeles", "2026-11-02 08:00:00Z"}, // a day of 25 hours
		{"2026-04-23 15:00:00Z", "Africa/Cairo", "2026-04-23 22:00:00Z"},        // skipped: it is 1:00 at once
	} {
		in, err := time.LoadLocation(tt.zone)
		if err != nil {
			t.Fatal(err)
		}
		if got := Midnight(at(t, tt.now), in); !got.Equal(at(t, tt.want)) {
			t.Errorf("Midnight(%s, %s) = %s, want %s", tt.now, tt.zone, got.UTC(), tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"resets 6:30pm (Europe/Berlin)", "try again at Nov 25th, 2026 6:00 AM", "try again in 2 days 17 hours", "limit reached|1795500000",
		"resets Monday 9am", "resets 2:30am (America/New_York)", "resets Feb 29 at 12am", "retry after 6m0s",
	} {
		f.Add(seed, int64(1795500000), "Europe/Berlin")
	}
	f.Fuzz(func(t *testing.T, text string, seconds int64, zone string) {
		local, err := time.LoadLocation(zone)
		if err != nil {
			local = time.UTC
		}
		// Years of four digits.
		now := time.Unix(((seconds%4e9)+4e9)%4_000_000_000, 0)
		got, ok := Parse(text, now, local)
		if ok && (!got.After(now) || got.Sub(now) > maxAhead) {
			t.Fatalf("Parse(%q) at %v = %v", text, now, got)
		}
		again, same := Parse(text, now, local)
		if ok != same || !got.Equal(again) {
			t.Fatalf("Parse(%q) twice: %v and %v", text, got, again)
		}
	})
}
