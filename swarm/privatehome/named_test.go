package privatehome

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNamedCaches: each cache that only a variable names is a folder of the run,
// which starts with the files of the user's and can be written to everywhere.
func TestNamedCaches(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	large := strings.Repeat("x", 20<<10)
	elsewhere := u.path("elsewhere/ccache")
	u.must(os.MkdirAll(elsewhere+"/0/1", 0o755), os.WriteFile(elsewhere+"/0/1/large", []byte(large), 0o644),
		os.WriteFile(elsewhere+"/stats", []byte("1"), 0o644))
	u.write(".deno/deep/er/file", "theirs")
	u.write(".deno/hidden/token", secret)
	u.env = map[string]string{
		"CCACHE_DIR": elsewhere, "DENO_DIR": u.path("home/.deno"), "MIX_HOME": u.path("missing"), "UV_CACHE_DIR": u.path("uv"),
		"RUSTUP_HOME": u.path("rustup"), "CARGO_TARGET_DIR": u.path("target"), "GOTMPDIR": u.path("tmp"), "GOCACHE": u.path("go"),
	}
	before := u.state()
	env := u.prepare(".deno/hidden").Environ("/p")
	shared := u.path("shared")
	for name, want := range map[string]string{
		"CCACHE_DIR": shared + "/named/CCACHE_DIR", "DENO_DIR": shared + "/named/DENO_DIR", "MIX_HOME": shared + "/named/MIX_HOME",
		"UV_CACHE_DIR": shared + "/uv", "RUSTUP_HOME": "", "CARGO_TARGET_DIR": "/p/.cache/cargo_target_dir", "GOTMPDIR": "",
		"GOCACHE": shared + "/go-build",
	} {
		if got := variable(t, env, name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"CCACHE_DIR/0/1/large": large, "CCACHE_DIR/stats": "1", "DENO_DIR/deep/er/file": "theirs",
	} {
		if got, err := os.ReadFile(filepath.Join(shared, "named", name)); err != nil || string(got) != want {
			t.Errorf("%s = %.20q, %v, want %.20q", name, got, err, want)
		}
	}
	if _, err := os.Lstat(shared + "/named/DENO_DIR/hidden"); err == nil {
		t.Error("a hidden folder is in the shared cache")
	}
	for _, name := range []string{"CCACHE_DIR/0/1/new", "CCACHE_DIR/stats", "DENO_DIR/deep/er/new", "DENO_DIR/deep/er/file", "MIX_HOME/new"} {
		u.must(os.WriteFile(filepath.Join(shared, "named", name), []byte("written"), 0o600))
	}
	if text, err := os.ReadFile(elsewhere + "/stats"); err != nil || string(text) != "1" || u.state() != before {
		t.Errorf("the user's caches changed: %q, %v", text, err)
	}
	if got, err := filepath.Glob(elsewhere + "/0/1/*"); err != nil || len(got) != 1 {
		t.Errorf("the user's cache holds %q, %v", got, err)
	}
}
