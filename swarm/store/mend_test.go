package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestForeignRecordsDoNotCount checks that an agent's changes to the journal of
// a live run have no effect. Its owner decides by its own records, and so do
// all readers once it is closed.
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
			// The owner's last record overwrote a part of the appended text.
			_, err = os.Lstat(filepath.Join(run.Dir, "journal.foreign.1"))
			if name != "removed" && err != nil {
				t.Errorf("what was found is not kept: %v", err)
			}
		})
	}
}

// TestForeignRunFileDoesNotStay checks that whatever an agent does to run.json
// of a live run, it is as it was once the run is closed.
func TestForeignRunFileDoesNotStay(t *testing.T) {
	t.Parallel()
	for name, tamper := range map[string]func(path string) error{
		"overwritten": func(path string) error { return os.WriteFile(path, []byte(`{"schema":"x"}`), 0o600) },
		"one letter": func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteAt([]byte(" "), 1)
			return errors.Join(err, f.Close())
		},
		"replaced": func(path string) error {
			if err := os.WriteFile(path+".new", []byte("{}"), 0o600); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
		"removed": os.Remove,
		"a link": func(path string) error {
			if err := os.Rename(path, path+".moved"); err != nil {
				return err
			}
			return os.Symlink(path+".moved", path)
		},
		"a pipe": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return syscall.Mkfifo(path, 0o600)
		},
		"a folder": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Mkdir(path, 0o700)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run, o, err := Open(t.TempDir(), "repo", "/nowhere").Create(Identity{Version: "v1"})
			if err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(run.file())
			if err != nil {
				t.Fatal(err)
			}
			if err := o.Close(); err != nil {
				t.Fatal(err)
			}
			again, err := run.Own(t.Context()) // a later owner restores the found text
			if err != nil {
				t.Fatal(err)
			}
			if err := tamper(run.file()); err != nil {
				t.Fatal(err)
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
			after, err := os.ReadFile(run.file())
			if err != nil || string(after) != string(before) {
				t.Errorf("run.json is %q, %v", after, err)
			}
			if info, err := os.Lstat(run.file()); err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o600 {
				t.Errorf("run.json is %v, %v", info, err)
			}
			if len(o.Notices) != 0 || len(again.Notices) != 1 || !strings.Contains(again.Notices[0], "somebody else wrote to run.json") {
				t.Errorf("notices = %q, %q", o.Notices, again.Notices)
			}
			if _, err := os.Lstat(filepath.Join(run.Dir, "run.json.foreign.1")); name != "removed" && err != nil {
				t.Errorf("what was found is not kept: %v", err)
			}
		})
	}
}

// TestJournalThatNobodyTouched checks that closing leaves it alone.
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
	if left, _ := filepath.Glob(filepath.Join(run.Dir, "*.foreign.*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
