package boundedline

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	const most = 100
	long := strings.Repeat("x", most)
	text := "a\n\n" + long + "\n" + long + "y\n" + long + long + long + "\nb\r\n" + long + "z"
	r := bufio.NewReaderSize(strings.NewReader(text), 16)
	var got []string
	for {
		line, err := Read(r, most)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			line = []byte(err.Error())
		}
		got = append(got, string(line))
	}
	tooLong := "the line is longer than 100 bytes"
	if want := []string{"a", "", long, tooLong, tooLong, "b\r", tooLong}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("Read = %q, want %q", got, want)
	}
	broken := errors.New("broken")
	r = bufio.NewReader(io.MultiReader(strings.NewReader("half"), &failing{broken}))
	if _, err := Read(r, most); !errors.Is(err, broken) {
		t.Errorf("a line that breaks off: %v", err)
	}
}

// failing is a reader that fails.
type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }
