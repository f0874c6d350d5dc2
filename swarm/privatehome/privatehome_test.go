package privatehome

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const secret = "the-secret"

// user is a HOME of a user's.
type user struct {
	testing.TB
	dir string
	env map[string]string
	// program is Request.Program.
	program string
}

func newUser(t testing.TB) *user {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	u := &user{TB: t, dir: dir, env: map[string]string{}}
	u.must(os.Mkdir(u.path("home"), 0o700))
	return u
}

func (u *user) must(errs ...error) {
	u.Helper()
	if err := errors.Join(errs...); err != nil {
		u.Fatal(err)
	}
}

func (u *user) path(name string) string { return filepath.Join(u.dir, name) }

// write writes a file of HOME.
func (u *user) write(name, text string) {
	u.Helper()
	path := u.path("home/" + name)
	u.must(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
}

// prepare makes a template that hides paths of HOME.
func (u *user) prepare(hidden ...string) *Template {
	u.Helper()
	for i := range hidden {
		hidden[i] = u.path("home/" + hidden[i])
	}
	t, err := Prepare(Request{
		Home: u.path("home"), Hidden: hidden, Shared: u.path("shared"),
		Getenv: func(name string) string { return u.env[name] }, Program: u.program,
		Caches: []string{"GOCACHE", "CCACHE_DIR", "DENO_DIR", "MIX_HOME", "UV_CACHE_DIR", "RUSTUP_HOME", "CARGO_TARGET_DIR", "GOTMPDIR"},
	})
	u.must(err)
	return t
}

// build makes a private HOME.
func (u *user) build(t *Template) string {
	u.Helper()
	dir := u.path(fmt.Sprintf("private%d", len(u.built())))
	u.must(t.Build(dir, nil))
	return dir
}

func (u *user) built() []string {
	all, err := filepath.Glob(u.path("private*"))
	u.must(err)
	return all
}

// state is every file of HOME with its text and times.
func (u *user) state() string {
	u.Helper()
	var all strings.Builder
	u.must(filepath.WalkDir(u.path("home"), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() {
			var text []byte
			text, err = os.ReadFile(path)
			fmt.Fprintf(&all, "%s %v %v %q\n", path, info.Mode(), info.ModTime(), text)
		}
		return err
	}))
	return all.String()
}

func TestBuild(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	for name, text := range map[string]string{
		".gitconfig": "[user]\n", ".bash_history": "ls\n", ".config/known/rc": "a\n", ".oldtool/deep/state": "b\n",
		"src/notes": "c\n", "go/src/x.go": "package x\n", "go/bin/tool": "#!\n", "go/pkg/mod/big": "d\n", ".cache/any/x": "e\n",
		".ssh/id": secret, ".config/gh/hosts.yml": secret, ".npmrc": "//r.example.org/:_authToken=" + secret + "\nfund=false\n",
		"work/.env/token": secret, "work/free": "f\n", ".rustup/toolchain": "g\n",
	} {
		u.write(name, text)
	}
	u.write(".big", strings.Repeat("x", maxTopFile+1))
	u.must(os.Symlink(u.path("home/.oldtool"), u.path("home/.link")), os.Symlink(u.path("home/.ssh"), u.path("home/.leak")),
		os.Symlink("/", u.path("home/.root")), os.Symlink(".loop", u.path("home/.loop")), unix.Mkfifo(u.path("home/.pipe"), 0o600))
	before := u.state()
	template := u.prepare(".ssh", ".config/gh", ".npmrc", "work/.env")
	home := u.build(template)

	for name, want := range map[string]string{
		".gitconfig": "[user]\n", ".bash_history": "ls\n", ".config/known/rc": "a\n", ".oldtool/deep/state": "b\n",
		"src/notes": "c\n", "go/src/x.go": "package x\n", "go/bin/tool": "#!\n", ".npmrc": "fund=false\n",
		".link/deep/state": "b\n", "work/free": "f\n", ".rustup/toolchain": "g\n",
	} {
		if got, err := os.ReadFile(filepath.Join(home, name)); string(got) != want {
			t.Errorf("~/%s = %q, %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []string{".ssh", ".config/gh", "work/.env", ".leak", ".root", ".loop", ".pipe", ".cache/any", "go/pkg/mod"} {
		if _, err := os.Lstat(filepath.Join(home, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("~/%s is shown: %v", name, err)
		}
	}
	// Whatever is written is the agent's alone.
	for _, name := range []string{".gitconfig", ".bash_history", ".config/known/rc", ".oldtool/deep/state", ".npmrc"} {
		f, err := os.OpenFile(filepath.Join(home, name), os.O_APPEND|os.O_WRONLY, 0)
		u.must(err)
		_, err = f.WriteString("more\n")
		u.must(err, f.Close())
	}
	for _, name := range []string{".cache/x", ".config/new/rc", ".config/known/more", ".newtool", ".oldtool/deep/x", ".local/share/x", "go/bin/x", "go/pkg/x"} {
		path := filepath.Join(home, name)
		u.must(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600))
	}
	if after := u.state(); after != before {
		t.Errorf("the user's HOME is\n%s\nwas\n%s", after, before)
	}
	if second := u.build(template); second != home {
		if got, err := os.ReadFile(filepath.Join(second, ".gitconfig")); string(got) != "[user]\n" {
			t.Errorf("the next HOME has .gitconfig %q, %v", got, err)
		}
	}
}

// TestHiddenIsNowhere checks that no path below a private HOME leads to a
// hidden file, through any links.
func TestHiddenIsNowhere(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	hidden := []string{".ssh", ".config/gcloud", "a/b/c/secret", ".cache/go-build/00", ".npm/_cacache/content-v2/x"}
	for _, dir := range hidden {
		u.write(dir+"/f", secret)
		u.write(filepath.Dir(dir)+"/open", "open\n")
	}
	for i, to := range []string{".ssh", "a", "a/b", ".config", "..", ".npm/_cacache", ".ssh/f"} {
		u.must(os.Symlink(u.path("home/"+to), u.path(fmt.Sprintf("home/.link%d", i))))
	}
	u.must(os.Symlink("b", u.path("home/a/again")))
	home := u.build(u.prepare(slices.Clone(hidden)...))
	for _, root := range []string{home, u.path("shared")} {
		for _, path := range reachable(t, root, 12) {
			if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), secret) {
				t.Errorf("%s is the secret", path)
			}
		}
	}
}

// reachable lists files below a folder, through links too, to some depth.
func reachable(t *testing.T, dir string, depth int) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || depth == 0 {
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			all = append(all, reachable(t, path, depth-1)...)
		} else if err == nil && info.Mode().IsRegular() {
			all = append(all, path)
		}
	}
	return all
}

// TestBounds: a HOME of many entries is shown by few, and nothing of it is out
// of reach.
func TestBounds(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	for i := range 3 * maxFolder {
		u.write(fmt.Sprintf(".tool/many/f%d", i), "x")
		u.write(fmt.Sprintf(".tool%d/state", i), "x")
		u.write(fmt.Sprintf(".cache/go-build/%02x/%d-a", i%256, i), "x")
	}
	u.write(".deep/1/2/3/4/5/6/7/8/f", "deep")
	u.write(".odd\nname \xff/f", "odd")
	template := u.prepare()
	if n := len(template.entries); n > maxEntries+10*maxFolder {
		t.Errorf("there are %d entries", n)
	}
	home := u.build(template)
	for name, want := range map[string]string{
		".tool/many/f1": "x", ".tool1/state": "x", fmt.Sprintf(".tool%d/state", 3*maxFolder-1): "x",
		".deep/1/2/3/4/5/6/7/8/f": "deep", ".odd\nname \xff/f": "odd",
	} {
		if got, err := os.ReadFile(filepath.Join(home, name)); string(got) != want {
			t.Errorf("~/%q = %q, %v, want %q", name, got, err, want)
		}
	}
}

// TestFullScan: beyond the limit of entries, folders that tools cannot do without
// are real, and so are the locks in them.
func TestFullScan(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	const lock = ".gradle/wrapper/dists/gradle-9.4.1-bin/7kxr/gradle-9.4.1-bin.zip.lck"
	for _, name := range []string{lock, ".local/share/x/f", ".local/bin/tool", ".config/tool/rc", "go/pkg/mod/f", ".tool/sub/f", ".toolrc"} {
		u.write(name, "x")
	}
	s := &scan{home: u.path("home"), entries: make([]entry, maxEntries)}
	s.walk()
	found := byPath(s.entries)
	for name, want := range map[string]kind{
		".local": folder, ".local/share": folder, ".local/bin": folder, ".config": folder, ".local/share/x": link, ".local/bin/tool": link,
		".config/tool": link, ".tool": link, ".toolrc": link, filepath.Dir(lock): folder, lock: copied,
	} {
		if got, ok := found[name]; !ok || got.kind != want {
			t.Errorf("~/%s is of kind %d, %v, want %d", name, got.kind, ok, want)
		}
	}
}

func TestNoHome(t *testing.T) {
	t.Parallel()
	for _, home := range []string{"", "/", "relative", "/no/such/folder"} {
		u := newUser(t)
		template, err := Prepare(Request{Home: home, Shared: u.path("shared"), Getenv: func(string) string { return "" }})
		if err != nil {
			t.Errorf("Prepare of %q: %v", home, err)
			continue
		}
		private := u.build(template)
		if _, err := os.Stat(filepath.Join(private, ".config")); err != nil {
			t.Errorf("with HOME %q: %v", home, err)
		}
		if got := template.Environ(private)[0]; got != "HOME="+private {
			t.Errorf("with HOME %q the first variable is %s", home, got)
		}
	}
}

// BenchmarkBuild makes private HOMEs of a HOME with 500 small files.
func BenchmarkBuild(b *testing.B) {
	u := newUser(b)
	for i := range 500 {
		u.write(fmt.Sprintf(".tool%d/sub/f%d", i%20, i), "some text\n")
	}
	template := u.prepare()
	n := 0
	for b.Loop() {
		n++
		u.must(template.Build(u.path(fmt.Sprintf("bench%d", n)), nil))
	}
}

// BenchmarkPrepare looks a HOME over that has 50,000 entries in its caches.
func BenchmarkPrepare(b *testing.B) {
	u := newUser(b)
	for i := range 50_000 {
		u.write(fmt.Sprintf(".cache/go-build/%02x/%d-d", i%256, i), "x")
	}
	n := 0
	for b.Loop() {
		n++
		_, err := Prepare(Request{
			Home: u.path("home"), Shared: u.path(fmt.Sprintf("shared%d", n)), Getenv: func(string) string { return "" },
		})
		u.must(err)
	}
}
