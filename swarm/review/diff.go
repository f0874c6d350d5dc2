package review

import (
	"fmt"
	"strconv"
	"strings"

	"agentswarm/internal/patchpath"
)

// File is the change of a file in a patch.
type File struct {
	Path string // after the change; of a deleted file, before it
	From string // path before the change where it differs; else empty
	// OldMode and NewMode are git's octal modes, such as "100644". An absent
	// side has "", as has a mode that the patch does not state.
	OldMode, NewMode string
	// OldID and NewID are blob ids as the patch states them; both may be empty.
	OldID, NewID string
	Added        bool // the file is new
	Deleted      bool
	Binary       bool
	Runs         []Run
}

// Run is a sequence of changed lines without an unchanged line between them.
type Run struct {
	OldLine, NewLine int      // of the first changed line, from 1
	Removed, Added   []string // without line ends
	Before, After    []string // unchanged lines around it, at most [contextLines]
	OldBare, NewBare bool     // that side is the end of a file without a newline

	// removedAt and addedAt are the indexes of the lines in the longer run that
	// this is a part of; nil: it is no part.
	removedAt, addedAt []int
}

// contextLines is the number of unchanged lines that a run keeps on each side.
const contextLines = 3

// SyntaxError describes a place where a text is not a patch of git.
type SyntaxError struct {
	Line int // from 1
	Why  string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d of the patch %s", e.Line, e.Why) }

// Read parses a patch in git's format, with any number of context lines. Text
// before the first file is ignored. Lines of the result share the memory of the
// text. Errors are of type [*SyntaxError].
func Read(patch string) ([]File, error) {
	r := &diffReader{rest: patch}
	var files []File
	for r.next() {
		if !strings.HasPrefix(r.line, "diff --git ") {
			if len(files) > 0 && r.line != "" {
				return nil, r.fail("does not belong to a file")
			}
			continue
		}
		f, err := r.file()
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// diffReader reads a patch line by line.
type diffReader struct {
	rest string
	line string // the current line, without its end
	at   int    // its number
	held bool   // next returns the current line again
}

func (r *diffReader) next() bool {
	if r.held {
		r.held = false
		return true
	}
	if r.rest == "" {
		return false
	}
	r.line, r.rest, _ = strings.Cut(r.rest, "\n")
	r.at++
	return true
}

func (r *diffReader) fail(why string) error { return &SyntaxError{Line: r.at, Why: why} }

// file reads the file whose "diff --git" line is the current line.
func (r *diffReader) file() (File, error) {
	f := File{Path: headerPath(strings.TrimPrefix(r.line, "diff --git "))}
	for r.next() {
		switch {
		case strings.HasPrefix(r.line, "diff --git "):
			r.held = true
			return f, r.checkPath(f)
		case strings.HasPrefix(r.line, "@@ "):
			if err := r.hunk(&f); err != nil {
				return f, err
			}
		case r.line == "GIT binary patch":
			f.Binary = true
			r.skipBinary()
		default:
			if err := r.header(&f); err != nil {
				return f, err
			}
		}
	}
	return f, r.checkPath(f)
}

func (r *diffReader) checkPath(f File) error {
	if f.Path == "" {
		return r.fail("ends a file without a path")
	}
	return nil
}

// header reads a line between "diff --git" and the first hunk.
func (r *diffReader) header(f *File) error {
	word := func(prefix string, to *string) bool {
		text, ok := strings.CutPrefix(r.line, prefix)
		if ok {
			*to = text
		}
		return ok
	}
	var path string
	switch {
	case r.line == "":
	case word("new file mode ", &f.NewMode):
		f.Added = true
	case word("deleted file mode ", &f.OldMode):
		f.Deleted = true
	case word("old mode ", &f.OldMode), word("new mode ", &f.NewMode):
	case word("rename from ", &path), word("copy from ", &path):
		f.From = patchpath.Unquote(path)
	case word("rename to ", &path), word("copy to ", &path):
		f.Path = patchpath.Unquote(path)
	case word("--- ", &path), word("+++ ", &path):
		if name, ok := sidePath(path); ok {
			f.Path = name
		}
	case word("index ", &path):
		ids, mode, _ := strings.Cut(path, " ")
		f.OldID, f.NewID, _ = strings.Cut(ids, "..")
		if mode != "" {
			f.OldMode, f.NewMode = mode, mode
		}
	case strings.HasPrefix(r.line, "Binary files "):
		f.Binary = true
	case strings.HasPrefix(r.line, "similarity index "), strings.HasPrefix(r.line, "dissimilarity index "):
	default:
		return r.fail("is not one of a patch of git")
	}
	return nil
}

// skipBinary passes over the data of a binary patch: blocks that end with an
// empty line, each with a header of its own.
func (r *diffReader) skipBinary() {
	for r.next() {
		if strings.HasPrefix(r.line, "diff --git ") {
			r.held = true
			return
		}
	}
}

// hunk reads the hunk whose "@@" line is the current line.
func (r *diffReader) hunk(f *File) error {
	oldLine, oldLeft, newLine, newLeft, ok := hunkRange(r.line)
	if !ok {
		return r.fail("is not the header of a hunk")
	}
	h := hunkRuns{file: f, oldLine: oldLine, newLine: newLine}
	for oldLeft > 0 || newLeft > 0 {
		if !r.next() {
			return r.fail("ends within a hunk")
		}
		sign, text := byte(' '), r.line
		if text != "" {
			sign, text = text[0], text[1:]
		}
		switch sign {
		case ' ':
			oldLeft, newLeft = oldLeft-1, newLeft-1
		case '-':
			oldLeft--
		case '+':
			newLeft--
		case '\\':
			h.bare()
			continue
		default:
			return r.fail("is not a line of a hunk")
		}
		if oldLeft < 0 || newLeft < 0 {
			return r.fail("exceeds the size in its hunk header")
		}
		h.add(sign, text)
	}
	if strings.HasPrefix(r.rest, `\`) {
		r.next()
		h.bare()
	}
	h.end()
	return nil
}

// hunkRuns cuts the lines of a hunk into runs.
type hunkRuns struct {
	file             *File
	oldLine, newLine int // of the next line
	before           []string
	run              *Run // the current one; nil between runs
	last             byte // sign of the latest line
}

func (h *hunkRuns) add(sign byte, text string) {
	h.last = sign
	if sign == ' ' {
		h.end()
		if n := len(h.file.Runs); n > 0 && len(h.file.Runs[n-1].After) < contextLines && h.follows() {
			h.file.Runs[n-1].After = append(h.file.Runs[n-1].After, text)
		}
		h.before = append(h.before[max(0, len(h.before)-contextLines+1):len(h.before):len(h.before)], text)
		h.oldLine, h.newLine = h.oldLine+1, h.newLine+1
		return
	}
	if h.run == nil {
		h.run = &Run{OldLine: h.oldLine, NewLine: h.newLine, Before: h.before}
		h.before = nil
	}
	if sign == '-' {
		h.run.Removed = append(h.run.Removed, text)
		h.oldLine++
	} else {
		h.run.Added = append(h.run.Added, text)
		h.newLine++
	}
}

// follows reports whether the next line comes right after the latest run and
// the lines that it has after it.
func (h *hunkRuns) follows() bool {
	last := &h.file.Runs[len(h.file.Runs)-1]
	return last.OldLine+len(last.Removed)+len(last.After) == h.oldLine
}

// bare notes that the latest line has no line end.
func (h *hunkRuns) bare() {
	if h.run == nil {
		return
	}
	h.run.OldBare = h.run.OldBare || h.last == '-'
	h.run.NewBare = h.run.NewBare || h.last == '+'
}

func (h *hunkRuns) end() {
	if h.run != nil {
		h.file.Runs = append(h.file.Runs, *h.run)
		h.run = nil
	}
}

// hunkRange reads "@@ -1,2 +3,4 @@ text". A side without lines starts a line
// later than git says.
func hunkRange(line string) (oldLine, oldCount, newLine, newCount int, ok bool) {
	sides, _, ok := strings.Cut(strings.TrimPrefix(line, "@@ "), " @@")
	before, after, two := strings.Cut(sides, " ")
	var okOld, okNew bool
	oldLine, oldCount, okOld = sideRange(before, "-")
	newLine, newCount, okNew = sideRange(after, "+")
	return oldLine, oldCount, newLine, newCount, ok && two && okOld && okNew
}

// mostLines bounds a line number and a number of lines.
const mostLines = 1 << 30

func sideRange(text, sign string) (line, count int, ok bool) {
	text, ok = strings.CutPrefix(text, sign)
	first, second, counted := strings.Cut(text, ",")
	line, err := strconv.Atoi(first)
	if count = 1; counted && err == nil {
		count, err = strconv.Atoi(second)
	}
	if count == 0 {
		line++
	}
	return line, count, ok && err == nil && line >= 0 && count >= 0 && line <= mostLines && count <= mostLines
}

// sidePath is the path of a "---" or "+++" line; false for the missing side.
func sidePath(text string) (string, bool) {
	if text == "/dev/null" {
		return "", false
	}
	_, path, ok := strings.Cut(patchpath.Side(text), "/")
	return path, ok
}

// headerPath is the path of "a/path b/path" where both sides are equal, which
// is the only place that names a file without hunks.
func headerPath(text string) string {
	if half := len(text) / 2; len(text)%2 == 1 && text[half] == ' ' {
		before, ok1 := sidePath(text[:half])
		after, ok2 := sidePath(text[half+1:])
		if ok1 && ok2 && before == after {
			return after
		}
	}
	return ""
}
