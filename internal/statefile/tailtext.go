package statefile

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"
)

// TailText is the end of a file as text, of at most limit bytes, cut between characters.
// It is empty if there is no file.
func TailText(file string, limit int64) (string, error) {
	text, size, err := Tail(file, limit)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	for n := 0; size > limit && n < utf8.UTFMax && len(text) > 0 && !utf8.RuneStart(text[0]); n++ {
		text = text[1:]
	}
	return strings.ToValidUTF8(string(text), "\uFFFD"), nil
}
