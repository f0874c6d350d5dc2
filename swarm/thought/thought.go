// Package thought takes out of what a model says what it only thought.
//
// Most APIs hand over both apart. Where a server does not know the format of a
// model, its thoughts stand at the beginning of the text, between marks such as
// <think> and </think>, or before the second alone, as the first was part of
// the prompt. It owns those marks, and by which words programs tell thoughts in
// what they print; it knows nothing else of what is said.
package thought

import "strings"

// mark is what models put their thoughts between.
type mark struct{ begin, end string }

// marks are those that nobody asks for: people have answers given in tags, and
// reasoning and thinking are among those.
func marks() []mark { return []mark{{"<think>", "</think>"}, {"[THINK]", "[/THINK]"}} }

// Begins are the marks that begin a thought in what any model says.
func Begins() (all []string) {
	for _, m := range marks() {
		all = append(all, m.begin)
	}
	return all
}

// allMarks are also those of models that think in the text by their own words.
func allMarks() []mark {
	return append(marks(), mark{"<thinking>", "</thinking>"}, mark{"<thought>", "</thought>"}, mark{"<reasoning>", "</reasoning>"})
}

const blanks = " \t\r\n"

// Cut is a whole text without the thoughts that it begins with.
func Cut(text string) string {
	s := Stream{unbegun: true}
	return s.Next(text) + s.End(false)
}

// Stream takes the thoughts out of a text that comes in pieces. Its zero value
// is at the beginning of one whose thoughts are begun by a mark.
type Stream struct {
	held    string // what may turn out to be a thought
	end     string // the mark that ends the one that has begun; empty: none has
	unbegun bool   // a thought may have begun before anything was said
	any     bool   // any mark may begin the first thought
	after   bool   // a thought has ended, and blanks that follow go with it
	aloud   bool   // all that follows is said
}

// Of listens to a model. The templates of some begin to think in the model's
// name, so that only the end is told: what these say is shown once it is whole.
func Of(model string) Stream {
	model = strings.ToLower(model)
	for _, word := range []string{"think", "reason", "qwq", "r1", "exaone-deep", "reka-flash"} {
		if strings.Contains(model, word) {
			return Stream{unbegun: true, any: true}
		}
	}
	return Stream{}
}

// Apart says that thoughts come by another way, so that none begins unmarked,
// or by marks that somebody may have asked for.
func (s *Stream) Apart() { s.unbegun, s.any = false, false }

func (s *Stream) marks() []mark {
	if s.any {
		return allMarks()
	}
	return marks()
}

// Next takes a piece, and is what may be said by now.
func (s *Stream) Next(piece string) string {
	if s.aloud {
		return piece
	}
	s.held += piece
	for {
		if s.end != "" {
			_, after, ended := strings.Cut(s.held, s.end)
			if !ended { // of a long thought only what may be half a mark is held
				s.held = s.held[max(0, len(s.held)-len(s.end)+1):]
				return ""
			}
			s.held, s.end, s.unbegun, s.any, s.after = after, "", false, false, true
		}
		said := strings.TrimLeft(s.held, blanks)
		if s.after {
			s.held = said
		}
		m, may := beginning(said, s.marks())
		switch {
		case m.begin != "":
			s.held, s.end = said[len(m.begin):], m.end
		case may || s.unbegun:
			return ""
		default:
			said, s.held, s.aloud = s.held, "", true
			return said
		}
	}
}

// End is the rest of what may be said of a text that has ended, or was cut off,
// and makes ready for another. A thought that has no end is none of it.
func (s *Stream) End(cut bool) string {
	held, within := s.held, s.end != ""
	unbegun, all := s.unbegun, s.marks()
	*s = Stream{}
	said := unmarked(held, all)
	if within || unbegun && cut && said == held {
		return ""
	}
	return said
}

// beginning is the mark that a text begins with, and whether one may still come
// of it.
func beginning(said string, all []mark) (m mark, may bool) {
	for _, m := range all {
		if strings.HasPrefix(said, m.begin) {
			return m, true
		}
		may = may || strings.HasPrefix(m.begin, said)
	}
	return mark{}, may
}

// unmarked leaves out a thought of which only the end is told, by a mark in a
// line of its own, as a [reader] finds it.
func unmarked(text string, all []mark) string {
	at, in := 0, reader{}
	for line := range strings.Lines(text) {
		at += len(line)
		var r row
		for _, c := range []byte(strings.TrimSuffix(line, "\n")) {
			r.take(c, 0)
		}
		if in.ends(&r, all) {
			return strings.TrimLeft(text[at:], blanks)
		}
	}
	return text
}
