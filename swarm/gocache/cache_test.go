package gocache

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// caches are a cache over another, and the folders of both.
type caches struct {
	testing.TB
	*Cache
	dir, lowerDir string
}

func newCaches(t testing.TB) *caches {
	t.Helper()
	c := &caches{TB: t, dir: t.TempDir(), lowerDir: t.TempDir()}
	var err error
	c.Cache, err = Open(c.dir, []string{filepath.Join(c.dir, "missing"), c.lowerDir})
	c.must(err)
	t.Cleanup(func() { c.must(c.Close()) })
	return c
}

func (c *caches) must(errs ...error) {
	c.Helper()
	if err := errors.Join(errs...); err != nil {
		c.Fatal(err)
	}
}

func idFor(text string) ID { return sha256.Sum256([]byte(text)) }

// write writes an entry as the go command does, and returns its files.
func (c *caches) write(dir, action, text string) (entry, output string) {
	c.Helper()
	e := Entry{Output: idFor(text), Size: int64(len(text)), Time: time.Unix(5, 7)}
	entry, output = filepath.Join(dir, idFor(action).file("a")), filepath.Join(dir, e.Output.file("d"))
	for path, text := range map[string]string{entry: e.print(idFor(action)), output: text} {
		c.must(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
	}
	return entry, output
}

// want compares the cache's text for an action; an empty text is a miss.
func (c *caches) want(action, text string) (path string) {
	c.Helper()
	e, path, ok := c.Get(idFor(action))
	switch {
	case !ok && text != "":
		c.Errorf("Get(%s) is a miss, want %q", action, text)
	case ok && text == "":
		c.Errorf("Get(%s) = %s, want a miss", action, path)
	case ok:
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text || e.Output != idFor(text) || e.Size != int64(len(text)) || e.Time.IsZero() {
			c.Errorf("Get(%s) = %+v, %q, %v, want %q", action, e, got, err, text)
		}
	}
	return path
}

// state is every file of a folder with its text and time.
func state(t testing.TB, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() {
			var text []byte
			text, err = os.ReadFile(path)
			fmt.Fprintf(&all, "%s %v %v %x\n", path, info.Mode(), info.ModTime(), sha256.Sum256(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestCache checks that an entry is found in the own folder and in those below,
// and is only written to the own folder.
func TestCache(t *testing.T) {
	t.Parallel()
	c := newCaches(t)
	c.write(c.lowerDir, "of the user", "user")
	c.write(c.lowerDir, "both", "lower")
	before := state(t, c.lowerDir)
	c.want("none", "")
	if path := c.want("of the user", "user"); filepath.Dir(filepath.Dir(path)) != c.lowerDir {
		t.Errorf("the user's entry is at %s", path)
	}
	for action, text := range map[string]string{"new": "text", "both": "own", "same": "text", "empty": ""} {
		path, err := c.Put(idFor(action), idFor(text), int64(len(text)), strings.NewReader(text))
		c.must(err)
		if want := filepath.Join(c.dir, idFor(text).file("d")); path != want {
			t.Errorf("Put(%s) = %s, want %s", action, path, want)
		}
	}
	c.want("new", "text")
	c.want("both", "own")
	c.want("same", "text")
	if e, _, ok := c.Get(idFor("empty")); !ok || e.Size != 0 {
		t.Errorf("an empty output is %+v, %v", e, ok)
	}
	if path, err := c.Put(idFor("short"), idFor("text"), 5, strings.NewReader("text")); err == nil {
		t.Errorf("an output without its end is stored at %s", path)
	}
	if path, err := c.Put(idFor("long"), idFor("text"), 3, strings.NewReader("text")); err == nil {
		t.Errorf("an output that is too long is stored at %s", path)
	}
	c.want("short", "")
	c.want("same", "text")
	if after := state(t, c.lowerDir); after != before {
		t.Errorf("the lower cache is\n%s\nwas\n%s", after, before)
	}
	if all := state(t, c.dir); strings.Contains(all, "part-") {
		t.Errorf("temporary files are left:\n%s", all)
	}
}

// TestDamage: an entry that is not whole is a miss, in each folder.
func TestDamage(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(c *caches, entry, output string){
		"no output":  func(c *caches, _, output string) { c.must(os.Remove(output)) },
		"wrong size": func(c *caches, _, output string) { c.must(os.WriteFile(output, []byte("tex"), 0o644)) },
		"longer":     func(c *caches, entry, _ string) { c.must(appendTo(entry, "x")) },
		"empty":      func(c *caches, entry, _ string) { c.must(os.Truncate(entry, 0)) },
		"cut":        func(c *caches, entry, _ string) { c.must(os.Truncate(entry, int64(entrySize)-1)) },
		"other action": func(c *caches, entry, _ string) {
			c.must(os.WriteFile(entry, []byte(Entry{}.print(idFor("x"))), 0o644))
		},
		"pipe":          func(c *caches, entry, _ string) { c.must(os.Remove(entry), unix.Mkfifo(entry, 0o644)) },
		"output a pipe": func(c *caches, _, output string) { c.must(os.Remove(output), unix.Mkfifo(output, 0o644)) },
		"folder":        func(c *caches, entry, _ string) { c.must(os.Remove(entry), os.Mkdir(entry, 0o755)) },
		"empty folder":  func(c *caches, _, output string) { c.must(os.Remove(output), os.Mkdir(output, 0o755)) },
		"link to itself": func(c *caches, _, output string) {
			c.must(os.Remove(output), os.Symlink(filepath.Base(output), output))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCaches(t)
			for _, dir := range []string{c.dir, c.lowerDir} {
				entry, output := c.write(dir, "action", "text")
				damage(c, entry, output)
			}
			c.want("action", "")
			c.must(os.RemoveAll(filepath.Join(c.lowerDir, idFor("action").file("a"))))
			c.write(c.lowerDir, "action", "lower")
			c.want("action", "lower")
		})
	}
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// TestProgram: the output of a `go run` is the only file of a folder.
func TestProgram(t *testing.T) {
	t.Parallel()
	c := newCaches(t)
	_, output := c.write(c.dir, "run", "program")
	c.must(os.Remove(output), os.Mkdir(output, 0o755), os.WriteFile(filepath.Join(output, "main"), []byte("program"), 0o755))
	c.want("run", "program")
	path, err := c.Put(idFor("again"), idFor("program"), 7, strings.NewReader("program"))
	if want := filepath.Join(output, "main"); err != nil || path != want {
		t.Errorf("Put = %s, %v, want %s", path, err, want)
	}
	c.want("again", "program")
	c.must(os.WriteFile(filepath.Join(output, "second"), nil, 0o644))
	c.want("run", "")
	if path, err := c.Put(idFor("third"), idFor("program"), 7, strings.NewReader("program")); err == nil {
		t.Errorf("Put = %s, want an error: a folder is there", path)
	}
}

// TestLinks starts the own folder with links to files of the user. They are
// replaced, and no file behind a link is written to.
func TestLinks(t *testing.T) {
	t.Parallel()
	c := newCaches(t)
	entry, output := c.write(c.dir, "action", "text")
	outside := t.TempDir()
	for _, path := range []string{entry, output} {
		target := filepath.Join(outside, filepath.Base(path))
		c.must(os.Rename(path, target), os.Symlink(target, path))
	}
	// A folder that leads out of the cache as well.
	dir := filepath.Join(c.dir, filepath.Dir(idFor("elsewhere").file("a")))
	c.must(os.Symlink(outside, dir))
	before := state(t, outside)
	c.want("action", "text")
	_, err := c.Put(idFor("action"), idFor("text"), 4, strings.NewReader("text"))
	c.must(err)
	if info, err := os.Lstat(output); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the output is %v, %v, want a file", info, err)
	}
	if path, err := c.Put(idFor("elsewhere"), idFor("text"), 4, strings.NewReader("text")); err == nil {
		t.Errorf("an entry was written through a link, to %s", path)
	}
	if after := state(t, outside); after != before {
		t.Errorf("files outside are\n%s\nwere\n%s", after, before)
	}
}

// TestOld checks that an entry that the user's go command may remove is copied.
// An entry of the own folder is marked as used.
func TestOld(t *testing.T) {
	t.Parallel()
	c := newCaches(t)
	long := time.Now().Add(-copyAfter - time.Hour)
	_, output := c.write(c.lowerDir, "old", "old text")
	c.must(os.Chtimes(output, long, long))
	entry, own := c.write(c.dir, "own", "own text")
	c.must(os.Chtimes(entry, long, long), os.Chtimes(own, long, long))
	linked, link := c.write(c.dir, "link", "old text")
	c.must(os.Remove(link), os.Symlink(output, link), os.Chtimes(linked, long, long))
	before := state(t, c.lowerDir)
	if path := c.want("link", "old text"); path != link {
		t.Errorf("a link to an old output leads to %s, want %s", path, link)
	}
	if info, err := os.Lstat(link); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the link is %v, %v, want a copy", info, err)
	}
	c.must(os.Remove(link))
	if path := c.want("old", "old text"); path != link {
		t.Errorf("an old output is at %s, want %s", path, link)
	}
	c.want("own", "own text")
	for _, path := range []string{entry, own} {
		if info, err := os.Stat(path); err != nil || info.ModTime().Equal(long) {
			t.Errorf("%s is not marked as used: %v", path, err)
		}
	}
	if after := state(t, c.lowerDir); after != before {
		t.Errorf("the lower cache is\n%s\nwas\n%s", after, before)
	}
	c.must(os.Remove(output))
	c.want("old", "old text")
}

// TestTogether: processes that write the same entries at once disturb no reader.
func TestTogether(t *testing.T) {
	t.Parallel()
	c := newCaches(t)
	text := strings.Repeat("text", 10_000)
	_, err := c.Put(idFor("action"), idFor(text), int64(len(text)), strings.NewReader(text))
	c.must(err)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			other, err := Open(c.dir, nil)
			if err != nil {
				t.Error(err)
				return
			}
			for range 20 {
				if _, err := other.Put(idFor("action"), idFor(text), int64(len(text)), strings.NewReader(text)); err != nil {
					t.Error(err)
				}
				if _, path, ok := other.Get(idFor("action")); !ok {
					t.Error("an entry is missing while it is written again")
				} else if got, err := os.ReadFile(path); err != nil || string(got) != text {
					t.Errorf("an output has %d bytes, %v, want %d", len(got), err, len(text))
				}
			}
			if err := other.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestParseEntry(t *testing.T) {
	t.Parallel()
	action := idFor("action")
	want := Entry{Output: idFor("text"), Size: 4, Time: time.Unix(3, 4)}
	text := want.print(action)
	if got, err := parseEntry(text, action); err != nil || !got.Time.Equal(want.Time) || got.Output != want.Output || got.Size != 4 {
		t.Errorf("parseEntry(%q) = %+v, %v, want %+v", text, got, err, want)
	}
	number := strings.Repeat(" ", column-1)
	for _, wrong := range []string{
		"", text + "\n", text[1:], strings.Replace(text, "v1", "v2", 1), strings.ToUpper(text), strings.Replace(text, number+"4 ", number[1:]+"-4 ", 1),
		strings.Replace(text, number+"4 ", number[1:]+"+4 ", 1), strings.Replace(text, number+"4 ", number[1:]+"04 ", 1),
		strings.Replace(text, number+"4 ", number+"x ", 1), strings.Replace(text, number+"4 ", "99999999999999999999 ", 1), strings.Replace(text, number+"4 ", number+"  ", 1),
	} {
		if got, err := parseEntry(wrong, action); err == nil {
			t.Errorf("parseEntry(%q) = %+v, want an error", wrong, got)
		}
	}
}

// FuzzEntry checks that the go command could have written each accepted entry.
func FuzzEntry(f *testing.F) {
	f.Add(Entry{Output: idFor("text"), Size: 4, Time: time.Unix(3, 4)}.print(idFor("action")))
	f.Add("v1 ")
	f.Fuzz(func(t *testing.T, text string) {
		action := idFor("action")
		if e, err := parseEntry(text, action); err == nil && (e.print(action) != text || e.Size < 0) {
			t.Errorf("parseEntry(%q) = %+v", text, e)
		}
	})
}

// FuzzServe checks that no stream of requests writes outside of the own folder,
// or has an answer that names another folder.
func FuzzServe(f *testing.F) {
	f.Add([]byte(putLine(1, "action", "text") + getLine(2, "action") + `{"ID":3,"Command":"close"}` + "\n"))
	f.Add([]byte("\"\n\n{\n"))
	f.Add([]byte(`{"ID":1,"Command":"put","ActionID":"AA==","BodySize":3}` + "\n\n" + `"AAAA"`))
	f.Fuzz(func(t *testing.T, in []byte) {
		dir := t.TempDir()
		own := filepath.Join(dir, "own")
		if err := os.Mkdir(own, 0o700); err != nil {
			t.Fatal(err)
		}
		c, err := Open(own, []string{filepath.Join(dir, "lower")})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		_ = c.Serve(bytes.NewReader(in), &out)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if _, path, ok := strings.Cut(line, `"DiskPath":"`); ok && !strings.HasPrefix(path, own+"/") {
				t.Errorf("the answer %q is outside of %s", line, own)
			}
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("there are %v, %v", entries, err)
		}
	})
}
