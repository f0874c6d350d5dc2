package risk

import (
	"slices"
	"strings"
	"testing"
)

// deniedOf returns the losses that a person denies with an action.
func deniedOf(t *testing.T, r *Rules, text string, p Place) *Denied {
	t.Helper()
	d := &Denied{Agent: "a3"}
	f := r.Classify(&Shell{Text: text}, p)
	for _, l := range f.Losses {
		switch {
		case l.Judged && l.Untracked:
			d.Cleans = append(d.Cleans, l.Path)
		case l.Judged && l.Overwrites:
			d.Overwrites = append(d.Overwrites, l.Path)
		case l.Judged:
			d.Deletes = append(d.Deletes, l.Path)
		}
	}
	return d
}

// Deleting in single steps the files of a denied action asks again. No other
// command does.
func TestHeed(t *testing.T) {
	t.Parallel()
	r := load(t)
	for _, c := range []struct {
		denied, give string
		want         string // the end of the reason; empty: it does not ask for that
	}{
		{"rm -rf pkg", "rm pkg/f", "delete pkg; this deletes pkg/f"},
		{"rm -rf pkg", "rm pkg/*", "delete pkg; this deletes pkg/*"},
		{"rm -rf pkg", "rm pkg/*; rmdir pkg", "delete pkg; this deletes pkg/*"},
		{"rm -rf pkg", "rmdir pkg", "delete pkg; this deletes pkg"},
		{"rm -rf pkg", "cd pkg && rm f", "delete pkg; this deletes pkg/f"},
		{"rm -rf pkg", "for f in pkg/a pkg/b; do rm \"$f\"; done", "delete pkg; this deletes pkg/a"},
		{"rm -rf pkg", "unlink pkg/sub/f", "delete pkg; this deletes pkg/sub/f"},
		{"rm -rf pkg", "rm ./x/../pkg/f", "delete pkg; this deletes pkg/f"},
		{"rm -rf pkg", "rm /repo/tree/pkg/f", "delete pkg; this deletes pkg/f"},
		{"rm -rf pkg", "mv pkg /tmp/pkg", "delete pkg; this deletes pkg"},
		{"rm -rf pkg", "mv pkg/f g", "delete pkg; this deletes pkg/f"},
		{"rm -rf pkg", "git rm pkg/f", "delete pkg; this deletes pkg/f"},
		{"rm -rf pkg", "git mv pkg/f g", "delete pkg; this deletes pkg/f"},
		{"rm -rf pkg", "git rm -r pkg", "delete pkg; this deletes pkg"},
		{"rm -rf pkg", "sh -c 'rm pkg/f'", "delete pkg; this deletes pkg/f"},
		{"rm -rf pkg", "echo pkg/f | xargs rm", "delete pkg; this deletes pkg/f"},
		{"rm -rf pkg", "python3 -c \"import os; os.remove('pkg/f')\"", "delete pkg; this deletes pkg/f"},
		{"rm -rf pkg", "trash pkg", "delete pkg; this deletes pkg"},
		{"rm -rf pkg", ": > pkg/f", "delete pkg; this overwrites pkg/f"},
		{"rm -rf pkg", "truncate -s 0 pkg/f", "delete pkg; this overwrites pkg/f"},
		{"rm -rf pkg", "cp /dev/null pkg/f", "delete pkg; this overwrites pkg/f"},
		{"rm -rf pkg", "mv x pkg/f", "delete pkg; this overwrites pkg/f"},
		{"rm -rf pkg/sub", "rm -r pkg", "delete pkg/sub; this deletes pkg"},
		{"rm -rf pkg/sub", "mv pkg old", "delete pkg/sub; this deletes pkg"},
		{"rm -rf pkg/*", "rm pkg/f", "delete pkg/*; this deletes pkg/f"},
		{"rm -rf p*", "rm pkg/f", "delete p*; this deletes pkg/f"},
		{"rm -rf *.d", "rm a.d/f", "delete *.d; this deletes a.d/f"},
		{"rm -rf .", "rm pkg/f", "delete .; this deletes pkg/f"},
		{"rm -rf /tmp/x", "rm /tmp/x/f", "delete /tmp/x; this deletes /tmp/x/f"},
		{"cd pkg && rm -rf sub", "rm pkg/sub/f", "delete pkg/sub; this deletes pkg/sub/f"},
		{"rm -rf 'a*b'", "rm 'a*b/f'", `delete a\*b; this deletes a\*b/f`},
		{"dd if=x of=src/a.go", "cp x src/a.go", "overwrite src/a.go; this overwrites src/a.go"},
		{"dd if=x of=src/a.go", "sed -i d src/a.go", "overwrite src/a.go; this overwrites src/a.go"},
		{"rm Jenkinsfile", "mv Jenkinsfile x", "delete Jenkinsfile; this deletes Jenkinsfile"},
		{"git clean -fdx", "rm built/x.o", "delete the untracked files of .; this deletes built/x.o"},
		{"git clean -fdx", "rm *.o", "delete the untracked files of .; this deletes *.o"},
		{"git clean -fd built", "rm -f built/x.o", "delete the untracked files of built; this deletes built/x.o"},
		{"cd pkg && git clean -f", "rm pkg/x", "delete the untracked files of pkg; this deletes pkg/x"},
		{"rm -rf pkg/new", "git clean -f pkg", "delete pkg/new; this deletes pkg"},
		{"tar --remove-files -cf x.tar pkg", "rm pkg/f", "delete pkg; this deletes pkg/f"},
		// Links of the text and of the disk, and other names of the same file.
		{"rm -rf pkg", "ln -s pkg q; rm q/f", "delete pkg; this deletes pkg/f"},
		{"rm -rf pkg", "ln -s pkg q && cd q && rm f", "delete pkg; this deletes pkg/f"},
		{"rm -rf pkg", "ln -s pkg q; mv q z; rm z/*", "delete pkg; this deletes pkg/*"},
		{"rm -rf pkg", "ln -s pkg q; ln -s q z; find z/ -delete", "delete pkg; this deletes pkg"},
		{"rm -rf pkg", "ln -st new ../pkg; rm new/pkg/f", "delete pkg; this deletes pkg/f"},
		{"rm -rf pkg", "ln -s .. up; rm up/tree/pkg/f", "delete pkg; this deletes pkg/f"},
		{"rm -rf pkg", "ln -s /repo/tree/pkg /tmp/q; rm /tmp/q/f", "delete pkg; this deletes pkg/f"},
		{"rm -rf pkg", "ln pkg/f g; : > g", "delete pkg; this overwrites pkg/f"},
		{"rm -rf pkg", "cp -l pkg/f g; truncate -s 0 g", "delete pkg; this overwrites pkg/f"},
		{"rm -rf pkg", "python3 -c \"import os; os.symlink('pkg','q'); os.remove('q/f')\"", "delete pkg; this deletes pkg/f"},
		{"rm -rf pkg", "rm topkg/f", "delete pkg; this deletes pkg/f"},
		{"rm -rf pkg", ": > topkg/f", "delete pkg; this overwrites pkg/f"},
		{"rm -rf pkg", "rm topkg/*", "delete pkg; this deletes pkg/*"},
		{"rm -rf topkg/f", "rm pkg/f", "delete pkg/f; this deletes pkg/f"},
		{"rm -rf pkg", "ln -s pkg q; rm q", ""},
		{"rm -rf pkg", "rm topkg", ""},
		{"rm -rf pkg", "ln pkg/f g; rm g", ""},
		// Programs that replace files, or whose files are not named.
		{"rm -rf pkg", "gzip pkg/f", "delete pkg; this deletes pkg/f"},
		{"rm -rf pkg", "xz -r pkg", "delete pkg; this deletes pkg"},
		{"rm -rf pkg", "zstd --rm pkg/f", "delete pkg; this deletes pkg/f"},
		{"rm -rf pkg", "7z a -sdel x.7z pkg", "delete pkg; this deletes pkg"},
		{"rm -rf pkg", "rename s/f/g/ pkg/f", "delete pkg; this deletes pkg/f"},
		{"rm -rf pkg", "tar --overwrite -xf x.tar", "delete pkg; this may overwrite files in ."},
		{"rm -rf pkg", "tar xf x.tar -C pkg", "delete pkg; this may overwrite files in pkg"},
		{"rm -rf pkg", "tar xf x.tar pkg/f", "delete pkg; this may overwrite pkg/f"},
		{"rm -rf pkg", "unzip -o x.zip", "delete pkg; this may overwrite files in ."},
		{"rm -rf pkg", "cpio -idu < x", "delete pkg; this may overwrite files in ."},
		{"rm -rf pkg", "patch -R -p1 < x.diff", "delete pkg; this may delete files in ."},
		{"rm -rf pkg", "patch -p1 <<'E'\n--- \"a/pkg/\\303\\274 f\"\t\n+++ /dev/null\n@@\nE", "delete pkg; this may delete files in pkg/ü f"},
		{"rm -rf pkg", "git apply -R x.diff", "delete pkg; this may delete files in ."},
		{"rm -rf pkg", "patch -p1 <<< $'--- a/pkg/f\\n+++ /dev/null\\n@@'", "delete pkg; this may delete pkg/f"},
		{"rm -rf pkg", "git apply -R <<< $'--- /dev/null\\n+++ b/pkg/f\\n@@'", "delete pkg; this may delete pkg/f"},
		{"rm -rf pkg", "cp -r x/. pkg", "delete pkg; this may overwrite files in pkg"},
		{"rm -rf pkg", "rsync -a x/ pkg/", "delete pkg; this may overwrite files in pkg"},
		{"rm -rf pkg", "rsync -a --remove-source-files pkg/ o/", "delete pkg; this may delete files in pkg"},
		{"rm -rf pkg", "git stash -u", "delete pkg; this may delete files in ."},
		{"rm -rf pkg", "go build -o pkg/f .", "delete pkg; this may overwrite pkg/f"},
		{"rm -rf pkg", "python3 -c \"import shutil; shutil.copy('x', 'pkg/f')\"", "delete pkg; this overwrites pkg/f"},
		{"dd if=x of=src/a.go", "tar xf x.tar", "overwrite src/a.go; this may overwrite files in ."},
		{"rm -rf pkg", "gzip -k pkg/f", ""},
		{"rm -rf pkg", "gzip -c pkg/f > g", ""},
		{"rm -rf pkg", "tar xkf x.tar", ""},
		{"rm -rf pkg", "tar xf x.tar other/g", ""},
		{"rm -rf pkg", "tar xf x.tar -C /tmp/x", ""},
		{"rm -rf pkg", "tar xf x.tar -C pkg/new", ""},
		{"rm -rf pkg", "git apply --check x.diff", ""},
		{"rm -rf pkg", "patch -p1 <<< $'--- a/pkg/f\\n+++ b/pkg/f\\n@@'", ""},
		{"rm -rf pkg", "cp -r src/. other", ""},
		{"rm -rf pkg", "git stash", ""},
		// Actions beside it, and actions that read, edit, add or copy, do not ask.
		{"rm -rf pkg", "rm pkgs/f", ""},
		{"rm -rf pkg", "rm f", ""},
		{"rm -rf pkg", "rm src/pkg", ""},
		{"rm -rf pkg", "cat pkg/f", ""},
		{"rm -rf pkg", "echo x > f", ""},
		{"rm -rf pkg", "echo x >> pkg/f", ""},
		{"rm -rf pkg", "echo x > pkg/new", ""},
		{"rm -rf pkg", "touch pkg/f", ""},
		{"rm -rf pkg", "mkdir -p pkg/sub", ""},
		{"rm -rf pkg", "sed -i s/a/b/ pkg/f", ""},
		{"rm -rf pkg", "gofmt -w pkg/f", ""},
		{"rm -rf pkg", "cp pkg/f g", ""},
		{"rm -rf pkg", "cp g pkg", ""},
		{"rm -rf pkg", "git commit -am x", ""},
		{"rm -rf pkg/*", "rm other", ""},
		{"rm -rf *.d", "rm a.c/f", ""},
		{"rm -rf *", "rm .hidden", ""},
		{"rm -rf pkg", "rm *.o", ""},
		{"rm -rf /tmp/x", "rm x", ""},
		{"rm -rf 'a*b'", "rm axb", ""},
		{"dd if=x of=src/a.go", "rm src/b.go", ""},
		{"dd if=x of=src/a.go", "cp x src/b.go", ""},
		{"git clean -fdx", "rm src/a.go", ""},
		{"git clean -fdx", "cp x built/y", ""},
		{"git clean -fd built", "rm other", ""},
		// A denial that was about something else denies no deletion.
		{"git push; rm f", "rm f", ""},
		{"curl -X POST -o f https://example.com", "cp x f", ""},
		{"rm -rf $X", "rm f", ""},
	} {
		p := place()
		f := *(p.Facts.(*facts))
		f.files = append(slices.Clone(f.files), "/repo/tree/pkg/f")
		f.missing = []string{"/repo/tree/pkg/new"}
		f.links = append(slices.Clone(f.links), "/repo/tree/topkg")
		f.leads = map[string]string{"/repo/tree/topkg": "/repo/tree/pkg"}
		p.Facts = folders{&f, "/repo/tree/pkg"}
		found := r.Classify(&Shell{Text: c.give}, p)
		before := len(found.Parts)
		found.Heed(deniedOf(t, r, c.denied, p), &p)
		if c.want == "" {
			if len(found.Parts) != before {
				t.Errorf("%q after %q: %q, want nothing", c.give, c.denied, found.Parts[0].Reason)
			}
			continue
		}
		at := slices.IndexFunc(found.Parts, func(p Part) bool { return p.Rule == deniedRule })
		if at < 0 {
			t.Errorf("%q after %q does not ask; losses %+v", c.give, c.denied, found.Losses)
			continue
		}
		if part := found.Parts[at]; part.Reason != "a3 was denied to "+c.want || part.Within || part.Operation != nil || found.Tier != Destructive {
			t.Errorf("%q after %q: %+v, want %q", c.give, c.denied, part, c.want)
		}
		if d := (&Authority{}).Decide(found, &p); d.Verdict != Ask {
			t.Errorf("%q after %q: %s", c.give, c.denied, d.Verdict)
		}
	}
}

// folders are facts with a folder.
type folders struct {
	*facts
	folder string
}

func (f folders) Path(file string) PathKind {
	if file == f.folder {
		return PathFolder
	}
	return f.facts.Path(file)
}

// A tool that writes a file edits it: only deleting asks after a denial.
func TestHeedTools(t *testing.T) {
	t.Parallel()
	r, p := load(t), place()
	deletes, overwrites := &Denied{Agent: "a3", Deletes: []string{"pkg"}}, &Denied{Agent: "a3", Overwrites: []string{"pkg/f"}}
	for _, c := range []struct {
		denied *Denied
		give   FileWrite
		asks   bool
	}{
		{deletes, FileWrite{Path: "pkg/f"}, false},
		{deletes, FileWrite{Path: "pkg/f", Removes: true}, true},
		{deletes, FileWrite{Path: "f", Cwd: "/repo/tree/pkg", Removes: true}, true},
		{deletes, FileWrite{Path: "other", Removes: true}, false},
		{overwrites, FileWrite{Path: "pkg/f"}, true},
		{overwrites, FileWrite{Path: "pkg/g"}, false},
	} {
		f := r.Classify(&c.give, p)
		f.Heed(c.denied, &p)
		if got := f.Tier == Destructive; got != c.asks {
			t.Errorf("%+v after %+v: asks %v, want %v", c.give, c.denied, got, c.asks)
		}
	}
}

// A text that is denied, and is tried again, asks with the denial as its
// reason.
func TestHeedSame(t *testing.T) {
	t.Parallel()
	r, p := load(t), place()
	for _, text := range []string{"rm -rf pkg", "rm -r a b/c /tmp/x", "find pkg -delete", "mv Jenkinsfile x"} {
		f := r.Classify(&Shell{Text: text}, p)
		f.Heed(deniedOf(t, r, text, p), &p)
		d := (&Authority{}).Decide(f, &p)
		if d.Verdict != Ask || !strings.HasPrefix(d.Reason, "a3 was denied to delete ") {
			t.Errorf("%s: %+v", text, d)
		}
	}
}

func TestMayBeName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"a*", "abc", true}, {"a*", "b", false}, {"*", "a", true}, {"*", ".a", false},
		{".*", ".a", true}, {"a*", "ab*", true}, {"a*", "b*", false}, {"{a,b}", "a", true}, {"x{a,b}", "y", false}, {`a\*`, "ab", false},
		{`a\*`, `a\*`, true}, {"[ab]", "a", true}, {"[ab", "a", true}, {"?", "ab", false},
	} {
		if got := mayBeName(c.a, c.b); got != c.want {
			t.Errorf("mayBeName(%q, %q) = %v, want %v", c.a, c.b, got, c.want)
		}
		if got := mayBeName(c.b, c.a); got != c.want {
			t.Errorf("mayBeName(%q, %q) = %v, want %v", c.b, c.a, got, c.want)
		}
	}
}
