package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

func grepTool() *Tool {
	return &Tool{
		Name: "grep", Reads: true, use: grep,
		Description: "Search files for a regular expression (RE2), line by line. What .gitignore names is left out.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"pattern":{"type":"string"},` +
			`"path":{"type":"string","description":"a file or a folder; default: the working directory"},` +
			`"glob":{"type":"string","description":"only files like this, such as *.go or src/**/*.ts"},` +
			`"literal":{"type":"boolean","description":"the pattern is plain text"},` +
			`"ignore_case":{"type":"boolean"},` +
			`"context":{"type":"integer","description":"lines to show around each match"},` +
			`"limit":{"type":"integer","description":"how many matches at most; default 200"}},"required":["pattern"]}`),
	}
}

type grepInput struct {
	Pattern, Path, Glob string
	Literal             bool
	IgnoreCase          bool `json:"ignore_case"`
	Context, Limit      int
}

const (
	maxMatches  = 200
	maxGrepFile = 8 << 20 // people hardly write larger files
	maxContext  = 20

	// maxProgram is how many steps a pattern may come to, and maxWork how many
	// are taken with a line, each of them at each byte: about a second, for a
	// match cannot be ended.
	maxProgram = 20_000
	maxWork    = 1 << 27
)

// search is a run of grep.
type search struct {
	grepInput
	*walk
	re     *regexp.Regexp
	most   int // bytes of a line that are looked at
	out    strings.Builder
	n      int
	passed int // files that were too large
	cut    int // lines that were
}

func grep(ctx context.Context, b *Bench, input json.RawMessage) (string, error) {
	s := search{walk: b.walker()}
	s.walk.visit = func(file, rel string, e fs.DirEntry) error { return s.visit(ctx, file, rel, e) }
	if err := decode(input, &s.grepInput); err != nil {
		return "", err
	}
	if err := s.compile(); err != nil {
		return "", err
	}
	at := b.absolute(s.Path)
	info, err := os.Stat(at)
	if err != nil {
		return "", plain(s.Path, err)
	}
	if info.IsDir() {
		err = s.below(ctx, at)
	} else if err = regular(info); err == nil {
		err = s.file(ctx, at)
	}
	if err != nil && !errors.Is(err, errEnough) {
		return "", plain(b.shown(at), err)
	}
	return s.text(err != nil && s.short == "")
}

func (s *search) compile() error {
	if err := required("pattern", s.Pattern); err != nil {
		return err
	}
	if s.Glob != "" && !doublestar.ValidatePattern(s.Glob) {
		return fmt.Errorf("glob: %q is not a glob", s.Glob)
	}
	text := s.Pattern
	if s.Literal {
		text = regexp.QuoteMeta(text)
	}
	if s.IgnoreCase {
		text = "(?i)" + text
	}
	size, err := programSize(text)
	if err != nil {
		return fmt.Errorf("pattern: %w", err)
	}
	if size > maxProgram {
		return fmt.Errorf("pattern: it comes to %d steps, and may to %d: repeat less of it", size, maxProgram)
	}
	if s.re, err = regexp.Compile(text); err != nil {
		return fmt.Errorf("pattern: %w", err)
	}
	s.most = maxWork / size
	if s.Limit <= 0 || s.Limit > maxMatches {
		s.Limit = maxMatches
	}
	s.Context = min(max(s.Context, 0), maxContext)
	return nil
}

// programSize is how many steps a pattern comes to: each byte of a line may take
// all of them.
func programSize(pattern string) (int, error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0, err
	}
	return len(program.Inst), nil
}

func (s *search) visit(ctx context.Context, file, rel string, e fs.DirEntry) error {
	if !e.Type().IsRegular() || !globbed(s.Glob, rel) {
		return nil
	}
	err := s.file(ctx, file)
	if err != nil && !errors.Is(err, errEnough) {
		return nil // a file that cannot be read is passed over
	}
	return err
}

// globbed reports whether a path is like a glob; a glob without a slash is
// about names.
func globbed(glob, rel string) bool {
	if glob == "" {
		return true
	}
	if !strings.Contains(glob, "/") {
		rel = path.Base(rel)
	}
	hit, _ := doublestar.Match(strings.TrimPrefix(glob, "/"), rel)
	return hit
}

func (s *search) file(ctx context.Context, file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if info.Size() > maxGrepFile {
		s.passed++
		return nil
	}
	f, err := open(file, file)
	if err != nil {
		return err
	}
	defer f.Close()
	// Some files of the system say that they are empty, and have no end.
	text, err := io.ReadAll(io.LimitReader(f, maxGrepFile+1))
	s.read += int64(len(text))
	if len(text) > maxGrepFile {
		s.passed++
		return nil
	}
	if err != nil || bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 {
		return err
	}
	return s.lines(ctx, file, strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"), "\n"))
}

// lines shows the lines of a file that match, and the lines around them.
func (s *search) lines(ctx context.Context, file string, lines []string) error {
	name, shown := s.bench.shown(file), -1 // the last line that was shown
	hits, known := make([]bool, len(lines)), 0
	for i := range lines {
		// Lines around a match are matched before their turn comes, once.
		for ; known <= min(i+s.Context, len(lines)-1); known++ {
			if err := s.late(ctx); err != nil {
				s.where = file
				return err
			}
			hits[known] = s.hit(lines[known])
		}
		if !hits[i] {
			continue
		}
		if s.n == s.Limit {
			return errEnough
		}
		s.n++
		from := max(i-s.Context, shown+1)
		if s.Context > 0 && from > shown+1 && s.out.Len() > 0 {
			s.out.WriteString("--\n")
		}
		for j := from; j <= min(i+s.Context, len(lines)-1); j++ {
			mark := "-"
			if hits[j] {
				mark = ":"
			}
			fmt.Fprintf(&s.out, "%s%s%d%s %s\n", name, mark, j+1, mark, clip(lines[j], 500))
			shown = j
		}
	}
	return nil
}

// hit reports whether a line matches, as far as it is looked at.
func (s *search) hit(line string) bool {
	if len(line) > s.most {
		s.cut++
		line = line[:s.most]
	}
	return s.re.MatchString(line)
}

func (s *search) text(more bool) (string, error) {
	if s.n == 0 {
		s.out.WriteString("no match\n")
	}
	if more {
		fmt.Fprintf(&s.out, "[there are more than %d matches]\n", s.Limit)
	}
	if s.passed > 0 {
		fmt.Fprintf(&s.out, "[%d files over %d bytes were not looked at]\n", s.passed, maxGrepFile)
	}
	if s.cut > 0 {
		fmt.Fprintf(&s.out, "[%d lines were looked at only up to byte %d: they are too long for this pattern]\n", s.cut, s.most)
	}
	s.out.WriteString(s.note())
	return s.bench.bound("grep", s.out.String())
}
