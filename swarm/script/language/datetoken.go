package language

import "strings"

// dateToken is a part of a date: a number, a word, a symbol, a blank, or a
// character without a meaning.
type dateToken struct {
	kind   rune // '0': a number, 'a': a word, ' ': a blank, '?': no meaning, 0: the end; or the symbol
	n      int  // the value of a number, or that of a word
	length int  // of a number or a word, in characters
	word   dateWord
}

// dateWord is the meaning of a word in a date.
type dateWord uint8

const (
	noWord dateWord = iota
	monthName
	halfOfDay // its value is the hours that are added
	zoneName  // its value is in hours
	timeMark  // the letter between a date and its time
)

func (t dateToken) sign() bool        { return t.kind == '+' || t.kind == '-' }
func (t dateToken) fixed(n int) bool  { return t.kind == '0' && t.length == n }
func (t dateToken) zulu() bool        { return t.word == zoneName && t.length == 1 }
func (t dateToken) endsAnInput() bool { return t.kind == 0 }

const dateWords = "jan1feb2mar3apr4may5jun6jul7aug8sep9oct:nov;dec<"

// wordOf is the meaning of a word: its first three letters, in lower case.
func wordOf(prefix string, length int) (w dateWord, n int) {
	if len(prefix) == 3 {
		for at := 0; at < len(dateWords); at += 4 {
			if dateWords[at:at+3] == prefix {
				return monthName, int(dateWords[at+3] - '0')
			}
		}
	}
	if length > 3 {
		return noWord, 0
	}
	switch prefix {
	case "am":
		return halfOfDay, 0
	case "pm":
		return halfOfDay, 12
	case "t":
		return timeMark, 0
	case "ut", "utc", "z", "gmt":
		return zoneName, 0
	case "edt":
		return zoneName, -4
	case "cdt", "est":
		return zoneName, -5
	case "cst", "mdt":
		return zoneName, -6
	case "mst", "pdt":
		return zoneName, -7
	case "pst":
		return zoneName, -8
	}
	return noWord, 0
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func isBlank(r rune) bool {
	return strings.ContainsRune("\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff", r) || r >= 0x2000 && r <= 0x200a
}

// scan reads the next token, and returns the token before it.
func (p *dateParser) scan() dateToken {
	was := p.next
	p.next = p.read()
	return was
}

func (p *dateParser) read() dateToken {
	if len(p.in) == 0 {
		return dateToken{}
	}
	c, length := p.in[0], 0
	switch {
	case isDigit(c):
		const digits = 9 // that count
		n, taken := 0, 0
		for ; length < len(p.in) && isDigit(p.in[length]); length++ {
			if d := int(p.in[length] - '0'); taken > 0 || d != 0 {
				if taken++; taken <= digits {
					n = n*10 + d
				}
			}
		}
		p.in = p.in[length:]
		return dateToken{kind: '0', n: n, length: length}
	case strings.ContainsRune(":-+.)", c):
		p.in = p.in[1:]
		return dateToken{kind: c}
	case isBlank(c):
		p.in = p.in[1:]
		return dateToken{kind: ' '}
	case c >= 'A':
		for length < len(p.in) && p.in[length] >= 'A' && !isBlank(p.in[length]) {
			length++
		}
		t := dateToken{kind: 'a', length: length}
		t.word, t.n = wordOf(strings.ToLower(string(p.in[:min(length, 3)])), length)
		p.in = p.in[length:]
		return t
	case c == '(':
		for depth := 0; length < len(p.in); {
			switch p.in[length] {
			case '(':
				depth++
			case ')':
				depth--
			}
			if length++; depth == 0 {
				break
			}
		}
		p.in = p.in[length:]
		return dateToken{kind: '?'}
	}
	p.in = p.in[1:]
	return dateToken{kind: '?'}
}
