package tool

import (
	"errors"
	"fmt"
	"strings"
)

// replacement is the change of a text by edit.
type replacement struct {
	old, new string
	all      bool
}

// replace carries a replacement out. It returns the text after it, and the
// lines of the text before it that changed. If old does not occur exactly once,
// the error names the near or repeated places.
func replace(text string, r replacement) (string, []int, error) {
	switch {
	case r.old == "":
		return "", nil, errors.New("old_text is empty; to make a file, use write")
	case r.old == r.new:
		return "", nil, errors.New("old_text and new_text are the same")
	}
	// Models write plain line ends whatever a file has.
	if n := strings.Count(text, "\r\n"); n > 0 && (n == strings.Count(text, "\n") || !strings.Contains(text, r.old)) {
		r.old, r.new = crlf(r.old), crlf(r.new)
	}
	lines := places(text, r.old)
	switch {
	case len(lines) == 0:
		return "", nil, fmt.Errorf("old_text is not in the file.%s", nearest(text, r.old))
	case len(lines) > 1 && !r.all:
		return "", nil, fmt.Errorf("old_text is there %d times, at lines %s; add lines around it to name one, or set replace_all",
			len(lines), numbers(lines))
	}
	return strings.ReplaceAll(text, r.old, r.new), lines, nil
}

func crlf(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}

// places are the lines, from 1, at which a text begins in another.
func places(text, part string) []int {
	var lines []int
	for line, rest := 1, text; ; {
		i := strings.Index(rest, part)
		if i < 0 {
			return lines
		}
		line += strings.Count(rest[:i], "\n")
		lines = append(lines, line)
		line += strings.Count(part, "\n")
		rest = rest[i+len(part):]
	}
}

const (
	maxNear      = 12      // lines that are shown
	maxNearLines = 200_000 // lines that are looked at
	leastAlike   = 0.4     // below it nothing is alike
)

// nearest names the part of a text that is most like the searched text.
func nearest(text, part string) string {
	lines := strings.Split(text, "\n")
	want := strings.Split(strings.Trim(part, "\n"), "\n")
	if len(lines) > maxNearLines || len(want) > 500 {
		return ""
	}
	best, at := 0.0, -1
	for i := range lines {
		// Comparing the rest is only worth it after a line like its first. If
		// that is blank, any line serves.
		first := alike(lines[i], want[0])
		if first < leastAlike && best >= leastAlike {
			continue
		}
		sum := first
		for j := 1; j < len(want) && i+j < len(lines); j++ {
			sum += alike(lines[i+j], want[j])
		}
		if sum /= float64(len(want)); sum > best {
			best, at = sum, i
		}
	}
	if best < leastAlike {
		return " Nothing in it is like it; read the file again."
	}
	to := min(at+len(want), len(lines))
	found := lines[at:to]
	why := " The nearest is"
	if squeezed(strings.Join(found, "\n")) == squeezed(strings.Join(want, "\n")) {
		why = " Only its white space differs from"
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s what stands at lines %d to %d:\n", why, at+1, to)
	for i, line := range found[:min(len(found), maxNear)] {
		fmt.Fprintf(&out, "%d: %s\n", at+1+i, clip(line, 500))
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// alike is how much two lines have in common, from 0 to 1: the share of the
// begin and the end that is the same, without the blanks around.
func alike(a, b string) float64 {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	switch {
	case a == b:
		return 1
	case a == "" || b == "":
		return 0
	}
	short := min(len(a), len(b))
	begin := 0
	for begin < short && a[begin] == b[begin] {
		begin++
	}
	end := 0
	for end < short-begin && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return float64(begin+end) / float64(max(len(a), len(b)))
}

func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }
