package git

import (
	"reflect"
	"testing"
)

// TestHungFilterFound holds which filter is blamed for a command that hung.
func TestHungFilterFound(t *testing.T) {
	t.Parallel()
	const (
		one  = "file:config\x00filter.a.clean\n/x/a.sh\x00file:/h/.gitconfig\x00filter.a.smudge\na-smudge %f -v\x00"
		both = one + "file:/etc/gitconfig\x00filter.b.c.process\ngit-b filter-process\x00file:x\x00filter.odd\x00"
	)
	for _, tt := range []struct {
		name, out, ran string
		want           HungFilterError
	}{
		{"a script", both, "/bin/sh /x/a.sh", HungFilterError{Filter: "a", Key: "filter.a.clean", File: "/g/config"}},
		{"with a file", both, "/bin/sh -c a-smudge 'f' -v a-smudge 'f' -v", HungFilterError{Filter: "a", Key: "filter.a.smudge", File: "/h/.gitconfig"}},
		{"a process", both, "/bin/sh -c git-b filter-process git-b filter-process", HungFilterError{Filter: "b.c", Key: "filter.b.c.process", File: "/etc/gitconfig"}},
		{"part of a word", both, "/x/a.sh2", HungFilterError{}},
		{"another program", both, "sleep 9", HungFilterError{}},
		{"another program of the only one", one, "sleep 9", HungFilterError{Filter: "a", Key: "filter.a.clean, filter.a.smudge", File: "/g/config, /h/.gitconfig"}},
		{"none", "", "sleep 9", HungFilterError{}},
	} {
		got := HungFilterError{Commands: []string{tt.ran}}
		got.found(configuredFilters(tt.out, "/g"))
		got.Commands = nil
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
