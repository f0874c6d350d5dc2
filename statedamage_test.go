package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"agentswarm/internal/testing/campaign"
)

// damage is a way in which a file of the state can be wrong.
type damage struct {
	name string
	do   func(y *fixture, file string) error
}

// damages are those of a file. Links lead to the folder outside.
func damages(y *fixture) []damage {
	edit := func(change func(text []byte) []byte) func(*fixture, string) error {
		return func(_ *fixture, file string) error {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			return os.WriteFile(file, change(text), 0o600)
		}
	}
	replaced := func(by func(file string) error) func(*fixture, string) error {
		return func(_ *fixture, file string) error { return errors.Join(os.Remove(file), by(file)) }
	}
	return []damage{
		{"cut", edit(func(text []byte) []byte { return text[:len(text)/2] })},
		{"flipped", edit(func(text []byte) []byte {
			if len(text) > 0 {
				text[len(text)/2] ^= 0x20
			}
			return text
		})},
		{"doubled", edit(func(text []byte) []byte { return append(text, text...) })},
		{"swapped", edit(func([]byte) []byte { return []byte(`{"schema":"swarm.other/1"}` + "\n") })},
		{"long line", edit(func(text []byte) []byte { return append(text, bytes.Repeat([]byte("x"), 5_000_000)...) })},
		{"link", replaced(func(file string) error { return os.Symlink(filepath.Join(y.dir, "outside/victim"), file) })},
		{"link to nothing", replaced(func(file string) error { return os.Symlink(filepath.Join(y.dir, "outside/new"), file) })},
		{"hard link", replaced(func(file string) error { return os.Link(filepath.Join(y.dir, "outside/victim"), file) })},
		{"folder", replaced(func(file string) error { return os.Mkdir(file, 0o700) })},
		{"pipe", replaced(func(file string) error { return syscall.Mkfifo(file, 0o600) })},
		{"gone", replaced(func(string) error { return nil })},
		{"of another user", func(_ *fixture, file string) error {
			if os.Getuid() != 0 {
				return nil
			}
			return os.Chown(file, 12345, 12345)
		}},
	}
}

// TestDamagedState damages each file of a run, and gives the run to commands: none
// crashes, waits, hides the other run, loses a ref, or writes outside. The gate
// takes the files that decide about a run, and its commands in turn; a campaign takes
// each file and command.
func TestDamagedState(t *testing.T) {
	t.Parallel()
	y := newFixture(t)
	for range 2 {
		y.ends(0, "run", "--each", "pkg/*/", "--", "sh", "-c", "echo more >> $SWARM_ITEM/f.txt")
	}
	runs := y.runs()
	good, bad := runs[0], runs[1]
	y.write("outside/victim", "the user's\n")
	files := []string{"run.json", "journal.jsonl", "lock"}
	commands := [][]string{{"status", bad.ID}, {"merge", bad.ID}}
	all := campaign.Running(t)
	if all {
		files = nil
		y.must(filepath.WalkDir(bad.Dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				rel, rerr := filepath.Rel(bad.Dir, path)
				files, err = append(files, rel), rerr
			}
			return err
		}))
		commands = append(commands, [][]string{
			{"ls", "--json"}, {"show", bad.ID + "/a1"}, {"logs", bad.ID}, {"diff", bad.ID}, {"usage", bad.ID}, {"inbox"},
			{"wait", bad.ID}, {"accept", bad.ID}, {"reject", bad.ID + "/a1"}, {"apply", bad.ID + "/a1"}, {"undo"},
			{"resume", bad.ID}, {"retry", bad.ID + "/a1"}, {"cancel", bad.ID}, {"send", bad.ID + "/a1", "text"},
			{"risk", "log", bad.ID}, {"exec", bad.ID + "/a1", "--", "true"}, {"gc"}, {"rm", bad.ID}, {"doctor"},
		}...)
	}
	kept := filepath.Join(y.dir, "kept")
	y.copyAll(y.dir, kept, "repo", "state", "outside")
	refs := y.captures("for-each-ref", "refs/swarm/"+good.ID) + y.git("for-each-ref", "refs/heads")
	for _, file := range files {
		for i, d := range damages(y) {
			for n, command := range commands {
				if !all && n != i%len(commands) {
					continue // the gate takes turns
				}
				y.about = file + " " + d.name + ", swarm " + strings.Join(command, " ") + ": "
				y.must(d.do(y, filepath.Join(bad.Dir, file)))
				y.survives(command)
				if list := y.survives([]string{"ls", "-q"}); !slices.Contains(strings.Fields(list), good.ID) {
					y.failf("ls hides the other run: %s", list)
				}
				text, err := os.ReadFile(filepath.Join(y.dir, "outside/victim"))
				if err != nil || string(text) != "the user's\n" {
					y.failf("the file outside holds %q, %v", text, err)
				}
				if entries, err := os.ReadDir(filepath.Join(y.dir, "outside")); err != nil || len(entries) != 1 {
					y.failf("outside are %v, %v", entries, err)
				}
				if now := y.captures("for-each-ref", "refs/swarm/"+good.ID) + y.git("for-each-ref", "refs/heads"); command[0] != "merge" && now != refs {
					y.failf("the refs were\n%sand are\n%s", refs, now)
				}
				y.must(errors.Join(os.RemoveAll(y.repo), os.RemoveAll(y.state), os.RemoveAll(filepath.Join(y.dir, "outside"))))
				y.copyAll(kept, y.dir, "repo", "state", "outside")
			}
		}
	}
}

// survives runs a command that may fail, and neither crash nor wait. It returns
// its output.
func (y *fixture) survives(args []string) string {
	y.t.Helper()
	ctx, cancel := context.WithTimeout(y.t.Context(), never)
	defer cancel()
	cmd := y.command(nil, args...)
	cmd = exec.CommandContext(ctx, cmd.Path, cmd.Args[1:]...)
	cmd.Dir, cmd.Env = y.repo, y.env
	var out, complaint strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	if ctx.Err() != nil {
		y.failf("it waits: %s", complaint.String())
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		y.must(err)
	}
	if code := cmd.ProcessState.ExitCode(); code < 0 || code > 8 || strings.Contains(complaint.String(), "goroutine ") {
		y.failf("it ended with %d: %s", code, complaint.String())
	}
	return out.String()
}

// copyAll copies folders with their links, modes, times and owners.
func (y *fixture) copyAll(from, to string, names ...string) {
	y.t.Helper()
	y.must(os.MkdirAll(to, 0o700))
	for _, name := range names {
		out, err := exec.Command("cp", "-a", filepath.Join(from, name), filepath.Join(to, name)).CombinedOutput()
		if err != nil {
			y.t.Fatalf("copy %s: %v: %s", name, err, out)
		}
	}
}
