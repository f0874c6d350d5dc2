package proc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentswarm/internal/testprogram"
)

func TestExit(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		tests := []struct {
			role, arg, signal string
			code              int
		}{
			{"exit", "0", "", 0},
			{"exit", "1", "", 1},
			{"exit", "77", "", 77},
			{"die", "9", "SIGKILL", 137},
			{"die", "15", "SIGTERM", 143},
		}
		for _, test := range tests {
			exit, _ := m.run(t, m.spec(t, test.role, test.arg))
			if exit.Reason != Exited || exit.Code != test.code ||
				exit.Signal != test.signal || exit.Left != 0 || exit.Text != "" {
				t.Errorf("%s %s ended %+v, want code %d and signal %q",
					test.role, test.arg, exit, test.code, test.signal)
			}
			if exit.CPU <= 0 || exit.MaxRSS < 1<<16 {
				t.Errorf("%s used CPU %v, memory %d", test.role, exit.CPU, exit.MaxRSS)
			}
		}
	})
}

func TestStartFailed(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		dir := t.TempDir()
		program := func(name, text string) string {
			path := filepath.Join(dir, name)
			testprogram.Write(t, path, text)
			return path
		}
		plain := program("plain", "#!/bin/sh\n")
		if err := os.Chmod(plain, 0o600); err != nil {
			t.Fatal(err)
		}
		orphaned := program("orphaned", "#!/no/such/shell\n")
		bare := program("bare", "echo\n")
		tests := []struct {
			name, want string
			change     func(*Spec)
		}{
			{"no command", "command nope: not found in PATH (/bin)", func(s *Spec) {
				s.Argv, s.Env = []string{"nope"}, []string{"PATH=/bin"}
			}},
			{"no PATH", "command ls: not found in PATH ()", func(s *Spec) {
				s.Argv = []string{"ls"}
			}},
			{"found, not executable", plain + ": not executable", func(s *Spec) {
				s.Argv, s.Env = []string{"plain"}, []string{"PATH=" + dir}
			}},
			{"not executable", "not executable", func(s *Spec) {
				s.Argv = []string{plain}
			}},
			{"no file", "no such file", func(s *Spec) { s.Argv = []string{"./no"} }},
			{"folder", "it is a folder", func(s *Spec) { s.Argv = []string{dir} }},
			{"no shell", "what its first line names", func(s *Spec) {
				s.Argv = []string{orphaned}
			}},
			{"no format", "#!/bin/sh", func(s *Spec) { s.Argv = []string{bare} }},
			{"no directory", "working directory", func(s *Spec) {
				s.Dir = filepath.Join(dir, "no")
			}},
			{"file as directory", "is not a folder", func(s *Spec) { s.Dir = plain }},
			{"output exists", "file exists", func(s *Spec) { s.Stdout = plain }},
			{"no stdin", "open stdin", func(s *Spec) { s.Stdin = "/no/such" }},
			{"walls", "enter the sandbox: no bricks", func(s *Spec) {
				s.Sandbox = []byte(`{"Fail":"no bricks"}`)
			}},
		}
		for _, test := range tests {
			spec := m.spec(t, "exit", "0")
			test.change(&spec)
			exit := m.start(t, spec).Wait()
			if exit.Reason != StartFailed || exit.Temporary || exit.Code != -1 ||
				!strings.Contains(exit.Text, test.want) ||
				strings.Contains(exit.Text, "\n") {
				t.Errorf("%s: %+v, want start_failed for good with %q",
					test.name, exit, test.want)
			}
		}
		if got := read(t, plain); got != "#!/bin/sh\n" {
			t.Errorf("an output file that existed was changed to %q", got)
		}
	})
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := Spec{Argv: []string{"true"}, Dir: dir, Stdout: "o", Stderr: "e"}
	tests := map[string]func(*Spec){
		"no command":   func(s *Spec) { s.Argv = nil },
		"empty":        func(s *Spec) { s.Argv = []string{""} },
		"not absolute": func(s *Spec) { s.Dir = "here" },
		"required":     func(s *Spec) { s.Stderr = "" },
		"either":       func(s *Spec) { s.Pipe, s.Stdin = true, "x" },
		"negative":     func(s *Spec) { s.OutputLimit = -1 },
		"a terminal and a pipe": func(s *Spec) {
			s.Terminal, s.Pipe = &Size{24, 80}, true
		},
		"a terminal and a file": func(s *Spec) {
			s.Terminal, s.Stdin = &Size{24, 80}, "x"
		},
		"no rows":    func(s *Spec) { s.Terminal = &Size{0, 80} },
		"no columns": func(s *Spec) { s.Terminal = &Size{24, 0} },
	}
	for name, change := range tests {
		spec := good
		change(&spec)
		if _, err := new(Launcher).Start(t.Context(), spec); err == nil {
			t.Errorf("%s: Start accepts %+v", name, spec)
		}
	}
}

func TestSupervisorDoesNotStart(t *testing.T) {
	t.Parallel()
	spec := mode{}.spec(t, "exit", "0")

	var failed *StartError
	missing := &Launcher{Binary: filepath.Join(spec.Dir, "no")}
	if _, err := missing.Start(t.Context(), spec); !errors.As(err, &failed) ||
		failed.Temporary || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing binary: %v, want a lasting StartError", err)
	}

	// A program that is still open for writing is busy, and soon may not be.
	busy := filepath.Join(spec.Dir, "busy")
	f, err := os.OpenFile(busy, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = (&Launcher{Binary: busy}).Start(t.Context(), spec)
	if !errors.As(err, &failed) || errors.Is(err, syscall.ETXTBSY) != failed.Temporary {
		t.Errorf("a busy binary: %v (temporary %v)", err, failed != nil && failed.Temporary)
	}
	if !passes(syscall.EAGAIN) || !passes(syscall.ETXTBSY) || passes(syscall.ENOENT) {
		t.Error("passes is wrong about EAGAIN, ETXTBSY or ENOENT")
	}
}

func TestSupervisorThatIsNone(t *testing.T) {
	t.Parallel()
	// It talks, does not read, and ends without a report.
	l := &Launcher{Binary: exe(), Args: []string{"agent", "nonsense"}}
	spec := mode{}.spec(t, "exit", "0")
	spec.Env = []string{strings.Repeat("x", 1<<20)} // more than a pipe holds
	_, err := l.Start(t.Context(), spec)
	if err == nil || !strings.Contains(err.Error(), "unknown role nonsense") {
		t.Errorf("Start = %v, want its last words", err)
	}
	spec.Env = nil
	p, err := l.Start(t.Context(), spec)
	if err == nil {
		exit := p.Wait()
		if exit.Reason != Lost || exit.Code != -1 {
			t.Errorf("it ended %+v, want lost", exit)
		}
		err = errors.New(exit.Text)
	}
	if !strings.Contains(err.Error(), "unknown role nonsense") {
		t.Errorf("it ended %v, want its last words", err)
	}
}

func TestStdin(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		spec := m.spec(t, "cat")
		if exit, got := m.run(t, spec); exit.Code != 0 || got != "" {
			t.Errorf("without stdin: %+v, %q", exit, got)
		}
		spec = m.spec(t, "cat")
		spec.Stdin = filepath.Join(spec.Dir, "in")
		if err := os.WriteFile(spec.Stdin, []byte("a\nb"), 0o600); err != nil {
			t.Fatal(err)
		}
		if exit, got := m.run(t, spec); exit.Code != 0 || got != "a\nb" {
			t.Errorf("from a file: %+v, %q", exit, got)
		}
		spec = m.spec(t, "cat")
		spec.Pipe = true
		p := m.start(t, spec)
		if err := p.Write([]byte("one\n")); err != nil {
			t.Fatal(err)
		}
		printed(t, p, 4) // It arrives while stdin is open.
		if err := errors.Join(p.Write([]byte("two")), p.CloseStdin(),
			p.CloseStdin()); err != nil {
			t.Fatal(err)
		}
		exit := p.Wait()
		if got := read(t, spec.Stdout); exit.Code != 0 || got != "one\ntwo" {
			t.Errorf("from a pipe: %+v, %q", exit, got)
		}
		if err := p.Write([]byte("x")); err == nil {
			t.Error("Write succeeds after the end")
		}
		p = m.start(t, m.spec(t, "exit", "0"))
		if err := p.Write(nil); !errors.Is(err, ErrNoStdin) {
			t.Errorf("Write without a pipe = %v, want %v", err, ErrNoStdin)
		}
	})
}

func TestWriteToDeadProcess(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		spec := m.spec(t, "deaf", newWitness(t).path) // which never reads
		spec.Pipe = true
		p := m.start(t, spec)
		printed(t, p, 1)
		failed := make(chan error)
		go func() { failed <- p.Write(make([]byte, 1<<20)) }()
		p.Kill()
		select {
		case err := <-failed:
			if err == nil {
				t.Error("Write = nil, want an error")
			}
		case <-time.After(patient):
			t.Error("Write hangs after the process is gone")
		}
		p.Wait()
	})
}

func TestExact(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		odd := []string{"A=1", "B=\xff\xfe", "C=a\nb", "D="}
		spec := m.spec(t, "environ")
		spec.Env = odd
		if _, got := m.run(t, spec); got != strings.Join(odd, "\x00") {
			t.Errorf("environment %q, want %q", got, odd)
		}
		if _, got := m.run(t, m.spec(t, "environ")); got != "" {
			t.Errorf("environment %q, want none", got)
		}
		if _, got := m.run(t, m.spec(t, "args", odd...)); got != strings.Join(odd, "\x00") {
			t.Errorf("arguments %q, want %q", got, odd)
		}
		spec = m.spec(t, "where")
		spec.Dir = filepath.Join(spec.Dir, "\xffdir\n")
		if err := os.Mkdir(spec.Dir, 0o700); err != nil {
			t.Skip("this file system knows only UTF-8")
		}
		spec.Stdout = filepath.Join(spec.Dir, "\xfe")
		if _, got := m.run(t, spec); !strings.HasSuffix(got, "\xffdir\n") {
			t.Errorf("directory %q, want %q", got, spec.Dir)
		}
	})
}

func TestFind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a/tool", "b/tool", "b/other"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, nil, 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ name, path, want string }{
		{"tool", dir + "/a:" + dir + "/b", "a/tool"},
		{"other", dir + "/a:" + dir + "/b", "b/other"},
		{"tool", "no:b", "b/tool"},
		{"b/tool", "", "b/tool"},
		{dir + "/a/tool", "", "a/tool"},
		{"a", dir, ""},
		{"none", dir, ""},
	}
	for _, test := range tests {
		got, err := find(test.name, dir, []string{"PATH=/no", "PATH=" + test.path})
		want := test.want
		if want != "" {
			want = filepath.Join(dir, want)
		}
		if got != want || (err == nil) != (want != "") {
			t.Errorf("find(%q) in %q = %q, %v, want %q", test.name, test.path, got, err, want)
		}
	}
}
