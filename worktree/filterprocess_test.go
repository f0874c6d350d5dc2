package worktree

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"
)

// envFilter makes this test binary a filter process (gitattributes(5)), such as
// git-lfs: it writes upper case into the repository.
const envFilter = "WORKTREE_TEST_FILTER"

func TestFilterProcess(t *testing.T) {
	if os.Getenv(envFilter) == "" {
		t.Skip("run by git")
	}
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	reply := func(lines ...string) {
		for _, l := range lines {
			fmt.Fprintf(out, "%04x%s", len(l)+4, l)
		}
		_, err := out.WriteString("0000")
		must(t, errors.Join(err, out.Flush()))
	}
	for _, greeting := range [][]string{
		{"git-filter-server\n", "version=2\n"}, {"capability=clean\n", "capability=smudge\n"},
	} {
		if _, err := packets(in); err != nil {
			t.Fatal(err)
		}
		reply(greeting...)
	}
	for {
		head, err := packets(in)
		if err == io.EOF {
			// Output of the testing package would be a protocol error.
			os.Exit(0)
		}
		must(t, err)
		text, err := packets(in)
		must(t, err)
		change := bytes.ToLower
		if bytes.Contains(head, []byte("command=clean\n")) {
			change = bytes.ToUpper
		}
		reply("status=success\n")
		text = change(text)
		var parts []string
		for len(text) > 0 {
			n := min(len(text), 60_000)
			parts = append(parts, string(text[:n]))
			text = text[n:]
		}
		reply(parts...)
		reply()
	}
}

// packets reads up to the next flush packet.
func packets(r io.Reader) (all []byte, err error) {
	for {
		var size [4]byte
		if _, err := io.ReadFull(r, size[:]); err != nil {
			return nil, err
		}
		n, err := strconv.ParseUint(string(size[:]), 16, 16)
		if err != nil || n == 0 {
			return all, err
		}
		part := make([]byte, n-4)
		if _, err := io.ReadFull(r, part); err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
}
