package isolation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/ask"
	"agentswarm/swarm/box"
	"agentswarm/swarm/config"
	"agentswarm/swarm/control"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/privatehome"
	"agentswarm/swarm/project"
	"agentswarm/worktree"
)

// Sandbox makes the sandbox for a step in a workspace of the run.
func (e *Executor) Sandbox(r engine.SandboxRequest) (engine.Enclosure, error) {
	if at := r.Workspace.At; at != "" && !e.Level.Namespaces() {
		// The files there are the user's.
		return engine.Enclosure{}, fmt.Errorf("%s is to be mounted at %s, and the sandbox is %s: it cannot mount",
			r.Workspace.Name, at, e.Level)
	}
	own, err := e.ownHome(r)
	if err != nil {
		return engine.Enclosure{}, err
	}
	w, err := box.Compose(e.Level, e.Settings.Off(), box.Place{
		Pieces: append(e.pieces(r), e.piecesOf(own, r)...), State: filepath.Dir(e.Project.State.Dir), Home: e.Project.Getenv("HOME"),
		Private: own.private, Warm: e.Warm, Setup: own.setup, Sockets: control.Folders(e.Project.Getenv), Getenv: e.Project.Getenv,
		Plain: own.plain, PlainFiles: privatehome.PlainFiles(own.plain),
		Secret: privatehome.GitIncludes(e.Project.Getenv("HOME"), e.Project.Getenv),
		Hide:   slices.Concat(e.Settings.Hide, own.hide), Write: slices.Concat(e.Settings.Write, own.write), View: own.view(),
		Closed:   append(closed(e.Project), control.Folder(e.Run, e.Project.Getenv)),
		Programs: slices.Concat(filepath.SplitList(e.Project.Getenv("PATH")), r.Programs, e.Project.Repo.Borrowed()),
	})
	if err != nil {
		return engine.Enclosure{}, err
	}
	around := engine.Enclosure{
		Ask: e.askInside(r), State: e.stateInside(r), Shims: e.Shims, Guards: e.Guards,
		Tmp: own.tmp, Env: own.env, Notes: own.notes,
	}
	if own.home == "" {
		around.Env = append(around.Env, box.Redirect(w, e.Project.Getenv("HOME"), e.Project.Getenv)...)
	}
	if e.Warm == "" {
		around.Written = own.written
	}
	around.Ended = own.ended
	around.Outside = e.pathNames(w, own, around, r).Text
	around.Sandbox, err = json.Marshal(w)
	return around, err
}

// closed are folders that agents never write to: the repository, the objects that it
// borrows, and the user's own configuration.
func closed(p *project.Project) []string {
	var all []string
	if p.Repo != nil {
		all = append(p.Repo.Borrowed(), p.Root(), p.Repo.CommonDir)
	}
	if file := config.UserFile(p.Lookup); file != "" {
		all = append(all, filepath.Dir(file))
	}
	return all
}

// Shared are those of /tmp, /var/tmp and /dev/shm that agents of a new run would write to
// with Landlock only. Outside of repositories the project has none.
func Shared(p *project.Project, s Settings) []string {
	return box.Shared(box.Place{
		State: filepath.Dir(p.State.Dir), Home: p.Getenv("HOME"), Sockets: control.Folders(p.Getenv), Getenv: p.Getenv,
		Secret: privatehome.GitIncludes(p.Getenv("HOME"), p.Getenv), Hide: s.Hide, Write: s.Write,
		Closed: append(closed(p), control.NewFolder(p.State, p.Getenv)),
	})
}

// pathNames replaces paths of a sandbox in texts for people.
func (e *Executor) pathNames(w box.Sandbox, own ownHome, around engine.Enclosure, r engine.SandboxRequest) box.PathNames {
	home := box.OwnHome(e.Project.Getenv("HOME"))
	if home == "" {
		home = fspath.Real(e.Project.Getenv("HOME"))
	}
	t := box.PathNames{Sandbox: w, Home: home}
	if r.Workspace.At != "" || w.Level != box.None {
		t.Named = append(t.Named, box.Named{At: r.Workspace.Path(), Name: "(workspace)", Relative: true})
	}
	for at, name := range map[string]string{around.State: "(state of the agent)", ask.Path(around.Ask): "(approval socket)"} {
		if at != "" {
			t.Named = append(t.Named, box.Named{At: at, Name: name})
		}
	}
	if own.home != "" { // at a path of its own
		t.Named = append(t.Named, box.Named{At: own.home, Name: "(private HOME)"})
		if w.Level == box.Landlock {
			t.Named = append(t.Named, box.Named{At: own.tmp, Name: "(private TMPDIR)"})
		}
	}
	return t
}

// askInside is where an agent finds its ask socket where something can be
// mounted: the same path for all, and none that a swarm of the agent's would
// make its own sockets at. It is empty where it is as it lies.
func (e *Executor) askInside(r engine.SandboxRequest) string {
	if r.Ask == "" || !e.Walled() {
		return ""
	}
	return filepath.Join("/tmp/.swarm-ask", filepath.Base(r.Ask))
}

// stateInside is where an agent finds its state folder where something can be
// mounted: at the same path as all others, for some CLIs tell their model of
// it, and a provider caches only equal prompts. Some refuse a path in /tmp.
func (e *Executor) stateInside(r engine.SandboxRequest) string {
	if r.State == "" || !e.Walled() {
		return ""
	}
	return "/run/swarm-agent"
}

// pieces are the folders that an agent sees: of the repository, of its workspace and of the
// state folder.
func (e *Executor) pieces(r engine.SandboxRequest) []box.Piece {
	var all []box.Piece
	link, objects := e.Trees.Objects()
	w := r.Workspace
	if e.Settings.Off() && w.At == "" {
		return nil // all is where it lies, and may be written to
	}
	if w.Private() {
		all = append(all, box.Piece{At: link, From: objects})
	} else {
		// Its own files lie in the repository's git dir, and new objects do.
		all = append(all,
			box.Piece{At: e.Project.Root(), From: e.Project.Root()},
			box.Piece{At: e.Project.Repo.CommonDir, From: e.Project.Repo.CommonDir},
			box.Piece{At: objects, From: objects, Write: true})
		// Commits are loose objects. The packs, and the places where git looks for
		// more, are the user's.
		for _, name := range []string{"pack", "info"} {
			dir := filepath.Join(objects, name)
			all = append(all, box.Piece{At: dir, From: dir, Optional: true})
		}
	}
	for _, m := range w.Mounts() {
		all = append(all, pieceOf(m, r.Sealed && m.At == w.Path()))
	}
	for _, dir := range append([]string{filepath.Dir(e.Shims)}, r.Read...) {
		all = append(all, box.Piece{At: dir, From: dir})
	}
	if inside := e.askInside(r); inside != "" {
		all = append(all, box.Piece{At: filepath.Dir(inside), From: filepath.Dir(r.Ask)})
	}
	if r.State != "" {
		at := cmp.Or(e.stateInside(r), r.State)
		all = append(all, box.Piece{At: at, From: r.State, Write: true, Optional: true})
	}
	for _, dir := range r.Write {
		all = append(all, box.Piece{At: dir, From: dir, Write: true, Optional: true})
	}
	return all
}

// piecesOf are the folders of a HOME that lie in the state folder, as far as a
// sandbox hides that.
func (e *Executor) piecesOf(own ownHome, r engine.SandboxRequest) (all []box.Piece) {
	for _, dir := range own.read {
		all = append(all, box.Piece{At: dir, From: dir})
	}
	if e.Settings.Off() && r.Workspace.At != "" {
		for _, dir := range own.write {
			all = append(all, box.Piece{At: dir, From: dir, Write: true})
		}
	}
	return all
}

// pieceOf is a mount of a workspace in the sandbox: a sealed mount is read
// only.
func pieceOf(m worktree.Mount, sealed bool) box.Piece {
	return box.Piece{
		At: m.At, From: m.From, Write: m.Write && !sealed, Optional: m.Optional,
		Lower: m.Lower, Upper: m.Upper, Work: m.Work, Sealed: sealed && len(m.Lower) > 0,
	}
}
