package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// ground is the folder that all happens in.
type ground struct {
	dir     string
	source  string // the repository that was cloned
	env     []string
	git     *git.Git
	version string
	repo    *git.Repo // the clone
	base    git.Hash
	count   int   // files of the base
	size    int64 // bytes of a checkout
	stride  int   // between the files that were chosen
	files   []string
	patches []git.Hash // with a single file each, in the order of files
	packed  []string   // files of packs that were there before swarm was
	plain   *git.Repo  // a linked worktree, for the baseline
}

// line is the text that is added to a file.
const line = "swarm bench\n"

// newGround makes the folder.
func newGround(ctx context.Context, r Request) (*ground, error) {
	if r.Repo.TopLevel != "" && within(r.Repo.TopLevel, r.Dir) || within(r.Repo.CommonDir, r.Dir) {
		return nil, &RefusedError{
			Text:   fmt.Sprintf("%s lies inside of the repository", r.Dir),
			Advice: "name a folder outside of it with --dir",
		}
	}
	base, err := r.Repo.Commit(ctx, "HEAD")
	if err != nil {
		return nil, &RefusedError{Text: "HEAD has no commit yet: there is nothing to measure on"}
	}
	size, err := worktree.CheckoutSize(ctx, r.Repo, base)
	if err != nil {
		return nil, err
	}
	objects, err := diskUsage(filepath.Join(r.Repo.CommonDir, "objects"))
	if err != nil {
		return nil, err
	}
	free, err := worktree.Free(r.Dir)
	if err != nil {
		return nil, err
	}
	// The clone, two worktrees, a base for each backend, and the runs of the
	// backend that makes whole checkouts.
	if need := objects + size*int64(5+r.Sample); free < need {
		return nil, &RefusedError{
			Text:   fmt.Sprintf("%s has %d MiB free and %d are needed", r.Dir, free>>20, need>>20),
			Advice: "name a folder with more room with --dir, or take a smaller --sample",
		}
	}
	dir, err := os.MkdirTemp(r.Dir, "swarm-bench-")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	g := &ground{dir: dir, base: base, size: size, source: r.Repo.CommonDir}
	if !r.Repo.Bare() {
		g.source = r.Repo.TopLevel
	}
	return g, nil
}

func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// environ is the caller's environment with everything that leads to files of
// the user's led elsewhere. Each backend has a state of its own.
func (g *ground) environ(b worktree.Backend) []string {
	return append(slices.Clone(g.env), "SWARM_STATE_DIR="+g.stateOf(b))
}

func (g *ground) stateOf(b worktree.Backend) string { return filepath.Join(g.dir, "state-"+string(b)) }

// fill makes the clone, and patches to be merged.
func (g *ground) fill(ctx context.Context, r Request) error {
	for _, kv := range r.Environ {
		key, _, _ := strings.Cut(kv, "=")
		if key != "HOME" && !strings.HasPrefix(key, "XDG_") && !strings.HasPrefix(key, "SWARM_") && !strings.HasPrefix(key, "GIT_") {
			g.env = append(g.env, kv)
		}
	}
	home, sockets, clone := filepath.Join(g.dir, "home"), filepath.Join(g.dir, "run"), filepath.Join(g.dir, "repo")
	g.env = append(g.env, "HOME="+home, "XDG_RUNTIME_DIR="+sockets, "GIT_CONFIG_NOSYSTEM=1")
	person := "[user]\n\tname = bench\n\temail = bench@localhost\n"
	err := errors.Join(os.Mkdir(home, 0o700), os.Mkdir(sockets, 0o700),
		os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(person), 0o600))
	if err != nil {
		return err
	}
	r.Say("clone into " + g.dir)
	// By the user's own git, which may be told that this folder is safe. The
	// files are copied: a hard link would be a change of the user's.
	_, err = r.Repo.Git.Run(ctx, git.Cmd{
		Dir: g.dir, Args: []string{"clone", "--quiet", "--no-hardlinks", "--no-checkout", "--template=", "--", g.source, clone},
	})
	if err != nil {
		return err
	}
	g.git = git.New(g.env)
	if r.Keeper != nil {
		g.git.Keep(r.Keeper)
	}
	if g.version, err = g.git.Version(ctx); err != nil {
		return err
	}
	if g.repo, err = g.git.Discover(ctx, clone); err != nil {
		return err
	}
	if err := g.run(ctx, g.repo, "checkout", "--quiet", "-B", "bench", string(g.base)); err != nil {
		return err
	}
	// Commands of the project's own are none of the bench's.
	if err := os.RemoveAll(filepath.Join(clone, ".swarm")); err != nil {
		return err
	}
	if err := g.choose(ctx, r.Agents); err != nil {
		return err
	}
	if err := g.makePatches(ctx); err != nil {
		return err
	}
	g.packed, err = g.packs()
	return err
}

// packs are the files of the clone's packs.
func (g *ground) packs() ([]string, error) {
	return below(filepath.Join(g.repo.CommonDir, "objects", "pack"))
}

// below returns the paths in a folder; none if the folder does not exist.
func below(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []string
	for _, e := range entries {
		all = append(all, filepath.Join(dir, e.Name()))
	}
	return all, err
}

// run runs git where its output is of no interest.
func (g *ground) run(ctx context.Context, repo *git.Repo, args ...string) error {
	_, err := repo.Run(ctx, git.Cmd{Args: args, Writes: true})
	return err
}

// plainName is a path that needs no quotes anywhere.
func plainName() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_./-]+$`) }

// choose picks a file for each agent, all over the tree.
func (g *ground) choose(ctx context.Context, n int) error {
	all, err := g.repo.Tree(ctx, g.base)
	if err != nil {
		return err
	}
	g.count = len(all)
	simple := plainName()
	var fit []string
	for _, e := range all {
		if e.Mode == "100644" && simple.MatchString(e.Path) && !strings.HasPrefix(e.Path, ".") {
			fit = append(fit, e.Path)
		}
	}
	g.stride = max(1, len(fit)/n)
	for i := g.stride - 1; i < len(fit) && len(g.files) < n; i += g.stride {
		g.files = append(g.files, fit[i])
	}
	for i := 1; len(g.files) < n; i++ {
		if made := fmt.Sprint("swarm-bench-", i); !slices.Contains(fit, made) {
			g.files = append(g.files, made)
		}
	}
	return nil
}

// makePatches makes a commit on the base for each file.
func (g *ground) makePatches(ctx context.Context) error {
	var stream bytes.Buffer
	for i, file := range g.files {
		text, err := g.repo.File(ctx, g.base, file)
		var missing *git.Error
		if err != nil && !errors.As(err, &missing) {
			return err
		}
		text = append(text, line...)
		fmt.Fprintf(&stream, "commit %s\nmark :%d\ncommitter bench <bench@localhost> 1700000000 +0000\ndata 6\npatch\n\nfrom %s\n",
			patchRef(i), i+1, g.base)
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\nget-mark :%d\n", file, len(text), text, i+1)
	}
	out, err := g.repo.Run(ctx, git.Cmd{
		Args: []string{"fast-import", "--quiet", "--force", "--cat-blob-fd=1"}, Stdin: &stream, Writes: true,
	})
	if err != nil {
		return err
	}
	for id := range strings.FieldsSeq(string(out)) {
		g.patches = append(g.patches, git.Hash(id))
	}
	if len(g.patches) != len(g.files) {
		return fmt.Errorf("%d patches were made of %d", len(g.patches), len(g.files))
	}
	return nil
}

func patchRef(i int) string { return fmt.Sprint("refs/bench/", i+1) }

// diskUsage returns the disk use of a folder, in bytes. A file with several
// names is counted once, and a file that vanishes meanwhile not at all.
func diskUsage(dir string) (int64, error) {
	var sum int64
	type file struct{ dev, ino uint64 }
	seen := map[file]bool{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		// The folder below an overlay's work folder cannot be read.
		if err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
		var s unix.Stat_t
		if err := unix.Lstat(path, &s); err != nil {
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
				return nil
			}
			return &os.PathError{Op: "measure", Path: path, Err: err}
		}
		if id := (file{uint64(s.Dev), s.Ino}); !seen[id] {
			seen[id] = true
			sum += s.Blocks * 512
		}
		return nil
	})
	return sum, err
}
