package shim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"agentswarm/swarm/box"
)

// walled is a scene in a sandbox.
type walled struct {
	Walls box.Sandbox
	Scene string // its file
}

// playWalled enters the sandbox and plays the scene on the same thread.
func playWalled(file string) int {
	runtime.LockOSThread()
	var w walled
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &w)
	}
	if err == nil {
		err = box.Enter(w.Walls)
	}
	code := 1
	if err == nil {
		code, err = reap([]string{"/proc/self/exe", "play", w.Scene})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return code
}

// overlaid plays a scene on an overlay whose lower layer is base. More is
// mounted on top of it.
func overlaid(t *testing.T, base string, s scene, more ...box.Piece) (got seen) {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	s.Dir = at("at")
	w := walled{Scene: filepath.Join(dir, "scene"), Walls: box.Sandbox{Open: true, Pieces: []box.Piece{
		{At: s.Dir, Lower: []string{base}, Upper: at("up"), Work: at("wk")},
	}}}
	for _, p := range more {
		p.At = filepath.Join(s.Dir, p.At)
		w.Walls.Pieces = append(w.Walls.Pieces, p)
	}
	write(t, w.Scene, s)
	var refused error
	for _, w.Walls.Level = range []box.Level{box.Full, box.OldProc} {
		write(t, filepath.Join(dir, "walled"), w)
		text, err := start([]string{"walled", filepath.Join(dir, "walled")}, w.Walls.Level)
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		if err == nil {
			// Only root may enter the kernel's own folder.
			if err := os.Chmod(filepath.Join(dir, "wk", "work"), 0o700); err != nil {
				t.Error(err)
			}
			return got
		}
		refused = errors.Join(refused, fmt.Errorf("%v: %w", w.Walls.Level, err))
	}
	if os.Getenv("CI") != "" {
		t.Fatal(refused)
	}
	t.Skip(refused)
	return got
}

func start(args []string, level box.Level) ([]byte, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	er, ew, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	defer er.Close()
	p, err := os.StartProcess("/proc/self/exe", append([]string{"/proc/self/exe"}, args...),
		&os.ProcAttr{Files: []*os.File{nil, w, ew}, Sys: box.Attr(level)})
	if err := errors.Join(err, w.Close(), ew.Close()); err != nil {
		return nil, err
	}
	out, outErr := io.ReadAll(r)
	words, wordsErr := io.ReadAll(er)
	state, err := p.Wait()
	if err := errors.Join(outErr, wordsErr, err); err != nil {
		return nil, err
	}
	if !state.Success() {
		return nil, fmt.Errorf("%v: %s", state, bytes.TrimSpace(words))
	}
	return out, nil
}

func write(t *testing.T, file string, v any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
