package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestForeignRecordsDoNotCount holds that whatever an agent does to the
// journal of a live run, its owner goes by what it wrote, and so does
// everybody once it is closed.
func TestForeignRecordsDoNotCount(t *testing.T) {
	t.Parallel()
	forged, err := appendLine(nil, event.Record{N: 3, Time: time.Now(), Event: &event.Closed{Status: "completed"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, tamper := range map[string]func(path string, text []byte) error{
		"appended": func(path string, text []byte) error {
			return os.WriteFile(path, append(text, forged...), 0o600)
		},
		"overwritten": func(path string, text []byte) error {
			return os.WriteFile(path, forged, 0o600)
		},
		"replaced": func(path string, text []byte) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.WriteFile(path, append(text, forged...), 0o600)
		},
		"removed": func(path string, _ []byte) error { return os.Remove(path) },
		"emptied": func(path string, _ []byte) error { return os.Truncate(path, 0) },
		"a link": func(path string, text []byte) error {
			if err := os.Rename(path, path+".moved"); err != nil {
				return err
			}
			return os.Symlink(path+".moved", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run, o, err := Open(t.TempDir(), "repo", "/nowhere").Create(Identity{})
			if err != nil {
				t.Fatal(err)
			}
			add := func(e event.Event) {
				t.Helper()
				if _, err := o.Append(e); err != nil {
					t.Fatal(err)
				}
			}
			add(&event.Opened{Pid: 1})
			add(&event.Called{Agent: "a1", Call: &task.Call{Input: &task.TypedAgentInput{Prompt: "p"}}})
			text, err := os.ReadFile(run.Journal())
			if err != nil {
				t.Fatal(err)
			}
			if err := tamper(run.Journal(), text[:o.size]); err != nil {
				t.Fatal(err)
			}
			add(&event.Closed{Status: "failed"})
			if v := o.View(); v.Status != RunFailed || len(v.Agents) != 1 {
				t.Errorf("the owner believes %s, %d agents", v.Status, len(v.Agents))
			}
			if err := o.Close(); err != nil {
				t.Fatal(err)
			}
			v, err := run.View()
			if err != nil || v.Status != RunFailed || len(v.Agents) != 1 {
				t.Fatalf("others see %+v, %v", v, err)
			}
			if info, err := os.Lstat(run.Journal()); err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o600 {
				t.Errorf("the journal is %v, %v", info, err)
			}
			if len(o.Notices) != 1 || !strings.Contains(o.Notices[0], "somebody else wrote") {
				t.Errorf("notices = %q", o.Notices)
			}
			// Of what was appended the owner's last record overwrote a part.
			_, err = os.Lstat(filepath.Join(run.Dir, "journal.foreign.1"))
			if name != "removed" && err != nil {
				t.Errorf("what was found is not kept: %v", err)
			}
		})
	}
}

// TestJournalThatNobodyTouched holds that closing leaves it alone.
func TestJournalThatNobodyTouched(t *testing.T) {
	t.Parallel()
	run, o, err := Open(t.TempDir(), "repo", "/nowhere").Create(Identity{})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := o.Append(&event.Opened{Pid: 1}); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.Stat(run.Journal())
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := run.Own(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Append(&event.Closed{Status: "failed"}); err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(run.Journal())
	if err != nil || !os.SameFile(before, after) || len(o.Notices)+len(again.Notices) > 0 {
		t.Errorf("the journal was replaced: %v, %q %q", err, o.Notices, again.Notices)
	}
	if left, _ := filepath.Glob(filepath.Join(run.Dir, "journal.*.*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
