package proc

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestOutput(t *testing.T) {
	const much = 100 << 20
	tests := []struct {
		name string
		args []string
	}{
		{"lines", []string{"104857600", "80", "stdout"}},
		{"one line", []string{"104857600", "104857600", "stderr"}},
	}
	inModes(t, func(t *testing.T, m mode) {
		for _, test := range tests {
			spec := m.spec(t, "chatty", test.args...)
			exit := m.start(t, spec).Wait()
			var size int64
			for _, path := range []string{spec.Stdout, spec.Stderr} {
				info, err := os.Stat(path)
				if err != nil {
					t.Fatal(err)
				}
				if info.Mode().Perm() != 0o600 {
					t.Errorf("%s has mode %v", path, info.Mode())
				}
				size += info.Size()
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			if exit.Code != 0 || size != much || exit.Dropped != 0 ||
				exit.StdoutBytes+exit.StderrBytes != much ||
				(exit.StdoutBytes == much) != (test.args[2] == "stdout") {
				t.Errorf("%s: %d bytes, %+v, want %d", test.name, size, exit, much)
			}
		}
	})
}

func TestProgress(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		spec := m.spec(t, "cat")
		spec.Pipe = true
		p := m.start(t, spec)
		for i, text := range []string{"abc", "d"} {
			if err := p.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
			printed(t, p, int64(3+i))
		}
		if err := p.CloseStdin(); err != nil {
			t.Fatal(err)
		}
		p.Wait()
		for range p.Output() { // It ends, because it is closed.
		}
	})
}

// floods checks that an agent with endless output is ended, and that its output
// up to the limit is kept.
func floods(t *testing.T, m mode, spec Spec) {
	t.Helper()
	spec.OutputLimit = 100_000
	exit, got := m.run(t, spec)
	if exit.Reason != OutputLimit || exit.Signal != "SIGKILL" ||
		len(got) != 100_000 || exit.StdoutBytes != 100_000 ||
		exit.Dropped == 0 || !strings.Contains(exit.Text, "100000") {
		t.Errorf("%d bytes, %+v, want 100000", len(got), exit)
	}
}

func TestOutputLimit(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		floods(t, m, m.spec(t, "flood"))

		spec := m.spec(t, "chatty", "100000", "10", "stdout")
		spec.OutputLimit = 100_000
		if exit, got := m.run(t, spec); exit.Reason != Exited || len(got) != 100_000 {
			t.Errorf("just as much as is allowed: %d bytes, %+v", len(got), exit)
		}
	})
}

func TestDiskFull(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		m.walls.FileSize = 50_000
		exit, got := m.run(t, m.spec(t, "chatty", "1000000", "10", "stdout"))
		if exit.Reason != Disk || exit.Code != 0 || len(got) != 50_000 ||
			exit.StdoutBytes != 50_000 || exit.Dropped != 950_000 ||
			!strings.Contains(exit.Text, "file too large") {
			t.Errorf("%d bytes, %+v, want disk, code 0, and 50000", len(got), exit)
		}
	})
}

// TestFirstErrorIsLast keeps holes out of the files: after a failed write
// nothing more is written, even if there is space again.
func TestFirstErrorIsLast(t *testing.T) {
	t.Parallel()
	spec := mode{}.spec(t, "exit", "0")
	spec.OutputLimit = 10
	o := newOutput(spec.OutputLimit)
	if err := o.create(&spec); err != nil {
		t.Fatal(err)
	}
	s := o.streams[0]
	o.keep(s, []byte("abc"))
	s.err = syscall.ENOSPC
	o.keep(s, []byte("de"))
	if err := o.close(); !errors.Is(err, syscall.ENOSPC) || !o.failed() {
		t.Errorf("close = %v, want %v", err, syscall.ENOSPC)
	}
	if got := read(t, spec.Stdout); got != "abc" || o.dropped.Load() != 2 {
		t.Errorf("it holds %q, %d are dropped", got, o.dropped.Load())
	}
}

// TestDrainsLate: printed output is kept even if the drain runs only after its
// deadline.
func TestDrainsLate(t *testing.T) {
	t.Parallel()
	spec := mode{}.spec(t, "exit", "0")
	o := newOutput(0)
	ends, err := o.open(&spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ends[0].WriteString("printed"); err != nil {
		t.Fatal(err)
	}
	for i, s := range o.streams {
		if err := errors.Join(ends[i].Close(), s.from.SetReadDeadline(time.Unix(1, 0))); err != nil {
			t.Fatal(err)
		}
		o.copy(s)
	}
	if err := o.close(); err != nil || read(t, spec.Stdout) != "printed" {
		t.Errorf("it holds %q, %v", read(t, spec.Stdout), err)
	}
}

func TestStdoutIsAPipe(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		_, got := m.run(t, m.spec(t, "devstdout"))
		if got != "one\ntwo\nthree\n" {
			t.Errorf("a truncated /dev/stdout holds %q, want all lines", got)
		}
	})
}

// TestMerge checks that stderr goes where stdout does, in order.
func TestMerge(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		spec := m.spec(t, "cat")
		spec.Argv, spec.Merge = []string{"/bin/sh", "-c", "echo a; echo b >&2; echo c"}, true
		exit := m.start(t, spec).Wait()
		text, err := os.ReadFile(spec.Stdout)
		if err != nil || string(text) != "a\nb\nc\n" || exit.StdoutBytes != 6 || exit.StderrBytes != 0 {
			t.Errorf("stdout = %q, %v, %+v", text, err, exit)
		}
		if info, err := os.Stat(spec.Stderr); err != nil || info.Size() != 0 {
			t.Errorf("stderr is %v, %v", info, err)
		}
	})
}
