package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// spoil does all the harm it can to the registration of a linked worktree, and
// to the files that it shares with its repository.
const spoil = `admin=$(git rev-parse --git-dir) common=$(git rev-parse --path-format=absolute --git-common-dir)
mkdir -p evil/refs evil/objects; echo 'ref: refs/heads/main' > evil/HEAD; printf '[core]\n\tfsmonitor = false\n' > evil/config
for name in gitdir commondir locked; do rm -f "$admin/$name"; echo "$PWD/evil" > "$admin/$name"; mv evil/HEAD "$admin/$name"; done
rm -rf "$common"/objects/pack/* "$common/objects/info"; echo /nowhere > "$common/objects/info/alternates"
case $1 in
pipe) rm -f "$admin/HEAD" "$admin/index"; mkfifo "$admin/HEAD" "$admin/index";;
link) ln -sf "$HOME/.gitconfig" "$admin/HEAD";;
gone) rm -rf "$admin"/*;;
esac
echo done > work
`

// TestSharedWithWorktree has an agent in a linked worktree spoil all it can of
// the repository. Its work is captured, and the registration is removed. The
// state that the user's git needs does not change.
func TestSharedWithWorktree(t *testing.T) {
	t.Parallel()
	walls := behindWalls(t, "worktree")
	y := newFixture(t)
	y.git("repack", "-q", "-a", "-d") // as a clone is
	before := y.theirs()
	for _, how := range []string{"pipe", "link", "gone"} {
		got := y.swarm(walls, "run", "--timeout", "60s", "--", "sh", "-c", spoil+"exit 0", "sh", how)
		if got.code != 0 {
			t.Fatalf("%s: run ended with %d: %s", how, got.code, got.stderr)
		}
		if got := y.swarm(walls, "diff", "a1"); !strings.Contains(got.stdout, "+done") {
			t.Errorf("%s: captured %q", how, got.stdout)
		}
		if got := y.git("worktree", "list"); strings.Contains(got, "\n") {
			t.Errorf("%s: the registration is still there: %s", how, got)
		}
		y.git("fsck", "--connectivity-only")
		if _, err := os.Lstat(filepath.Join(y.repo, ".git", "objects", "info", "alternates")); err == nil {
			t.Errorf("%s: git looks for objects elsewhere now", how)
		}
		if after := y.theirs(); after != before {
			t.Errorf("%s: the repository is\n%s\nwas\n%s", how, after, before)
		}
	}
}

// TestSayingRenameFailed: an agent says that a rename failed in its overlay. It
// is not tried again where it could harm the repository.
func TestSayingRenameFailed(t *testing.T) {
	t.Parallel()
	walls := behindWalls(t, "overlay")
	y := newFixture(t)
	before := y.theirs()
	got := y.swarm(walls, "run", "--", "sh", "-c", `test "$SWARM_ATTEMPT" = 2 || { echo EXDEV; exit 1; }
		common=$(git rev-parse --path-format=absolute --git-common-dir)
		rm -rf "$common"/objects/?? "$common"/objects/pack/* "$common/objects/info"/*
		echo "as $SWARM_WORKSPACE"; mv pkg moved`)
	if got.code != 0 || !strings.Contains(got.stderr, "tried again in a whole checkout") {
		t.Fatalf("run ended with %d: %s", got.code, got.stderr)
	}
	// A copy is of clones where the file system can make them.
	got = y.swarm(walls, "logs", "--raw", "a1")
	if !strings.Contains(got.stdout, "as reflink") && !strings.Contains(got.stdout, "as copy") {
		t.Errorf("the second attempt ran %q", got.stdout)
	}
	y.git("fsck", "--connectivity-only")
	if after := y.theirs(); after != before {
		t.Errorf("the repository is\n%s\nwas\n%s", after, before)
	}
}
