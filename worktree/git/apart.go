package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Confine runs a command inside the caller's limits, such as a sandbox. It
// returns the exit code once all processes of the command have ended. The end
// of ctx ends the command. An error means that the command did not run to its
// end.
type Confine func(context.Context, ConfineRequest) (code int, err error)

// ConfineRequest is such a command. Its files are absolute paths.
type ConfineRequest struct {
	Argv []string // required
	Env  []string // all of it
	Dir  string   // required

	Stdin  string // a file
	Stdout string // a file that is not there yet
	Stderr string // likewise

	Read     []string // folders that it must see
	Write    []string // folders that it may change, and must see
	Programs []string // that it may start, wherever they lie

	// Private is the path of a folder for whatever else it writes to. The
	// caller removes it.
	Private string
}

// Apart runs git where a filter of the user reads untrusted files. Such a git
// can change a single folder of ours, with an index and objects of its own.
// Afterwards only [Apart.Index] and [Apart.Take] read from the folder, and they
// check that the content is well-formed.
type Apart struct {
	q *Quarantine
	ApartRequest
	runs   int
	failed bool
}

// ApartRequest configures such a git.
type ApartRequest struct {
	Dir     string  // required; made anew
	Confine Confine // required
	Index   string  // required; is copied

	Config   []string // "key=value"
	Read     []string // more folders that it sees
	Write    []string // and that it may change
	Programs []string // that filters are, where they have absolute names
}

// Apart makes the folder. The caller removes it, by a means that removes
// folders of any mode.
func (q *Quarantine) Apart(r ApartRequest) (*Apart, error) {
	a := &Apart{q: q, ApartRequest: r}
	err := errors.Join(os.MkdirAll(a.outputDir(), 0o700), q.repo.makeQuarantine(a.objects()))
	var text []byte
	if err == nil {
		text, err = os.ReadFile(r.Index)
	}
	if err == nil {
		err = os.WriteFile(a.index(), text, 0o600)
	}
	if err == nil {
		var at fs.FileInfo
		if at, err = os.Stat(r.Index); err == nil {
			// How old it is decides whether git compares contents.
			err = os.Chtimes(a.index(), at.ModTime(), at.ModTime())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("make a folder for filters: %w", err)
	}
	return a, nil
}

// Work is the folder that the git, and the filters it runs, can change.
func (a *Apart) Work() string { return filepath.Join(a.Dir, "work") }

func (a *Apart) objects() string { return filepath.Join(a.Work(), "objects") }
func (a *Apart) index() string   { return filepath.Join(a.Work(), "index") }

// outputDir is the folder of git's input and output. No filter sees it.
func (a *Apart) outputDir() string { return filepath.Join(a.Dir, "said") }

// Run is [Quarantine.Run] on the index and the objects here.
func (a *Apart) Run(ctx context.Context, c Cmd) (_ []byte, err error) {
	a.runs++
	n := strconv.Itoa(a.runs)
	file := func(kind string) string { return filepath.Join(a.outputDir(), n+"."+kind) }
	if err := writeFrom(file("in"), c.Stdin); err != nil {
		return nil, fmt.Errorf("run git %s: %w", c.Args[0], err)
	}
	c.Writes = true
	c.Config = append(slices.Clone(a.Config), c.Config...)
	c.Env = slices.Concat(a.q.env, []string{
		"GIT_OBJECT_DIRECTORY=" + a.objects(), "GIT_INDEX_FILE=" + a.index(),
	}, c.Env)
	git := a.q.repo.Git
	code, err := a.Confine(ctx, ConfineRequest{
		Argv: append([]string{git.binary}, git.arguments(c)...),
		Env:  lastOf(slices.Concat(git.env, c.Env)), Dir: c.Dir,
		Stdin: file("in"), Stdout: file("out"), Stderr: file("err"),
		Read: a.Read, Write: append([]string{a.Work()}, a.Write...), Programs: a.Programs,
		Private: filepath.Join(a.Dir, "private-"+n),
	})
	git.blame(ctx, err)
	if ctx.Err() != nil && (err != nil || code != 0) {
		return nil, fmt.Errorf("git %s: %w", c.Args[0], context.Cause(ctx))
	}
	if err != nil {
		return nil, fmt.Errorf("run git %s: %w", c.Args[0], err)
	}
	var out bytes.Buffer
	if c.Stdout == nil {
		c.Stdout = &out
	}
	var words ends
	err = errors.Join(readInto(c.Stdout, file("out")), readInto(&words, file("err")))
	said := words.String()
	a.failed = a.failed || failedFilter(said)
	if err == nil && code != 0 {
		err = &Error{Args: c.Args, Code: code, Stderr: said}
	}
	return out.Bytes(), err
}

// failedFilter reports whether git's stderr, under LC_ALL=C, tells of a failed
// filter. Each of git's messages about filters has one of these words.
func failedFilter(said string) bool {
	return strings.Contains(said, "external filter") || strings.Contains(said, "subprocess '")
}

// Failed reports whether a filter has failed that need not succeed: git then
// takes a file as it is.
func (a *Apart) Failed() bool { return a.failed }

// Index is the index as it is now.
func (a *Apart) Index() ([]IndexEntry, error) {
	root, err := os.OpenRoot(a.Work())
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := openRegular(root, filepath.Base(a.index()))
	if err != nil {
		return nil, fmt.Errorf("read what git made apart: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxApartIndex+1))
	if err == nil && len(text) > maxApartIndex {
		err = &IndexError{Reason: "too long"}
	}
	if err != nil {
		return nil, fmt.Errorf("read what git made apart: %w", err)
	}
	return a.q.repo.ParseIndex(text)
}

// maxApartIndex bounds the bytes read into memory: an index of millions of
// files is smaller.
const maxApartIndex = 1 << 30

// Take stores blobs in the quarantine and names each by its content. It returns
// an error if a requested blob is missing.
func (a *Apart) Take(ctx context.Context, ids []Hash) (err error) {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return nil
	}
	for _, id := range ids {
		if !a.q.repo.named(id) {
			return &MissingObjectError{ID: id}
		}
	}
	dir := filepath.Join(a.Dir, "taken")
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	view, err := a.q.viewOf(dir, a.objects())
	if err != nil {
		return err
	}
	var asked strings.Builder
	for _, id := range ids {
		fmt.Fprintln(&asked, id)
	}
	err = a.q.repack(ctx, view, Cmd{Args: []string{"pack-objects"}, Stdin: strings.NewReader(asked.String())})
	if err != nil {
		return fmt.Errorf("take in what a filter made: %w", err)
	}
	out, err := a.q.Run(ctx, Cmd{
		Args: []string{"cat-file", "--batch-check=%(objectname) %(objecttype)"}, Stdin: strings.NewReader(asked.String()),
	})
	if err != nil {
		return fmt.Errorf("look for what a filter made: %w", err)
	}
	found := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i, id := range ids {
		if i >= len(found) || found[i] != string(id)+" blob" {
			return &MissingObjectError{ID: id}
		}
	}
	return nil
}

// writeFrom writes a new file; a nil reader makes an empty file.
func writeFrom(path string, from io.Reader) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if from != nil {
		_, err = io.Copy(f, from)
	}
	return errors.Join(err, f.Close())
}

// readInto reads a file of ours to its end.
func readInto(to io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, f)
	return errors.Join(err, f.Close())
}

// lastOf removes duplicate names from an environment and keeps the last value
// of each. os/exec does that, but the caller's Confine need not.
func lastOf(env []string) []string {
	at := map[string]int{}
	var all []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if i, ok := at[name]; ok {
			all[i] = kv
			continue
		}
		at[name] = len(all)
		all = append(all, kv)
	}
	return all
}
