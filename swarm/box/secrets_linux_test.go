package box

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// known are all secrets of a HOME, each as a file in what is hidden.
func known() []string {
	var all []string
	for _, name := range secretFolders() {
		all = append(all, name+"/file")
	}
	all = append(all, secretFiles()...)
	all = append(all, Histories()...)
	for _, name := range logins() {
		if filepath.Ext(name) != ".json" {
			name += "/file"
		}
		all = append(all, name)
	}
	return all
}

// masked are the paths that a sandbox hides.
func masked(w Sandbox) []string {
	var all []string
	for _, piece := range w.Pieces {
		if piece.Empty {
			all = append(all, piece.At)
		}
	}
	return all
}

// hides reports whether a path is one of some, or lies in it.
func hides(masks []string, path string) bool {
	return slices.ContainsFunc(masks, func(at string) bool { return covers(at, path) })
}

// TestSecrets holds that each known secret is hidden on every level, and that
// nobody can read one behind mounts.
func TestSecrets(t *testing.T) {
	t.Parallel()
	var paths []string
	g := newFixture(t, outside(t))
	for _, name := range known() {
		path := filepath.Join(g.Home, name)
		write(t, path, secret)
		paths = append(paths, path)
	}
	// The table is what it was made for.
	for _, name := range []string{".netrc", ".git-credentials", ".config/git/credentials", ".npmrc", ".m2/settings-security.xml", ".config/pip/pip.conf", ".composer/auth.json", ".kube/file", ".claude/file", ".codex/auth.json", ".dockercfg", ".config/github-copilot/file", ".config/openstack/file", ".subversion/auth/file",
		".gitconfig", ".cargo/config.toml", ".mozilla/file", ".config/chromium/file", ".bash_history", ".env", ".erlang.cookie", ".my.cnf", ".pgpass", ".gradle/init.d/file",
		".gitcookies", ".authinfo", ".config/Bitwarden CLI/file", ".local/share/atuin/file", ".viminfo", ".config/environment.d/file"} {
		if !slices.Contains(known(), name) {
			t.Errorf("%s is no known secret", name)
		}
	}
	for _, level := range ladder() {
		masks := masked(compose(t, level, g.on(level)))
		for _, path := range paths {
			if !level.Overlay() && level.Namespaces() && covers(filepath.Join(g.Home, ".cache"), path) {
				continue // It is behind an empty folder.
			}
			if hides(masks, path) == (level == None) {
				t.Errorf("%v: %s is hidden: %t", level, path, level != None)
			}
		}
		if hides(masks, filepath.Join(g.Home, ".bashrc")) {
			t.Errorf("%v: all is hidden: %q", level, masks)
		}
	}
	for _, level := range []Level{Full, Landlock} {
		if try(level, new(facts)) != nil {
			continue
		}
		p := g.on(level)
		if level == Landlock {
			p.Private = filepath.Join(g.Private, "landlock")
			mkdir(t, p.Private)
		}
		if out := run(t, compose(t, level, p), "read", paths...); out != "" {
			t.Errorf("%v: the agent could %s", level, out)
		}
	}
}

// TestSecretVariables holds that what a tool was told to keep elsewhere is
// hidden there, but nothing of the repository.
func TestSecretVariables(t *testing.T) {
	t.Parallel()
	g := newFixture(t, outside(t))
	// In HOME: an agent sees no other files of /tmp and /var/tmp.
	else1, else2 := filepath.Join(g.Home, "else1"), filepath.Join(g.Home, "else2")
	for _, path := range []string{
		else1 + "/git/credentials", else1 + "/git/config", else1 + "/git/ignore", else1 + "/gh/hosts", else1 + "/kube", else2 + "/kube", else2 + "/.zsh_history", else2 + "/gitconfig", g.Repo + "/.npmrc", g.Repo + "/netrc",
	} {
		write(t, path, secret)
	}
	for name, value := range map[string]string{
		"XDG_CONFIG_HOME": else1, "KUBECONFIG": else1 + "/kube:" + else2 + "/kube", "NPM_CONFIG_USERCONFIG": g.Repo + "/.npmrc", "NETRC": "netrc", "GNUPGHOME": g.Home,
		"HISTFILE": os.DevNull, "ZDOTDIR": else2, "GIT_CONFIG_GLOBAL": else2 + "/gitconfig",
	} {
		g.Env[name] = value
	}
	masks := masked(compose(t, Full, g.place()))
	for path, want := range map[string]bool{
		else1 + "/git/credentials": true, else1 + "/git/config": true, else1 + "/git/ignore": false, else1 + "/gh/hosts": true, else1 + "/kube": true, else2 + "/kube": true, else2 + "/.zsh_history": true, else2 + "/gitconfig": true,
		g.Repo + "/.npmrc": false, g.Repo + "/netrc": false, g.Home + "/.bashrc": false,
		os.DevNull: false,
	} {
		if hides(masks, path) != want {
			t.Errorf("%s is hidden: %t, want %t: %q", path, !want, want, masks)
		}
	}
}

// TestLogins holds that an agent sees a login only where it was given its
// folder, and no other one then.
func TestLogins(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ write, seen string }{
		{".codex", ".codex/auth.json"}, {".claude", ".claude/file"}, {".pi/agent", ".pi/agent/file"}, {".config", ""}, {".ssh", ""}, {"", ""},
	} {
		g := newFixture(t, t.TempDir())
		for _, name := range known() {
			write(t, filepath.Join(g.Home, name), secret)
		}
		dir := filepath.Join(g.Home, tt.write)
		p := g.place()
		p.Pieces = append(p.Pieces, Piece{At: dir, From: dir, Write: true, Optional: true})
		masks := masked(compose(t, Full, p))
		var seen []string
		for _, name := range known() {
			if !hides(masks, filepath.Join(g.Home, name)) {
				seen = append(seen, name)
			}
		}
		if got := strings.Join(seen, " "); got != tt.seen {
			t.Errorf("who may write to %q sees %q, want %q", tt.write, got, tt.seen)
		}
	}
	if got := Logins("/h"); !slices.Contains(got, "/h/.claude") || len(Logins("")) > 0 {
		t.Errorf("Logins = %q", got)
	}
}

// TestDevicesKeepTheirModes: what hides a file is /dev/null itself, as it is in
// the agent's own /dev, and as root its owner could take it away from others.
func TestDevicesKeepTheirModes(t *testing.T) {
	t.Parallel()
	for _, level := range namespaced(t) {
		g := newFixture(t, outside(t))
		hidden := filepath.Join(g.Home, ".npmrc")
		write(t, hidden, secret)
		w := compose(t, level, g.on(level))
		if out := run(t, w, "mode", hidden, "/dev/null", "/dev/zero", "/dev/tty"); out != "" {
			t.Errorf("%v: the agent could %s", level, out)
		}
		if out := sh(t, w, `echo x > /dev/null && echo written`); out != "written\n" {
			t.Errorf("%v: /dev/null says %q", level, out)
		}
	}
}

// TestPlain: agents read a copy in the place of a hidden file, and change none but
// their own. One that the user hides stays hidden.
func TestPlain(t *testing.T) {
	t.Parallel()
	for _, level := range namespaced(t) {
		g := newFixture(t, outside(t))
		plain := filepath.Join(g.Private, "plain")
		var files []string
		link := filepath.Join(g.Home, ".config/git/config")
		mkdir(t, filepath.Dir(link))
		if err := os.Symlink(filepath.Join(g.Home, "dotfiles/git"), link); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{".npmrc", ".m2/settings.xml", ".pip/pip.conf", "dotfiles/git", ".gitconfig", ".extra/work"} {
			path := filepath.Join(g.Home, name)
			write(t, path, secret)
			write(t, filepath.Join(plain, path), "plain "+name)
			files = append(files, path)
		}
		p := g.on(level)
		p.Plain, p.PlainFiles, p.Hide = plain, files, append(p.Hide, "~/.pip")
		p.Secret = []string{filepath.Join(g.Home, ".extra/work"), filepath.Join(g.Home, ".missing")}
		given := filepath.Join(g.Home, ".m2")
		p.Pieces = append(p.Pieces, Piece{At: given, From: given, Write: true})
		w := compose(t, level, p)
		out := sh(t, w, `cd "$1"; for f in .npmrc .m2/settings.xml .pip/pip.conf .config/git/config .gitconfig .extra/work; do cat $f 2>&-; echo; done`, g.Home)
		if want := "plain .npmrc\nplain .m2/settings.xml\n\nplain dotfiles/git\nplain .gitconfig\nplain .extra/work\n"; out != want {
			t.Errorf("%v: the agent reads %q, want %q", level, out, want)
		}
		change := `cd "$1"; echo own > .n; mv .n .npmrc; rm -rf .extra .gitconfig; mkdir .extra; echo x > .m2/settings.xml; rm -f .m2/settings.xml; mv dotfiles d; for f in $(find . -type f); do cat $f; done; cat .npmrc .m2/settings.xml`
		out = sh(t, w, "("+change+") 2>&-", g.Home)
		if strings.Contains(out, secret) || !strings.HasSuffix(out, "plain .m2/settings.xml") || level.Overlay() != strings.HasSuffix(out, "own\nplain .m2/settings.xml") {
			t.Errorf("%v: the agent finds %q", level, out)
		}
		// The next step of the attempt finds what the agent left.
		if out := sh(t, compose(t, level, p), "cd \"$1\"; cat .npmrc .gitconfig .extra/work 2>&-; true", g.Home); strings.Contains(out, secret) || level.Overlay() && out != "own\nplain .extra/work" {
			t.Errorf("%v: the next one reads %q", level, out)
		}
		for _, path := range files {
			for at, want := range map[string]string{path: secret, filepath.Join(plain, path): "plain"} {
				if text, err := os.ReadFile(at); err != nil || !strings.HasPrefix(string(text), want) {
					t.Errorf("%v: %s is %q, %v", level, at, text, err)
				}
			}
		}
	}
}
