// Package thought removes a model's thoughts from its text.
//
// Most APIs deliver them apart. If a server does not know the format of a
// model, its thoughts stand at the beginning of the text, between marks such as
// <think> and </think>, or before the second alone, as the first was part of
// the prompt. The package owns those marks, and the words by which programs
// mark thoughts in their output; it knows nothing else of the text.
package thought

import "strings"

// mark is a pair of words around the thoughts of a model.
type mark struct{ begin, end string }

// marks are marks that no user asks for: users request answers in tags, such as
// reasoning and thinking.
func marks() []mark { return []mark{{"<think>", "</think>"}, {"[THINK]", "[/THINK]"}} }

// Begins are the marks that begin a thought in the text of any model.
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

// Stream removes the thoughts from a text that comes in pieces. Its zero value
// is at the beginning of a text whose thoughts begin with a mark.
type Stream struct {
	held    string // may turn out to be a thought
	end     string // the end mark of the open thought; empty: none is open
	unbegun bool   // a thought may have begun before anything was said
	any     bool   // any mark may begin the first thought
	after   bool   // a thought has ended, and blanks that follow go with it
	aloud   bool   // all that follows is said
}

// Of returns a stream for a model. The templates of some models begin the
// thought themselves, so that only its end is marked: their text is shown once
// it is whole.
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

// Next takes a piece, and returns the text that is known to be no thought.
func (s *Stream) Next(piece string) string {
	if s.aloud {
		return piece
	}
	s.held += piece
	for {
		if s.end != "" {
			_, after, ended := strings.Cut(s.held, s.end)
			if !ended { // of a long thought it holds only a possible part of the mark
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

// End returns the rest of a text that has ended, or was cut off, and resets the
// stream for another text. A thought without an end is left out.
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

// beginning returns the mark at the start of a text; may is set if the text may
// still become a mark.
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
