package language

import (
	"math"
	"time"
)

// parseDate returns the time of a text, in milliseconds since 1970, in the way
// of V8: the format of the standard, or else the older formats that V8 reads. A
// text without a zone is in UTC, as all of a script is. A text that is no date
// gives NaN.
func parseDate(text string) float64 {
	p := &dateParser{in: []rune(text)}
	p.scan()
	if !p.standard() || !p.older() {
		return math.NaN()
	}
	return p.value()
}

// dateParser reads a date. A slice of which parts are not set is shorter, and a
// pointer that is not set is nil.
type dateParser struct {
	in   []rune
	next dateToken

	day      []int // of three
	month    int   // by its name; 0: none
	iso      bool
	clock    []int // of four: hour, minute, second, millisecond
	half     int
	hasHalf  bool
	zoneSign int // 0: none
	zoneHour int
	zoneMin  int
	hasHour  bool
	hasMin   bool
	first    *dateToken // a token that the standard format has read and does not know
}

// skip passes over a symbol, if that is next.
func (p *dateParser) skip(symbol rune) bool {
	if p.next.kind != symbol {
		return false
	}
	p.scan()
	return true
}

// leave hands a token to the older formats. It is true: the text may be a date.
func (p *dateParser) leave(t dateToken) bool {
	p.first = &t
	return true
}

// standard reads the format of the standard as far as the text has it. It
// returns false where the text is no date in any format.
func (p *dateParser) standard() bool {
	switch {
	case p.next.sign():
		sign := p.scan()
		if !p.next.fixed(6) || sign.kind == '-' && p.next.n == 0 {
			if p.next.fixed(6) {
				p.scan()
			}
			return p.leave(sign)
		}
		year := p.scan().n
		if sign.kind == '-' {
			year = -year
		}
		p.day = append(p.day, year)
	case p.next.fixed(4):
		p.day = append(p.day, p.scan().n)
	default:
		return p.leave(p.scan())
	}
	for range 2 {
		if !p.skip('-') {
			break
		}
		most := 12
		if len(p.day) == 2 {
			most = 31
		}
		if !p.next.fixed(2) || p.next.n < 1 || p.next.n > most {
			return p.leave(p.scan())
		}
		p.day = append(p.day, p.scan().n)
	}
	if p.next.word != timeMark {
		if !p.next.endsAnInput() {
			return p.leave(p.scan())
		}
	} else if p.scan(); !p.standardTime() {
		return false
	}
	if len(p.clock) == 0 && p.zoneSign == 0 {
		p.setZone(0)
	}
	p.iso = true
	return true
}

// standardTime reads the time behind the letter T.
func (p *dateParser) standardTime() bool {
	most := []int{24, 59, 59}
	for i, limit := range most {
		if i > 0 && p.clock[0] == 24 {
			limit = 0
		}
		if !p.next.fixed(2) || p.next.n > limit {
			return false
		}
		p.clock = append(p.clock, p.scan().n)
		if i < 2 && !p.skip(':') {
			if i == 0 {
				return false
			}
			return p.standardZone()
		}
	}
	if p.skip('.') {
		if p.next.kind != '0' || p.clock[0] == 24 && p.next.n > 0 {
			return false
		}
		p.clock = append(p.clock, milliseconds(p.scan()))
	}
	return p.standardZone()
}

func (p *dateParser) standardZone() bool {
	switch {
	case p.next.zulu():
		p.scan()
		p.setZone(0)
	case p.next.sign():
		p.zoneSign = signOf(p.scan())
		if p.next.fixed(4) {
			n := p.scan().n
			p.zoneHour, p.zoneMin = n/100, n%100
		} else {
			if !p.next.fixed(2) {
				return false
			}
			p.zoneHour = p.scan().n
			if !p.skip(':') || !p.next.fixed(2) {
				return false
			}
			p.zoneMin = p.scan().n
		}
		p.hasHour, p.hasMin = true, true
		if p.zoneHour > 23 || p.zoneMin > 59 {
			return false
		}
	}
	return p.next.endsAnInput()
}

func signOf(t dateToken) int {
	if t.kind == '-' {
		return -1
	}
	return 1
}

func (p *dateParser) setZone(hours int) {
	p.zoneSign, p.zoneHour, p.zoneMin, p.hasHour, p.hasMin = 1, hours, 0, true, true
	if hours < 0 {
		p.zoneSign, p.zoneHour = -1, -hours
	}
}

// milliseconds are those of the digits behind a dot.
func milliseconds(t dateToken) int {
	n, length := t.n, min(t.length, 9)
	for ; length < 3; length++ {
		n *= 10
	}
	for ; length > 3; length-- {
		n /= 10
	}
	return n
}

// older reads all that the standard format has left.
func (p *dateParser) older() bool {
	number := len(p.day) > 0
	for {
		var t dateToken
		if p.first != nil {
			t, p.first = *p.first, nil
		} else {
			t = p.scan()
		}
		switch {
		case t.endsAnInput():
			return true
		case t.kind == '0':
			number = true
			if !p.olderNumber(t.n) {
				return false
			}
		case t.kind == 'a':
			if !p.olderWord(t, number) {
				return false
			}
		case t.sign() && (p.hasHour && p.hasMin && p.zoneHour == 0 && p.zoneMin == 0 || len(p.clock) > 0):
			number = true
			if !p.olderOffset(t) {
				return false
			}
		case (t.sign() || t.kind == ')') && number:
			return false
		}
	}
}

// expects says that a number may be the next part of the time.
func (p *dateParser) expects(n int) bool {
	switch len(p.clock) {
	case 1, 2:
		return n < 60
	case 3:
		return n < 1000
	}
	return false
}

// last adds the last part of a time.
func (p *dateParser) last(n int) {
	for p.clock = append(p.clock, n); len(p.clock) < 4; {
		p.clock = append(p.clock, 0)
	}
}

func (p *dateParser) olderNumber(n int) bool {
	switch {
	case p.skip(':'):
		if p.skip(':') {
			if len(p.clock) > 0 {
				return false
			}
			p.clock = []int{n, 0}
			return true
		}
		if len(p.clock) == 4 {
			return false
		}
		p.clock = append(p.clock, n)
		p.skip('.')
	case p.next.kind == '.' && p.skip('.') && p.expects(n):
		p.clock = append(p.clock, n)
		if p.next.kind != '0' {
			return false
		}
		if ms := milliseconds(p.scan()); len(p.clock) < 4 {
			p.last(ms)
		}
	case p.hasHour && !p.hasMin && n < 60:
		p.zoneMin, p.hasMin = n, true
	case p.expects(n):
		p.last(n)
		return p.next.endsAnInput() || p.next.kind == ' ' || p.next.zulu() || p.next.sign()
	default:
		if len(p.day) == 3 {
			return false
		}
		p.day = append(p.day, n)
		p.skip('-')
	}
	return true
}

func (p *dateParser) olderWord(t dateToken, number bool) bool {
	switch {
	case t.word == halfOfDay && len(p.clock) > 0:
		p.half, p.hasHalf = t.n, true
	case t.word == monthName:
		p.month = t.n
		p.skip('-')
	case t.word == zoneName && number:
		p.setZone(t.n)
	default:
		// Other words may stand before the first number, and not touch it.
		return !number && p.next.kind != '0'
	}
	return true
}

func (p *dateParser) olderOffset(sign dateToken) bool {
	p.zoneSign = signOf(sign)
	n, length := 0, 0
	if p.next.kind == '0' {
		t := p.scan()
		n, length = t.n, t.length
	}
	switch {
	case p.next.kind == ':':
		p.zoneHour, p.hasHour, p.hasMin = n, true, false
	case length == 1 || length == 2:
		p.zoneHour, p.zoneMin, p.hasHour, p.hasMin = n, 0, true, true
	case length == 3 || length == 4:
		p.zoneHour, p.zoneMin, p.hasHour, p.hasMin = n/100, n%100, true, true
	default:
		return false
	}
	return true
}

// value puts the parts together.
func (p *dateParser) value() float64 {
	year, month, day, ok := p.date()
	if !ok {
		return math.NaN()
	}
	for len(p.clock) < 4 {
		p.clock = append(p.clock, 0)
	}
	hour, minute, second, ms := p.clock[0], p.clock[1], p.clock[2], p.clock[3]
	if p.hasHalf {
		if hour > 12 {
			return math.NaN()
		}
		hour = hour%12 + p.half
	}
	if (hour > 23 || minute > 59 || second > 59 || ms > 999) && (hour != 24 || minute != 0 || second != 0 || ms != 0) {
		return math.NaN()
	}
	at := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix()
	total := float64(at)*1000 + float64(((hour*60+minute)*60+second)*1000+ms)
	if p.zoneSign != 0 {
		total -= float64(p.zoneSign) * float64(p.zoneHour*3600+p.zoneMin*60) * 1000
	}
	if math.Abs(total) > 8.64e15 {
		return math.NaN()
	}
	return total
}

// date is the day of the parts: in the order year, month, day, or in an order
// that the name of a month and the size of the first number say.
func (p *dateParser) date() (year, month, day int, ok bool) {
	given := len(p.day)
	if given == 0 {
		return 0, 0, 0, false
	}
	parts := append(append([]int{}, p.day...), 1, 1)[:3]
	isDay := func(n int) bool { return n >= 1 && n <= 31 }
	switch {
	case p.month == 0 && (p.iso || !isDay(parts[0])):
		year, month, day = parts[0], parts[1], parts[2]
	case p.month == 0:
		month, day, year = parts[0], parts[1], parts[2]
	case !isDay(parts[0]):
		month, year, day = p.month, parts[0], parts[1]
	default:
		month, day, year = p.month, parts[0], parts[1]
	}
	if !p.iso {
		switch {
		case year >= 0 && year < 50:
			year += 2000
		case year >= 50 && year < 100:
			year += 1900
		}
	}
	return year, month, day, month >= 1 && month <= 12 && isDay(day)
}
