package review

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strconv"
	"strings"
)

// Fingerprint identifies an edit by its content: 32 hexadecimal digits.
type Fingerprint string

// Short is enough of a fingerprint for people.
func (f Fingerprint) Short() string { return string(f[:min(8, len(f))]) }

// version is a part of every fingerprint. Change it whenever the rules do.
const version = "1"

func sum(parts []byte) Fingerprint {
	s := sha256.Sum256(parts)
	return Fingerprint(hex.EncodeToString(s[:16]))
}

// place is the part of a fingerprint that depends on the file.
type place struct {
	kind      Kind
	language  string
	status    string // of files that are new, gone or special
	dir, stem string // own names of the file
}

func placeOf(f *File) place {
	p := place{
		kind: KindOf(f.Path), language: Language(f.Path),
		dir: path.Base(path.Dir(f.Path)), stem: strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path)),
	}
	switch {
	case f.Added:
		p.status = "added " + f.NewMode
	case f.Deleted:
		p.status = "deleted " + f.OldMode
	case f.NewMode == symlinkMode || f.NewMode == submoduleMode:
		p.status = f.NewMode
	}
	return p
}

// Modes of git that are not those of plain files.
const (
	symlinkMode   = "120000"
	submoduleMode = "160000"
)

func (p place) head(about string) []byte {
	return []byte(strings.Join([]string{version, about, string(p.kind), p.language, p.status, ""}, "\x00"))
}

// appendChange writes a change so that no two different ones are equal.
func appendChange(out []byte, removed, added []token) []byte {
	for _, side := range [][]token{removed, added} {
		out = append(strconv.AppendInt(out, int64(len(side)), 10), ':')
		for _, t := range side {
			out = appendWord(out, t.sort, t.text)
		}
	}
	return out
}

func appendWord(out []byte, s sort, text string) []byte {
	out = append(strconv.AppendInt(append(out, '0'+byte(s)), int64(len(text)), 10), ':')
	return append(out, text...)
}

// variableSort marks a variable of a shape: no token has it.
const variableSort sort = 9

// exactOf and shapeOf take the changes of an edit, each once.
func exactOf(p place, a, b []token, spans []span) Fingerprint {
	return sum(eachOnce(p.head("exact"), spans, func(out []byte, s span) []byte {
		return appendChange(out, a[s.a0:s.a1], b[s.b0:s.b1])
	}))
}

func shapeOf(p place, a, b []token, spans []span) Fingerprint {
	v := variables{place: p, both: onBothSides(a, b), numbers: map[string]int{}}
	return sum(eachOnce(p.head("shape"), spans, func(out []byte, s span) []byte {
		return append(v.append(v.append(out, a[s.a0:s.a1]), b[s.b0:s.b1]), ';')
	}))
}

// eachOnce appends the text of each span, without those that were there before.
func eachOnce(out []byte, spans []span, text func(out []byte, s span) []byte) []byte {
	if len(spans) == 1 {
		return text(out, spans[0])
	}
	seen := make(map[string]bool, len(spans))
	for _, s := range spans {
		from := len(out)
		out = text(out, s)
		if one := string(out[from:]); seen[one] {
			out = out[:from]
		} else {
			seen[one] = true
		}
	}
	return out
}

func onBothSides(a, b []token) map[string]bool {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	removed := make(map[string]bool, len(a))
	for _, t := range a {
		if t.sort == word {
			removed[t.text] = true
		}
	}
	both := map[string]bool{}
	for _, t := range b {
		if t.sort == word && removed[t.text] {
			both[t.text] = true
		}
	}
	return both
}

// variables names the words of a shape that differ between its members. A word
// that stands on one side only is never a variable, except for the own names of
// the file: a shape must not hide added words.
type variables struct {
	place
	both    map[string]bool
	numbers map[string]int
}

func (v *variables) append(out []byte, side []token) []byte {
	out = append(strconv.AppendInt(out, int64(len(side)), 10), ':')
	for _, t := range side {
		name := v.name(t)
		if name == "" {
			out = appendWord(out, t.sort, t.text)
			continue
		}
		out = appendWord(out, variableSort, name)
	}
	return out
}

func (v *variables) name(t token) string {
	switch {
	case t.sort != word:
		return ""
	case t.text == v.dir:
		return "$dir"
	case t.text == v.stem:
		return "$file"
	case !v.both[t.text]:
		return ""
	}
	if v.numbers[t.text] == 0 {
		v.numbers[t.text] = len(v.numbers) + 1
	}
	return "$" + strconv.Itoa(v.numbers[t.text])
}
