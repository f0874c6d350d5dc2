package git

import (
	"bytes"
	"strconv"
	"strings"
)

// PatchCount counts the added and deleted lines of a patch while it is written,
// in pieces of any size. The patch is from [Quarantine.WritePatch].
type PatchCount struct {
	Added, Deleted int

	line   []byte // the beginning of the line that is being written
	ours   int    // lines of the old file that are left of a hunk
	theirs int    // lines of the new file
}

// headLength is how much of a line is looked at: "@@ -a,b +c,d @@".
const headLength = 100

func (c *PatchCount) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		piece := p
		if end >= 0 {
			piece = p[:end]
		}
		c.line = append(c.line, piece[:min(len(piece), headLength-len(c.line))]...)
		if end < 0 {
			break
		}
		c.end(c.line)
		c.line = c.line[:0]
		p = p[end+1:]
	}
	return n, nil
}

// end counts a line. The length of a hunk is known, so that each line of a file
// is counted as such.
func (c *PatchCount) end(line []byte) {
	if c.ours == 0 && c.theirs == 0 {
		c.hunk(string(line))
		return
	}
	kind := byte(' ')
	if len(line) > 0 {
		kind = line[0]
	}
	switch kind {
	case '+':
		c.Added++
		c.theirs--
	case '-':
		c.Deleted++
		c.ours--
	case '\\': // no newline at the end of the file
	default:
		c.ours--
		c.theirs--
	}
	c.ours, c.theirs = max(c.ours, 0), max(c.theirs, 0)
}

// hunk reads "@@ -a,b +c,d @@"; a count of 1 is left out.
func (c *PatchCount) hunk(line string) {
	rest, ok := strings.CutPrefix(line, "@@ -")
	if !ok {
		return
	}
	ranges, _, _ := strings.Cut(rest, " @@")
	ours, theirs, _ := strings.Cut(ranges, " +")
	c.ours, c.theirs = rangeLength(ours), rangeLength(theirs)
}

func rangeLength(text string) int {
	_, count, ok := strings.Cut(text, ",")
	if !ok {
		return 1
	}
	n, err := strconv.Atoi(count)
	if err != nil {
		return 0
	}
	return n
}
