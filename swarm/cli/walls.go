package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/box"
	"agentswarm/swarm/control"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/proc"
	"agentswarm/worktree"
)

// walls makes the walls around whatever runs in a workspace of the run.
func (b *bench) walls(r engine.WallsRequest) (engine.Enclosure, error) {
	if at := r.Workspace.At; at != "" && !b.rung.Namespaces() {
		// What lies there is the user's.
		return engine.Enclosure{}, fmt.Errorf("%s is to be mounted at %s, and the sandbox is %s: it cannot mount",
			r.Workspace.Name, at, b.rung)
	}
	own, err := b.ownHome(r)
	if err != nil {
		return engine.Enclosure{}, err
	}
	w, err := box.Compose(b.rung, b.isolation.open(), box.Place{
		Pieces: append(b.pieces(r), b.piecesOf(own, r)...), State: filepath.Dir(b.state.Dir), Home: b.env.Getenv("HOME"),
		Private: own.private, Warm: b.warm, Setup: own.setup, Sockets: control.Folders(b.env.Getenv), Getenv: b.env.Getenv,
		Hide: slices.Concat(b.isolation.Hide, own.hide), Write: slices.Concat(b.isolation.Write, own.write), View: box.ViewIn(b.why),
		Programs: slices.Concat(filepath.SplitList(b.env.Getenv("PATH")), r.Programs, b.repo.Borrowed()),
	})
	if err != nil {
		return engine.Enclosure{}, err
	}
	around := engine.Enclosure{
		Ask: b.askInside(r), State: b.stateInside(r), Shims: b.shims, Guards: b.guards,
		Tmp: own.tmp, Env: append(own.env, box.Redirect(w, b.env.Getenv("HOME"), b.env.Getenv)...),
	}
	if b.warm == "" {
		around.Written = own.written
	}
	around.Ended = own.ended
	around.Outside = b.telling(w, own, around, r).Text
	around.Walls, err = json.Marshal(w)
	return around, err
}

// telling replaces paths of a sandbox in texts for people.
func (b *bench) telling(w box.Walls, own ownHome, around engine.Enclosure, r engine.WallsRequest) box.Telling {
	home, err := filepath.EvalSymlinks(b.env.Getenv("HOME"))
	if err != nil {
		home = ""
	}
	t := box.Telling{Walls: w, Home: home}
	if r.Workspace.At != "" || w.Rung != box.None {
		t.Named = append(t.Named, box.Named{At: r.Workspace.Path(), Name: "(workspace)", Relative: true})
	}
	for at, name := range map[string]string{around.State: "(state of the agent)", around.Ask: "(approval socket)"} {
		if at != "" {
			t.Named = append(t.Named, box.Named{At: at, Name: name})
		}
	}
	if own.home != "" { // at a path of its own
		t.Named = append(t.Named, box.Named{At: own.home, Name: "(private HOME)"}, box.Named{At: own.tmp, Name: "(private TMPDIR)"})
	}
	return t
}

// askInside is where an agent finds its ask socket where something can be
// mounted: the same path for all, and none that a swarm of the agent's would
// make its own sockets at. It is empty where it is as it lies.
func (b *bench) askInside(r engine.WallsRequest) string {
	if r.Ask == "" || !b.walled() {
		return ""
	}
	return filepath.Join("/tmp/.swarm-ask", filepath.Base(r.Ask))
}

// stateInside is where an agent finds its state folder where something can be
// mounted: at the same path as all others, for some CLIs tell their model of
// it, and a provider caches only what is the same. Some will not have it in
// /tmp.
func (b *bench) stateInside(r engine.WallsRequest) string {
	if r.State == "" || !b.walled() {
		return ""
	}
	return "/run/swarm-agent"
}

// pieces are what an agent finds of the repository, of its workspace and of the
// state folder.
func (b *bench) pieces(r engine.WallsRequest) []box.Piece {
	var all []box.Piece
	link, objects := b.trees.Objects()
	w := r.Workspace
	if b.isolation.open() && w.At == "" {
		return nil // all is where it lies, and may be written to
	}
	if w.Private() {
		all = append(all, box.Piece{At: link, From: objects})
	} else {
		// Its own files lie in the repository's git dir, and new objects do.
		all = append(all,
			box.Piece{At: b.deps.Root, From: b.deps.Root},
			box.Piece{At: b.repo.CommonDir, From: b.repo.CommonDir},
			box.Piece{At: objects, From: objects, Write: true})
		// Commits are loose objects. What is packed, and where git looks for
		// more, are the user's.
		for _, name := range []string{"pack", "info"} {
			dir := filepath.Join(objects, name)
			all = append(all, box.Piece{At: dir, From: dir, Optional: true})
		}
	}
	for _, m := range w.Mounts() {
		all = append(all, pieceOf(m, r.Sealed && m.At == w.Path()))
	}
	for _, dir := range append([]string{filepath.Dir(b.shims)}, r.Read...) {
		all = append(all, box.Piece{At: dir, From: dir})
	}
	if inside := b.askInside(r); inside != "" {
		all = append(all, box.Piece{At: filepath.Dir(inside), From: filepath.Dir(r.Ask)})
	}
	if r.State != "" {
		at := cmp.Or(b.stateInside(r), r.State)
		all = append(all, box.Piece{At: at, From: r.State, Write: true, Optional: true})
	}
	for _, dir := range r.Write {
		all = append(all, box.Piece{At: dir, From: dir, Write: true, Optional: true})
	}
	return all
}

// piecesOf are the folders of a HOME that lie in the state folder, as far as a
// sandbox hides that.
func (b *bench) piecesOf(own ownHome, r engine.WallsRequest) (all []box.Piece) {
	for _, dir := range own.read {
		all = append(all, box.Piece{At: dir, From: dir})
	}
	if b.isolation.open() && r.Workspace.At != "" {
		for _, dir := range own.write {
			all = append(all, box.Piece{At: dir, From: dir, Write: true})
		}
	}
	return all
}

// pieceOf is a mount of a workspace as walls make it: sealed, it can be read only.
func pieceOf(m worktree.Mount, sealed bool) box.Piece {
	return box.Piece{
		At: m.At, From: m.From, Write: m.Write && !sealed, Optional: m.Optional,
		Lower: m.Lower, Upper: m.Upper, Work: m.Work, Sealed: sealed && len(m.Lower) > 0,
	}
}

// probe finds the best walls, and the best view of HOME within them, by putting
// them up in a folder on the disk of the state, around a command that does
// nothing. Of what they are why tells what keeps them from being better.
func (p *place) probe(ctx context.Context, self string) (rung box.Rung, why error, err error) {
	near := p.state.Dir
	for !fspath.Exists(near) {
		near = filepath.Dir(near)
	}
	dir, err := os.MkdirTemp(near, probePrefix)
	if err != nil {
		return box.None, nil, fmt.Errorf("try the sandbox: %w", err)
	}
	defer func() { err = errors.Join(err, worktree.RemoveAll(dir)) }()
	n := 0
	var closed *box.ViewRefusal
	rung, why = box.Probe(func(rung box.Rung) (err error) {
		_, closed, err = box.ProbeHome(p.homeOf(), rung, func(view box.View) error {
			n++
			return p.tryWalls(ctx, tryRequest{
				self: self, rung: rung, view: view, dir: filepath.Join(dir, strconv.Itoa(n)),
			})
		})
		return err
	})
	if closed != nil {
		why = errors.Join(why, closed)
	}
	return rung, why, nil
}

// probePrefix begins the name of the folder in which walls are tried.
const probePrefix = ".swarm-probe-"

// homeOf is what a probe knows of HOME.
func (p *place) homeOf() box.Place {
	return box.Place{Home: p.env.Getenv("HOME"), State: filepath.Dir(p.state.Dir)}
}

type tryRequest struct {
	self string
	rung box.Rung
	view box.View
	dir  string
}

func (p *place) tryWalls(ctx context.Context, r tryRequest) error {
	private := filepath.Join(r.dir, "box")
	if err := os.MkdirAll(private, 0o700); err != nil {
		return err
	}
	w, err := box.Compose(r.rung, false, box.Place{
		State: private, Home: p.env.Getenv("HOME"), Private: private, Getenv: p.env.Getenv,
		View: r.view,
	})
	if err != nil {
		return err
	}
	walls, err := json.Marshal(w)
	if err != nil {
		return err
	}
	started, err := launcher(r.self, r.rung).Start(ctx, proc.Spec{
		Argv: []string{"/bin/sh", "-c", ":"}, Dir: "/", Walls: walls,
		Stdout: filepath.Join(r.dir, "out"), Stderr: filepath.Join(r.dir, "err"),
	})
	if err != nil {
		return unstarted(r.rung, err)
	}
	if exit := started.Wait(); exit.Reason != proc.Exited || exit.Code != 0 {
		return errors.New(exit.Words())
	}
	return nil
}

// unstarted names the step that failed before anything ran behind walls: where
// they have namespaces, those are made by the start itself, and the system says
// of a limit on their number that the device is full.
func unstarted(rung box.Rung, err error) error {
	if !rung.Namespaces() {
		return err
	}
	for _, errno := range []unix.Errno{unix.ENOSPC, unix.EUSERS} {
		if errors.Is(err, errno) {
			return fmt.Errorf("make namespaces: no more are allowed, by max_*_namespaces in /proc/sys/user: %w", errno)
		}
	}
	if errors.Is(err, unix.EPERM) {
		return fmt.Errorf("make namespaces: %w", unix.EPERM)
	}
	return err
}
