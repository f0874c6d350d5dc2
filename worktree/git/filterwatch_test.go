package git

import (
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
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

// TestPatience holds how long filters may take, by the kind of their activity, in
// minutes.
func TestPatience(t *testing.T) {
	t.Parallel()
	filter := []string{"filter"}
	for _, tt := range []struct {
		name string
		at   func(minute uint64) activity
		ends int // minute; 0: not within a day
		want HungFilterError
	}{
		{"nothing is done", func(uint64) activity { return activity{pids: []int{2}, commands: filter} }, 11, HungFilterError{Limit: 10 * time.Minute, Commands: filter}},
		{"it computes", func(m uint64) activity { return activity{pids: []int{2}, commands: filter, computed: m} }, 61, HungFilterError{Limit: time.Hour, Computed: true, Commands: filter}},
		{"it computes for half an hour and stops", func(m uint64) activity {
			return activity{pids: []int{2}, commands: filter, computed: min(m, 30)}
		}, 40, HungFilterError{Limit: 10 * time.Minute, Commands: filter}},
		{"data moves", func(m uint64) activity { return activity{pids: []int{2}, commands: filter, moved: m} }, 0, HungFilterError{}},
		{"data moves each nine minutes", func(m uint64) activity { return activity{pids: []int{2}, commands: filter, moved: m / 9} }, 0, HungFilterError{}},
		{"it computes, and data moves each half hour", func(m uint64) activity {
			return activity{pids: []int{2}, commands: filter, computed: m, moved: m / 30}
		}, 0, HungFilterError{}},
		{"processes come and go", func(m uint64) activity { return activity{pids: []int{int(m)}, commands: filter} }, 0, HungFilterError{}},
		{"there is no filter", func(uint64) activity { return activity{pids: []int{2}} }, 0, HungFilterError{}},
		{"nothing is seen", func(uint64) activity { return activity{unseen: true} }, 60, HungFilterError{Limit: time.Hour, Computed: true}},
	} {
		began := time.Unix(0, 0)
		p := newPatience(10*time.Minute, began)
		var hung *HungFilterError
		minute := 0
		for hung == nil && minute < 24*60 {
			minute++
			hung = p.judge(began.Add(time.Duration(minute)*time.Minute), tt.at(uint64(minute)))
		}
		switch {
		case hung == nil && tt.ends != 0:
			t.Errorf("%s: it is not ended", tt.name)
		case hung != nil && (minute != tt.ends || !reflect.DeepEqual(*hung, tt.want)):
			t.Errorf("%s: ended in minute %d with %+v, want %d, %+v", tt.name, minute, *hung, tt.ends, tt.want)
		}
	}
}

// TestTableOfPS holds how the tables of ps are read, as Linux and macOS write
// them.
func TestTableOfPS(t *testing.T) {
	t.Parallel()
	const linux = `      1       0 Ss       00:00:15 /sbin/init
     10       1 S        00:00:02 git checkout -f
     11      10 S        00:00:00 /bin/sh -c slow %f slow 'a b'
     12      11 R+     1-02:03:04 slow a  b
     13      10 Z        00:00:01 [done] <defunct>
     14      10 S        00:00:03 /usr/lib/git-core/git fetch
     15      10 R        00:00:09 ps -A
     16       1 R        00:00:09 other
`
	const mac = `    1     0 Ss    12:34.56 /sbin/launchd
   10     1 S      0:00.25 git checkout -f
   12    10 R    123:04.56 slow a b
   13    10 Z      0:00.00 (done)
`
	for _, tt := range []struct {
		name, table string
		want        activity
	}{
		{"Linux", linux, activity{
			moved: 200 + 300, computed: 100 * (26*3600 + 3*60 + 4 + 1), pids: []int{11, 12, 13, 14},
			commands: []string{"/bin/sh -c slow %f slow 'a b'", "slow a b"},
		}},
		{"macOS", mac, activity{moved: 25, computed: 100*(123*60+4) + 56, pids: []int{12, 13}, commands: []string{"slow a b"}}},
		{"the git is not in it", "1 0 S 0:00.00 init\n", activity{unseen: true}},
		{"something else", "ps: unknown option\n", activity{unseen: true}},
	} {
		if got := belowInTable(tt.table, 10, 15); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestLooks holds that both ways to look see a child of this process. Where there
// is no ps, that way says so.
func TestLooks(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "cat")
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	_, noPS := exec.LookPath("ps")
	for name, a := range map[string]activity{"ps": lookByPS(t.Context(), os.Getpid()), "the usual way": lookBelow(t.Context(), os.Getpid())} {
		if name == "ps" && noPS != nil {
			if !a.unseen {
				t.Errorf("without ps: %+v", a)
			}
			continue
		}
		sees := slices.ContainsFunc(a.commands, func(c string) bool { return strings.HasPrefix(c, "cat") })
		if a.unseen || !slices.Contains(a.pids, cmd.Process.Pid) || !sees {
			t.Errorf("by %s: %+v, want the process %d", name, a, cmd.Process.Pid)
		}
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
