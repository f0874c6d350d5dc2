package config

import (
	"encoding"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"
)

var bareKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+$`) })

// field is a value on its way from a document into the configuration.
type field struct {
	layer Layer
	file  string
	key   string // dotted, clipped; empty for the document itself
	node  *node
}

// child is a field of a table.
func (f field) child(name string) field {
	key := clip(name)
	if !bareKey().MatchString(name) {
		key = strconv.Quote(key)
	}
	if f.key != "" {
		key = f.key + "." + key
	}
	return f.at(key, f.node.fields[name])
}

// at is another value of the same file.
func (f field) at(key string, n *node) field {
	f.key, f.node = key, n
	return f
}

func (f field) origin() Origin {
	return Origin{Layer: f.layer, File: f.file, Line: f.node.line}
}

// wrong blames the field.
func (f field) wrong(format string, args ...any) error {
	return &Error{
		File: f.file, Line: f.node.line, Key: f.key,
		Reason: clipTo(fmt.Sprintf(format, args...), maxReason),
	}
}

// maxReason bounds the text about a value, because other packages repeat it
// whole.
const maxReason = 300

// expected blames the value of the field.
func (f field) expected(what string) error {
	return f.wrong("expected %s, got %s", what, f.node.describe())
}

// describe returns a person's words for the value.
func (n *node) describe() string {
	switch n.kind {
	case unstable.String:
		return strconv.Quote(clip(n.text))
	case unstable.Bool:
		return n.text
	case unstable.Integer, unstable.Float:
		return "the number " + clip(n.text)
	case unstable.LocalDate, unstable.LocalTime, unstable.LocalDateTime, unstable.DateTime:
		return "a date or time"
	case unstable.Array:
		return "an array"
	case unstable.Table:
		return "a table"
	case unstable.ArrayTable:
		return "an array of tables"
	default:
		panic("unhandled " + n.kind.String())
	}
}

func sortedKeys[T any](all map[string]T) []string { return slices.Sorted(maps.Keys(all)) }

// reader reads the value of a key.
type reader func(field) error

// tableKeys describes the keys of a table.
type tableKeys struct {
	keys map[string]reader
	// unknown returns more about an unknown key. A key of another table is not
	// misspelled, but in the wrong place. It may be nil, and may return "".
	unknown func(name string) string
}

// maxWrong is the limit of errors that are reported for a table. A repository
// may have thousands, and each message takes time.
const maxWrong = 100

// table reads every key of a table, in the order of the file. An error in a key
// does not hide the next: the errors are joined.
func (f field) table(s tableKeys) error {
	if f.node.kind != unstable.Table {
		return f.expected("a table")
	}
	var wrong []error
	for _, name := range f.node.names {
		child := f.child(name)
		if len(wrong) == maxWrong {
			wrong = append(wrong, child.wrong("there may be more from here on: %d mistakes in a table are enough", maxWrong))
			break
		}
		if read, ok := s.keys[name]; ok {
			if err := read(child); err != nil {
				wrong = append(wrong, err)
			}
			continue
		}
		reason := ""
		if s.unknown != nil {
			reason = s.unknown(name)
		}
		if reason == "" {
			reason = "unknown key" + didYouMean(name, sortedKeys(s.keys))
		}
		wrong = append(wrong, child.wrong("%s", reason))
	}
	return errors.Join(wrong...)
}

// str reads a string that can be handed to a process.
func (f field) str() (string, error) {
	if f.node.kind != unstable.String {
		return "", f.expected("a string")
	}
	if strings.ContainsRune(f.node.text, 0) {
		return "", f.wrong("holds a NUL character, which no program can be given")
	}
	return f.node.text, nil
}

func (f field) intoString(to *string) (err error) {
	*to, err = f.str()
	return err
}

// intoInt reads a whole number from low to high.
func (f field) intoInt(to *int, low, high int) error {
	n, err := strconv.ParseInt(f.node.text, 0, 0)
	if f.node.kind != unstable.Integer || err != nil || int(n) < low || int(n) > high {
		if high == math.MaxInt {
			return f.expected(fmt.Sprintf("a whole number of at least %d", low))
		}
		return f.expected(fmt.Sprintf("a whole number from %d to %d", low, high))
	}
	*to = int(n)
	return nil
}

// intoAmount reads a number that is not negative. It refuses a positive number
// that a float cannot tell from 0, because 0 means no limit.
func (f field) intoAmount(to *float64) error {
	text := strings.ReplaceAll(f.node.text, "_", "")
	n, err := strconv.ParseFloat(text, 64)
	number := f.node.kind == unstable.Float || f.node.kind == unstable.Integer
	if !number || err != nil || !(n >= 0) || math.IsInf(n, 0) || n == 0 && !IsZero(text) {
		return f.expected("a number that is not negative, such as 2.50")
	}
	*to = n + 0 // there is no -0 dollars
	return nil
}

// IsZero reports whether a number is written as 0: all digits before its
// exponent are 0. A float may round a small number to 0 although it is not.
func IsZero(number string) bool {
	digits, exponent := strings.ToLower(number), "e"
	if before, after, hex := strings.Cut(digits, "0x"); hex {
		digits, exponent = before+after, "p" // e is a digit there
	}
	digits, _, _ = strings.Cut(digits, exponent)
	return !strings.ContainsAny(digits, "123456789abcdef")
}

func (f field) intoBool(to *bool) error {
	if f.node.kind != unstable.Bool {
		return f.expected("true or false")
	}
	*to = f.node.text == "true"
	return nil
}

func (f field) intoDuration(to *time.Duration) error {
	d, err := time.ParseDuration(f.node.text)
	if f.node.kind != unstable.String || err != nil {
		return f.expected(`a duration such as "90s" or "1h30m"`)
	}
	if d < 0 {
		return f.expected(`a duration that is not negative ("0s": no limit)`)
	}
	if d > maxAge {
		// Moments beyond are no numbers any more to some who count them.
		return f.expected("a duration of at most 876000h, which are a hundred years")
	}
	*to = d
	return nil
}

// intoWord reads a word of an enumeration.
func (f field) intoWord(to encoding.TextUnmarshaler) error {
	word, err := f.str()
	if err != nil {
		return err
	}
	if err := to.UnmarshalText([]byte(word)); err != nil {
		return f.wrong("%v", err)
	}
	return nil
}

func (f field) intoStrings(to *[]string) error {
	if f.node.kind != unstable.Array {
		return f.expected(`an array of strings, such as ["program", "argument"]`)
	}
	for i, item := range f.node.items {
		s, err := f.at(fmt.Sprintf("%s[%d]", f.key, i), item).str()
		if err != nil {
			return err
		}
		*to = append(*to, s)
	}
	return nil
}
