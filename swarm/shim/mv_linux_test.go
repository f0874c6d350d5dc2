package shim

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/box"
)

// stage is where scenes play.
type stage struct {
	base           string // a repository
	plain, shimmed []string
}

// newStage makes a repository by a script.
func newStage(t *testing.T, script string) *stage {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"base", "home"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := &stage{base: filepath.Join(dir, "base")}
	home, path := filepath.Join(dir, "home"), os.Getenv("PATH")
	s.plain = environ(path, home)
	s.shimmed = environ(shimmed(t, dir)+":"+path, home, "SWARM_WORKSPACE=overlay")
	must(t, s.base, "set -e\ngit init -q -b main\n"+script+"\ngit add -A\ngit commit -qm base", s.plain)
	return s
}

// plainly plays a scene in a copy of the repository, with git alone.
func (s *stage) plainly(t *testing.T, prepare, call string) seen {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "at")
	must(t, filepath.Dir(dir), "cp -a '"+s.base+"' at", s.plain)
	got, err := play(scene{Dir: dir, Prepare: prepare, Call: call, Plain: s.plain, Shimmed: s.plain})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// overlay plays it on an overlay, with the shim.
func (s *stage) overlay(t *testing.T, prepare, call string, more ...box.Piece) seen {
	t.Helper()
	return overlaid(t, s.base, scene{Prepare: prepare, Call: call, Plain: s.plain, Shimmed: s.shimmed}, more...)
}

// same fails unless a scene ends on an overlay as it does elsewhere.
func (s *stage) same(t *testing.T, prepare, call string) {
	t.Helper()
	want, got := s.plainly(t, prepare, call), s.overlay(t, prepare, call)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\n%s\non an overlay, and not elsewhere\n%s\nelsewhere, and not there\n%s",
			prepare, call, show(got, want), show(want, got))
	}
}

// show returns the lines that a scene has and another has not.
func show(s, but seen) string {
	lines := func(s seen) []string {
		said := strings.ReplaceAll(fmt.Sprintf("%+v", s.Said), `\n`, `\x00`)
		text := fmt.Sprintf(`%s\x00%s\x00%s`, said, s.Status, s.Index)
		return append(strings.Split(text, `\x00`), s.Files...)
	}
	others := lines(but)
	return strings.Join(slices.DeleteFunc(lines(s), func(l string) bool { return slices.Contains(others, l) }), "\n")
}

const plainBase = `mkdir -p d/sub/deep e
for f in d/a d/b d/c d/sub/x d/sub/y d/sub/deep/z e/1 top; do echo "$f" >"$f"; done
echo odd >"d/odd
name"; echo blank >'d/ blank '; echo dash >d/-dash; echo star >'d/*'; printf x >"$(printf 'd/\377')"
mkdir d/:colon; echo c >d/:colon/c
echo run >d/run; chmod 755 d/run
ln -s a d/link; ln -s sub d/folder; ln -s d dl
echo '*.ign' >.gitignore`

// worked is possible earlier work of an agent.
const worked = `echo staged >d/a; git add d/a; echo more >>d/a
echo u >d/untracked; echo i >d/i.ign; mkdir -p d/empty d/own/deep t; echo n >d/own/deep/f; git add d/own
git update-index --assume-unchanged d/b; echo ita >d/ita; git add -N d/ita; chmod 750 d/sub
git rm -q --cached d/c; mkfifo d/fifo; chmod 755 d/sub/x`

func TestGitAloneCannot(t *testing.T) {
	t.Parallel()
	s := newStage(t, plainBase)
	s.shimmed = s.plain
	got := s.overlay(t, "", "git mv d n")
	if got.Said.Code != 128 || !strings.Contains(got.Said.Err, "cross-device") {
		t.Errorf("git mv of a folder on an overlay = %+v, want it refused: nothing else here tests anything", got.Said)
	}
}

func TestMove(t *testing.T) {
	t.Parallel()
	s := newStage(t, plainBase)
	for _, tt := range []struct{ name, prepare, call string }{
		{"to a new name", worked, "git mv d n"},
		{"untouched", "", "git mv d n"},
		{"into a folder", worked, "git mv d e"},
		{"below a folder", worked, "git mv d e/n"},
		{"within its parent", worked, "git mv d/sub d/sub2"},
		{"up", worked, "git mv d/sub ."},
		{"with slashes", worked, "git mv d/ n/"},
		{"with dots", worked, "git mv ./d/../d e/../n"},
		{"several", worked, "git mv d e top t"},
		{"several, told", worked, "git mv -v d/sub e t"},
		// A change that only its content tells, and only as long as the index is
		// not younger than the file.
		{"an unseen change", `git config core.checkStat minimal; git config core.trustctime false
touch -d 2001-01-01 top d/a; git add -A; echo TOP >top; echo D/A >d/a; touch -d 2001-01-01 top d/a .git/index`, "git mv d n"},
		{"told", worked, "git mv --verb d n"},
		{"with dashes", worked, "git mv -- d n"},
		{"options last", worked, "git mv d n -f"},
		{"from below", worked, "cd d/sub && git mv deep ../../n"},
		{"of elsewhere", worked, "git -C d -c core.quotePath=false mv sub ../n"},
		{"by its whole path", worked, `git mv "$PWD/d" "$PWD/n"`},
		{"by another path", worked, `ln -s .. t/way; git mv "$PWD/t/way/d" n`},
		{"literally", worked, "git --literal-pathspecs mv d/:colon ':(top)x'"},
		{"odd", `mkdir -- "-x
 y"; git mv top -- "-x
 y"`, `git mv -- "-x
 y" "d/ blank" t2 2>&1; git mv -- "-x
 y" "$(printf 'n\377')"`},
		{"that it made", "mkdir -p own/sub; echo 1 >own/sub/1; git add own", "git mv own n && git mv e n"},
		{"twice", worked, "git mv d n && git mv n d"},
		{"a link to a folder", worked, "git mv dl n"},
		{"files only", worked, "git mv d/a top e && git mv -f d/sub/x e/1"},
		{"with its own index", worked + "\ncp .git/index .git/own", "export GIT_INDEX_FILE=.git/own; git mv d n; git ls-files -s; git status --porcelain"},
		{"with its own work tree", worked, `git --work-tree="$PWD" --git-dir=.git mv d n`},
		{"without permission inside", "chmod 500 d/sub d/sub/deep", "git mv d n; chmod 700 n/sub n/sub/deep"},
		{"an embedded repository", "git init -q d/repo; git -C d/repo commit -q --allow-empty -m x", "git mv d n; git -C n/repo log --format=%s"},
		{"a folder in place of a file", "rm d/a; mkdir d/a; echo x >d/a/x", "git mv d n"},
		{"a link in place of a folder", "mv d/sub other; ln -s ../other d/sub", "git mv d n"},
		{"new and gone", "rm -r e; git rm -rq d/sub; mkdir e; echo 2 >e/2; git add e/2; git rm -q --cached e/1", "git mv e d/sub"},

		{"not over a folder", worked + "\nmkdir e/d", "git mv -f d e"},
		{"not what it does not know", "mkdir own; echo >own/1", "git mv own n"},
		{"not with a file missing", "rm d/sub/x", "git mv d n"},
		{"not while locked", "touch .git/index.lock", "git mv d n 2>/dev/null; rm .git/index.lock"},

		{"but the rest", worked, "git mv -k d gone d/untracked t"},
		{"but nothing", worked, "git mv -k d d/sub; git mv -k d top"},
		{"but what would meet", worked + "\nmkdir t/sub", "git mv -k d/sub e t"},
		{"but a file that is missing", "rm d/sub/x", "git mv -kv d n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s.same(t, tt.prepare, tt.call)
		})
	}
}

// TestMoveRefused: a call that git refuses is refused in git's words, and
// nothing moves.
func TestMoveRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t, plainBase)
	var script strings.Builder
	script.WriteString("exec 2>&1\nmkdir e/d\n")
	for _, call := range []string{
		"git mv -n d n", "git mv -nf d n", // asked only
		"git mv d d/sub", "git mv d d/n", "git mv d .", "git mv d d e", // onto itself
		"git mv d top", "git mv -f d top", "git mv -f d e", // onto others
		"git mv d e n", "git mv d n/n", "git mv d n/ gone e", "git mv t n", "git mv d/own/../untracked e/1", // missing
		"git mv d ../n 2>/dev/null", "git mv . e", "git mv .. e 2>/dev/null", "git mv d /n 2>/dev/null", // outside
		"git mv", "git mv d", "git mv d ''", "git mv '' d", "git mv --what d n", "git mv -x d n", "git mv --no-force d n; git mv n d", "git mv -h", // odd
		"git mv -k d d/sub", "git mv -k d top", "git mv -k t n", "git mv -k d e",
	} {
		fmt.Fprintf(&script, "echo '%s'; %s; echo $?\n", strings.ReplaceAll(call, "'", ""), call)
	}
	s.same(t, worked, script.String())
}

// TestMoveRandomly compares random trees, edits and moves.
func TestMoveRandomly(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 5)) // the same each time
			names := []string{"a", "b", "c d", "é", "-", "x'y", ":z"}
			folder := func() string {
				path := "."
				for range 1 + r.IntN(3) {
					path += "/" + names[r.IntN(len(names))]
				}
				return quote(path)
			}
			file := func() string { return strings.TrimSuffix(folder(), "'") + fmt.Sprintf("/f%d'", r.IntN(3)) }
			// Impossible cases, such as a file in a file, are left out.
			script := func(n int, lines ...func() string) string {
				var all []string
				for range n {
					all = append(all, "{ "+lines[r.IntN(len(lines))]()+"; } 2>/dev/null || :")
				}
				return strings.Join(all, "\n")
			}
			made := func() string {
				f := file()
				return fmt.Sprintf("mkdir -p -- \"$(dirname -- %s)\" && echo %d >%s", f, r.IntN(5), f)
			}
			s := newStage(t, "echo '*2' >.gitignore\n"+script(40, made))
			prepare := script(25, made,
				func() string { return "git add -- " + file() },
				func() string { return "git add -f -- " + folder() },
				func() string { return "rm -r -- " + folder() },
				func() string { return "git rm -q --cached -- " + file() },
				func() string { return "chmod 700 -- " + file() },
				func() string { return "mkdir -p -- " + folder() },
				func() string { f := file(); return "rm -- " + f + " && ln -s a " + f },
				func() string { return "mv -- " + folder() + " " + folder() },
				func() string { return "git update-index --assume-unchanged -- " + file() },
			)
			flags := []string{"", "-f", "-k", "-v", "-kv"}
			var calls []string
			for range 8 {
				to := folder()
				calls = append(calls, "mkdir -p -- \"$(dirname -- "+to+")\" 2>/dev/null",
					"git mv "+flags[r.IntN(len(flags))]+" -- "+folder()+" "+to+"; echo $?")
			}
			// The error of git for a name it cannot make has the text of the
			// system.
			s.same(t, prepare, "{ "+strings.Join(calls, "\n")+"\n} 2>&1 | sed 's/failed:.*//'")
		})
	}
}

// TestMoveGoesBack: a move that fails leaves all as it was.
func TestMoveGoesBack(t *testing.T) {
	t.Parallel()
	s := newStage(t, plainBase)
	for _, tt := range []struct {
		name, prepare, call, words string
		more                       []box.Piece
	}{
		{
			name: "a mount inside", prepare: worked, call: "git mv e d t",
			words: "renaming 'd' failed", more: []box.Piece{{At: "d/sub/mounted", Scratch: true}},
		},
		{
			// The third git that it starts changes the index.
			name: "the index", prepare: worked + `
mkdir .git/first; cat >.git/first/git <<'END'
#!/bin/sh
case $GIT_WORK_TREE:$* in *swarm-mv-*mv*) echo no index today >&2; exit 9 ;; esac
PATH=${PATH#*/first:} exec git "$@"
END
chmod 700 .git/first/git`,
			call:  `PATH=${PATH%%:*}:$PWD/.git/first:${PATH#*:} git mv d e t`,
			words: "no index today",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := s.overlay(t, tt.prepare, ":", tt.more...)
			got := s.overlay(t, tt.prepare, tt.call, tt.more...)
			if got.Said.Code == 0 || !strings.Contains(got.Said.Err, tt.words) {
				t.Errorf("%s = %+v, want %q", tt.call, got.Said, tt.words)
			}
			want.Said = got.Said
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s\nleaves\n%s\nwant\n%s", tt.call, show(got, want), show(want, got))
			}
		})
	}
}

// TestMoveHalf has faults that git finds after it has moved something, or
// changed its index although nothing moved.
func TestMoveHalf(t *testing.T) {
	t.Parallel()
	s := newStage(t, plainBase)
	const meets = "mkdir -p t e/sub; echo 1 >e/sub/1; git add e"
	for _, tt := range []struct {
		name, prepare, call, instead string
		code                         int
	}{
		{"no parent", worked, "git mv -kf d n/n", ":", 0},
		{"folders that meet", meets, "git mv d/sub e/sub t", ":", 128},
		{"folders that meet, but the rest", meets, "git mv -k d/sub e/sub t", "git mv d/sub t", 0},
		{"what is in another", worked, "git mv d/sub d t", ":", 128},
		{"what is in another, but the rest", worked, "git mv -k d d/sub e/1 e t", "git mv d e t", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want, got := s.overlay(t, tt.prepare, tt.instead), s.overlay(t, tt.prepare, tt.call)
			if got.Said.Code != tt.code {
				t.Errorf("%s = %+v, want code %d", tt.call, got.Said, tt.code)
			}
			want.Said = got.Said
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s leaves\n%s\nwant\n%s", tt.call, show(got, want), show(want, got))
			}
		})
	}
}

// TestMoveLeft has calls that are left to git.
func TestMoveLeft(t *testing.T) {
	t.Parallel()
	s := newStage(t, plainBase)
	for _, tt := range []struct{ name, prepare string }{
		{"a submodule", `git init -q d/m; git -C d/m commit -q --allow-empty -m x; git -c advice.addEmbeddedRepo=false add d/m`},
		{"the sparse", "git update-index --skip-worktree d/a"},
		{"a conflict", `h=$(git hash-object -w top); git rm -q --cached d/a; printf '100644 %s 1\td/a\n100644 %s 2\td/a\n' "$h" "$h" | git update-index --index-info`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := s.overlay(t, tt.prepare, ":")
			got := s.overlay(t, tt.prepare, "git mv d n")
			if got.Said.Code == 0 {
				t.Errorf("git mv of a folder with %s worked: is it still left to git?", tt.name)
			}
			want.Said = got.Said
			if !reflect.DeepEqual(got, want) {
				t.Errorf("leaves\n%s\nwant\n%s", show(got, want), show(want, got))
			}
		})
	}
}

// TestMoveLeavesNothing: no folder of empty files is left, and those that moved
// have their times.
func TestMoveLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, plainBase)
	got := s.overlay(t, "touch -d 2001-02-03T04:05:06Z d/sub d; mkdir .git/tmp",
		"TMPDIR=$PWD/.git/tmp git mv d n; stat -c %Y n n/sub; ls .git/tmp; TMPDIR=$PWD/.git/tmp git mv n/sub top; ls .git/tmp")
	if want := `"981173106\n981173106\n"`; got.Said.Out != want {
		t.Errorf("git mv = %+v, want %s", got.Said, want)
	}
}
