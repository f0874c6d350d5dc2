package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"agentswarm/internal/picture"
	"agentswarm/worktree"
)

var writePicture = flag.Bool("picture", false, "record the picture of the README again")

// pictureID is the id of the run, which differs each time.
var pictureID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`run [a-z]*[0-9][a-z0-9]*: [0-9]+ completed`) })

// TestPicture records the session of the picture again, in a terminal. The
// picture has to end with the terminal's last screen.
func TestPicture(t *testing.T) {
	t.Parallel()
	params := scriptParams(worktree.Linked)
	params.Dir = filepath.Join(docsDir, "picture")
	params.Setup = func(env *testscript.Env) error { return errors.Join(setupScript(env), playAgents(env)) }
	params.Cmds["record"] = func(ts *testscript.TestScript, _ bool, _ []string) { recordPicture(ts) }
	// The scripts of a run are parallel: a test around them waits for them.
	t.Run("session", func(t *testing.T) { testscript.Run(t, params) })

	svg, err := os.ReadFile(pictureFile)
	if err != nil {
		t.Fatal(err)
	}
	if len(svg) > pictureSize {
		t.Errorf("%s has %d bytes, want %d at most", pictureFile, len(svg), pictureSize)
	}
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// recordPicture records the session in the current folder. With -picture it
// writes the picture, else it compares its end.
func recordPicture(ts *testscript.TestScript) {
	var env []string
	for _, name := range []string{"PATH", "HOME", "ANTHROPIC_API_KEY", "TMPDIR"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	outputs, err := recordSession(ts.MkAbs("."), append(env, "TERM=xterm", "PS1=$ ", "GIT_PAGER=cat"))
	ts.Check(err)
	svg := picture.Record(pictureRows, pictureCols, outputs).SVG(pictureTitle)
	if *writePicture {
		lines, err := picture.LastLines(svg)
		ts.Check(err)
		if !pictureID().MatchString(strings.Join(lines, "\n")) {
			ts.Fatalf("the id of this run has no digit, so that it looks like a word: record it again")
		}
		ts.Check(os.WriteFile(pictureFile, svg, 0o644))
		return
	}
	old, err := os.ReadFile(pictureFile)
	ts.Check(err)
	want, err := picture.LastLines(old)
	ts.Check(err)
	got, err := picture.LastLines(svg)
	ts.Check(err)
	if line := differs(want, strings.Join(got, "\n")); line != "" {
		ts.Fatalf("the picture shows %q, and a session today ends with\n%s\nwrite it again: go test -run '^TestPicture$' . -picture",
			line, strings.Join(got, "\n"))
	}
}

// recordSession types the commands into a shell on a terminal, each once the
// shell asks for it.
func recordSession(dir string, env []string) ([]picture.Output, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer master.Close()
	slave, err := openSlave(master)
	if err != nil {
		return nil, err
	}
	size := &unix.Winsize{Row: uint16(pictureRows), Col: uint16(pictureCols)}
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, size); err != nil {
		return nil, err
	}
	shell, err := lookPath(os.Getenv("PATH"), "sh")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(shell, "-i")
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := errors.Join(cmd.Start(), slave.Close()); err != nil {
		return nil, err
	}
	stuck := time.AfterFunc(never, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	outputs, err := typeSession(master)
	// The terminal hangs up, so that the shell ends where it has not yet.
	return outputs, errors.Join(err, master.Close(), ended(cmd.Wait()))
}

// ended is nil for a program that began and ended, however.
func ended(err error) error {
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return nil
	}
	return err
}

// typeSession types a command after each prompt of the shell, and ends at the
// prompt after the last command.
func typeSession(master io.ReadWriter) ([]picture.Output, error) {
	var outputs []picture.Output
	begin := time.Now()
	left := pictureSession()
	buf := make([]byte, 4096)
	prompt := []byte("$ ")
	line := []byte(nil) // the last line, as far as it is there
	for {
		n, err := master.Read(buf)
		if err != nil {
			return nil, fmt.Errorf("the shell ended at %q: %w", line, err)
		}
		text := bytes.Clone(buf[:n])
		outputs = append(outputs, picture.Output{At: time.Since(begin), Text: text})
		line = append(line, text...)
		if at := bytes.LastIndexAny(line, "\n\r"); at >= 0 {
			line = line[at+1:]
		}
		if !bytes.HasSuffix(line, prompt) {
			continue
		}
		if len(left) == 0 {
			return outputs, nil
		}
		if _, err := io.WriteString(master, left[0]+"\n"); err != nil {
			return nil, err
		}
		left = left[1:]
	}
}
