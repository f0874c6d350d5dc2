package bytesize

import "testing"

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0B": 0, "12B": 12, "500MB": 500e6, "100MiB": 100 << 20, "1.5 GiB": 3 << 29, "2TB": 2e12, "1KB": 1000,
		"": -1, "12": -1, "1mb": -1, "-1B": -1, "1PB": -1, "9999999999999999999B": -1, "1. GB": -1, "1GB ": -1,
	} {
		got, ok := Parse(text)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("Parse(%q) = %d, %v, want %d", text, got, ok, want)
		}
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 9_949: "9.9 kB", 9_951: "10 kB", 999_499: "999 kB", 999_500: "1.0 MB",
		300e6: "300 MB", 212e9: "212 GB", 1 << 40: "1.1 TB", 1<<63 - 1: "9.2 EB",
	} {
		if got := Format(n); got != want {
			t.Errorf("Format(%d) = %q, want %q", n, got, want)
		}
	}
}
