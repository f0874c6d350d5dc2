package worktree

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"agentswarm/internal/testing/campaign"
	"agentswarm/worktree/git"
)

// envWorker makes this test binary a second swarm process: it holds the
// worker's input as JSON.
const envWorker = "WORKTREE_TEST_WORKER"

type workerSpec struct {
	Root, Frozen, State, Run string
	Env                      []string
	Base                     git.Hash
	Workspaces               int
}

// TestWorker is a process of [TestMany].
func TestWorker(t *testing.T) {
	text := os.Getenv(envWorker)
	if text == "" {
		t.Skip("run by TestMany")
	}
	var s workerSpec
	must(t, json.Unmarshal([]byte(text), &s))
	repo, err := git.New(s.Env).Discover(t.Context(), s.Root)
	must(t, err)
	trees, err := New(Config{
		Repo: repo, Frozen: repo.Thaw(s.Frozen), Dir: filepath.Join(s.State, "trees", s.Run),
		Trash: filepath.Join(s.State, "trash"), LockFile: filepath.Join(s.State, "worktrees.lock"),
	})
	must(t, err)
	group, ctx := errgroup.WithContext(t.Context())
	for i := range s.Workspaces {
		group.Go(func() error {
			dir := filepath.Join(s.State, s.Run, strconv.Itoa(i))
			w, err := trees.Lease(ctx, LeaseRequest{
				Name: fmt.Sprintf("a%d.1", i), Base: s.Base, Saved: filepath.Join(dir, "index"),
			})
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(w.Dir, "mine"), []byte(w.Name), 0o600); err != nil {
				return err
			}
			ref := "refs/swarm/" + s.Run + "/a/" + w.Name
			c, err := trees.Capture(ctx, CaptureRequest{
				Workspace: *w, Objects: filepath.Join(dir, "objects"), Ref: ref,
				HeadRef: ref + ".head", PatchFile: filepath.Join(dir, "patch"),
			})
			if err != nil {
				return err
			}
			if len(c.Files) != 1 || c.Files[0].Path != "mine" || !c.Complete {
				return fmt.Errorf("%s captured %+v", w.Name, c)
			}
			r, err := trees.Release(ctx, *w, c)
			if err == nil && r != (Released{}) {
				err = fmt.Errorf("%s was kept: %+v", w.Name, r)
			}
			return err
		})
	}
	must(t, group.Wait())
}

// TestMany makes, captures and releases workspaces from two processes at
// once, which must see no error of git's.
func TestMany(t *testing.T) {
	files, workspaces := campaign.Rounds(t, 100, 10_000), campaign.Rounds(t, 4, 50)
	rounds := campaign.Rounds(t, 1, 2)
	f := newFixture(t)
	for i := range files {
		f.write(f.root, fmt.Sprintf("d%d/e%d/f%d.txt", i%20, i%100, i), strings.Repeat(fmt.Sprintln(i), 100))
	}
	base := f.commit()
	f.open()
	before := f.side()
	began := time.Now()
	for round := range rounds {
		group, ctx := errgroup.WithContext(t.Context())
		for _, p := range []string{"p", "q"} {
			spec, err := json.Marshal(workerSpec{
				Root: f.root, Frozen: f.frozen.Dir, State: f.state, Run: fmt.Sprintf("%s%d", p, round),
				Env: f.environ(), Base: base, Workspaces: workspaces,
			})
			must(t, err)
			group.Go(func() error {
				cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestWorker$", "-test.count=1")
				cmd.Env = append(os.Environ(), envWorker+"="+string(spec))
				out, err := cmd.CombinedOutput()
				if err != nil {
					return fmt.Errorf("%w\n%s", err, out)
				}
				return nil
			})
		}
		must(t, group.Wait())
	}
	n := 2 * workspaces * rounds
	t.Logf("%d workspaces of %d files in %v", n, files, time.Since(began).Round(time.Millisecond))
	if got := len(strings.Fields(f.git("for-each-ref", "--format=%(refname)", "refs/swarm"))); got != n {
		t.Errorf("%d refs, want %d", got, n)
	}
	if got := f.git("worktree", "list", "--porcelain"); strings.Count(got, "worktree ") != 1 {
		t.Errorf("left registrations: %s", got)
	}
	if after := f.side(); after != before {
		t.Errorf("the user's side changed from\n%s\nto\n%s", before, after)
	}
}
