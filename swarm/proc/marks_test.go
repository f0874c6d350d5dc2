package proc

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestMarks(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "stdout")
	if marks, err := Marks(file); marks != nil || err != nil {
		t.Errorf("Marks of nothing = %v, %v", marks, err)
	}
	start := time.UnixMilli(1_700_000_000_000)
	var m marker
	for _, step := range []struct {
		offset int64
		after  time.Duration
	}{{0, 0}, {10, 900 * time.Millisecond}, {20, 1100 * time.Millisecond}, {30, 1200 * time.Millisecond}, {40, 5 * time.Second}} {
		m.note(file, step.offset, start.Add(step.after))
	}
	m.close()
	got, err := Marks(file)
	want := []Mark{{0, start}, {20, start.Add(1100 * time.Millisecond)}, {40, start.Add(5 * time.Second)}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Marks = %v, %v, want %v", got, err, want)
	}
}

// TestMarkerFails checks that a program does not fail for its marks.
func TestMarkerFails(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "stdout")
	if err := os.WriteFile(marksOf(file), []byte("3 4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var m marker
	m.note(file, 0, time.Now())
	m.note(file, 9, time.Now().Add(time.Hour))
	m.close()
	if text, err := os.ReadFile(marksOf(file)); string(text) != "3 4\n" || err != nil {
		t.Errorf("an earlier file is now %q, %v", text, err)
	}
}

func TestParseMarks(t *testing.T) {
	t.Parallel()
	for give, want := range map[string][]int64{
		"":                              nil,
		"0 5\n7 6\n":                    {0, 7},
		"0 5\nx y\n-1 4\n9 -3\n8 6\n":   {0, 8},
		"5 5\n5 6\n4 7\n6 8\n":          {5, 6},
		"0 5\n9 6":                      {0},
		"99999999999999999999 1\n1 1\n": {1},
	} {
		marks, err := parseMarks(strings.NewReader(give))
		var got []int64
		for _, m := range marks {
			got = append(got, m.Offset)
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("parseMarks(%q) = %v, %v, want offsets %v", give, marks, err, want)
		}
	}
}

// FuzzParseMarks holds that offsets rise in marks read from any text.
func FuzzParseMarks(f *testing.F) {
	f.Add("0 5\n7 6\n")
	f.Add("5 5\n4 9\n\n 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		marks, err := parseMarks(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		last := int64(-1)
		for _, m := range marks {
			if m.Offset <= last {
				t.Fatalf("parseMarks(%q): offset %d after %d", text, m.Offset, last)
			}
			last = m.Offset
		}
	})
}
