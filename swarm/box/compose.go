package box

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Compose makes the sandbox around one agent, and the folders that it keeps in
// Private. What it makes there must be removed after the agent's end.
//
// What lies where is looked up now: a path that is hidden is followed through
// its links, and one that does not exist is left out. Without overlays the
// view of HOME is Apart, whatever the place says, /tmp and /var/tmp are
// empty private folders, and the pieces of the place have to be binds.
func Compose(level Level, open bool, p Place) (Sandbox, error) {
	w := Sandbox{Level: level, Open: open}
	if level == None {
		return w, nil
	}
	c := &composing{Place: p, level: level}
	c.Home, _ = real(p.Home)
	if state, ok := real(p.State); ok {
		c.State = state
	}
	if !level.Overlay() {
		c.View = Apart
	}
	switch {
	case !open:
		if err := c.around(); err != nil {
			return Sandbox{}, fmt.Errorf("make the sandbox: %w", err)
		}
	case level.Namespaces() && len(p.Pieces) > 0:
		// A piece in it may stand where there is a link outside.
		c.masks = append(c.masks, Piece{At: c.State, Empty: true})
	}
	w.Pieces = c.order()
	return w, nil
}

const (
	homeName = "home"
	tmpName  = "tmp"
)

// HomeOf is the HOME of an agent below its private folder: in the view Apart the
// folder itself, in the view Whole the layer that it writes to.
func HomeOf(private string) string { return filepath.Join(private, homeName) }

// TmpOf is the TMPDIR of an agent below its private folder, on the level
// Landlock.
func TmpOf(private string) string { return filepath.Join(private, tmpName) }

type composing struct {
	Place
	level Level
	fresh bool    // the layer that HOME writes to is new
	open  []Piece // what is seen
	masks []Piece // what is not; they stand above the others
}

func (c *composing) add(p ...Piece) { c.open = append(c.open, p...) }

// around puts up what hides the rest of the machine.
func (c *composing) around() error {
	if c.level == Landlock {
		return c.fenced()
	}
	for _, step := range []func() error{c.temporary, c.running, c.home, c.cachesElsewhere, c.write} {
		if err := step(); err != nil {
			return err
		}
	}
	if shm, ok := real("/dev/shm"); ok {
		c.add(Piece{At: shm, Scratch: true, Optional: true})
	}
	c.programs()
	return c.hide()
}

// fenced are the pieces where nothing can be mounted: paths that may be
// written to, and paths that may not be read. HOME and TMPDIR are folders of
// the agent's own at paths of their own: HomeOf and TmpOf.
func (c *composing) fenced() error {
	for _, name := range []string{homeName, tmpName} {
		dir, _, err := c.folder(name)
		if err != nil {
			return err
		}
		c.add(Piece{At: dir, From: dir, Write: true})
	}
	if err := c.write(); err != nil {
		return err
	}
	if err := c.hide(); err != nil {
		return err
	}
	for _, path := range c.shared() {
		dir, _ := real(path)
		c.add(Piece{At: dir, From: dir, Write: true})
	}
	return nil
}

// sharedFolders are folders that all programs of a machine write to.
func sharedFolders() []string { return []string{"/tmp", "/var/tmp", "/dev/shm"} }

// shared are the shared folders that agents write to where nothing can be mounted.
func (c *composing) shared() []string {
	return slices.DeleteFunc(sharedFolders(), func(path string) bool {
		dir, ok := real(path)
		return !ok || c.holdsClosed(dir)
	})
}

// Shared are those of /tmp, /var/tmp and /dev/shm that agents in a place write to on the
// level Landlock. It makes nothing.
func Shared(p Place) []string {
	c := &composing{Place: p, level: Landlock}
	c.Home, _ = real(p.Home)
	if state, ok := real(p.State); ok {
		c.State = state
	}
	c.Plain = "" // Copies would be made of its files.
	if c.write() != nil || c.hide() != nil {
		return nil
	}
	return c.shared()
}

// holdsClosed reports whether a folder holds a path that agents do not write to, or
// do not see. A rule for a folder holds for all in it.
func (c *composing) holdsClosed(dir string) bool {
	for _, path := range append([]string{c.State, c.Home}, c.Closed...) {
		if at, ok := real(path); ok && covers(dir, at) || covers(dir, path) {
			return true
		}
	}
	return slices.ContainsFunc(c.Pieces, func(p Piece) bool { return !p.Write && covers(dir, p.At) }) ||
		slices.ContainsFunc(c.masks, func(p Piece) bool { return covers(dir, p.At) && !c.forSockets(p.At) })
}

// forSockets reports whether a path is a socket or a folder of them. No rule keeps
// an agent from a socket, and agents' sockets often lie in /tmp.
func (c *composing) forSockets(path string) bool {
	return isSocket(path) || slices.ContainsFunc(c.Sockets, func(dir string) bool { at, ok := real(dir); return ok && at == path })
}

// temporary is a /tmp and a /var/tmp of the agent's own. They are overlays: a
// bind would show in the list of mounts where it lies, and sandboxes of agents
// try to hide that place. Both begin empty: the kernel makes no overlay of a
// folder in which another program mounts something, as builders of images do in
// /var/tmp.
func (c *composing) temporary() error {
	tmp, ok := real("/tmp")
	if !ok {
		tmp = "/tmp"
	}
	if err := c.layer(tmp, tmpName, true); err != nil {
		return err
	}
	if dir, ok := real("/var/tmp"); ok && dir != tmp {
		return c.layer(dir, "var-tmp", true)
	}
	return nil
}

// running is a /run without the sockets of the machine: whoever reaches those
// of docker, systemd or D-Bus has work done outside of the sandbox. A mask on
// each would go when its daemon makes it anew.
func (c *composing) running() error {
	for _, path := range []string{"/run", "/var/run"} {
		dir, ok := real(path)
		if !ok || dir == "/" || slices.ContainsFunc(c.open, func(p Piece) bool { return p.At == dir }) {
			continue
		}
		c.add(Piece{At: dir, Scratch: true})
	}
	kept := []string{"current-system", "booted-system", "opengl-driver", "opengl-driver-32"}
	for _, name := range kept {
		if path := "/run/" + name; exists(path) {
			c.add(Piece{At: path, From: path, Optional: true})
		}
	}
	if names, ok := real("/etc/resolv.conf"); ok && c.gone(names) {
		c.add(Piece{At: names, From: names, Optional: true})
	}
	for _, dir := range []string{"/run/user/" + strconv.Itoa(os.Getuid()), c.Getenv("XDG_RUNTIME_DIR")} {
		dir, ok := real(dir)
		if ok && !covers(dir, c.State) && !covers(dir, c.Home) && !c.placed(dir) {
			c.add(Piece{At: dir, Scratch: true, Optional: true})
		}
	}
	return nil
}

// write are the folders that all agents write to.
func (c *composing) write() error {
	for _, path := range c.Write {
		// One may be gone since it was asked for: then nothing is written there.
		if dir, ok := real(expand(path, c.Home)); ok {
			c.add(Piece{At: dir, From: dir, Write: true})
		}
	}
	return nil
}

// programs shows what agents cannot do without, where an empty folder would hide it.
func (c *composing) programs() {
	show := func(path string) {
		if c.gone(path) && !c.placed(path) {
			c.add(Piece{At: path, From: path, Optional: true})
		}
	}
	for _, path := range c.Programs {
		if !filepath.IsAbs(path) {
			continue
		}
		path = filepath.Clean(path)
		target, ok := real(path)
		if !ok {
			continue
		}
		at := parented(path)
		// A program of npm is a chain of links into the packages that it needs.
		if packages := packagesOf(target); packages != "" {
			show(packages)
		}
		show(at)
		if target != at {
			show(target)
		}
	}
}

// packagesOf is the outermost folder of npm packages that a path lies in; empty for
// none.
func packagesOf(path string) string {
	const packages = "/node_modules"
	before, _, ok := strings.Cut(path, packages+"/")
	if !ok {
		return ""
	}
	return before + packages
}

// hide puts masks on what agents do not see.
func (c *composing) hide() error {
	plain := c.plain()
	for _, path := range c.hidden() {
		at, ok := real(expand(path, c.Home))
		if !ok || at == "/" {
			continue
		}
		if from, ok := plain[at]; ok {
			own, err := c.own(at, from)
			if err != nil {
				return fmt.Errorf("copy %s without credentials: %w", at, err)
			}
			if own {
				continue
			}
			c.masks = append(c.masks, Piece{At: at, From: from, Optional: true})
			continue
		}
		c.masks = append(c.masks, Piece{At: at, Empty: true, Optional: true})
	}
	// The folder of the attempt may be seen, but not this part of it.
	if private, ok := real(c.Private); ok && private != c.State {
		c.masks = append(c.masks, Piece{At: private, Empty: true, Optional: true})
	}
	c.masks = append(c.masks, Piece{At: c.State, Empty: true})
	return nil
}

// hidden are the paths that agents do not see, beside the state.
func (c *composing) hidden() []string {
	all := append(c.secrets(), machineSecrets()...)
	if c.Home != "" {
		for _, name := range []string{".docker/run", ".docker/desktop", ".colima", ".rd", ".local/state/swarm"} {
			all = append(all, filepath.Join(c.Home, name))
		}
	}
	if dir := c.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		all = append(all, filepath.Join(dir, "swarm"))
	}
	all = append(all, "/run/user", "/run/docker.sock", "/run/containerd", "/run/podman", "/run/crio",
		"/run/dbus", "/run/systemd/private", "/var/snap/lxd/common/lxd/unix.socket",
		"/var/lib/lxd/unix.socket", "/var/lib/incus/unix.socket", "/dev/mqueue")
	if os.Geteuid() == 0 {
		// Their files obey whoever is called root.
		all = append(all, "/sys/kernel/debug", "/sys/kernel/tracing", "/sys/firmware")
	}
	for _, name := range []string{"SSH_AUTH_SOCK", "DOCKER_HOST", "CONTAINER_HOST", "DBUS_SESSION_BUS_ADDRESS"} {
		all = append(all, socketOf(c.Getenv(name)))
	}
	// An agent that writes to /tmp can put a link there, to hide a folder of the user.
	sockets := slices.DeleteFunc(slices.Clone(c.Sockets), isLink)
	all = slices.Concat(all, sockets, c.Hide)
	return slices.DeleteFunc(all, func(path string) bool {
		// The value of a variable must not take the workspace away.
		return path == "" || covers(path, c.Home) && !slices.Contains(c.Hide, path)
	})
}

// socketOf is the path of a socket that a variable names: itself, or an address
// as of docker or D-Bus.
func socketOf(value string) string {
	path := strings.TrimPrefix(value, "unix://")
	if bus, ok := strings.CutPrefix(path, "unix:path="); ok {
		path, _, _ = strings.Cut(bus, ",")
	}
	if !filepath.IsAbs(path) {
		return ""
	}
	return path
}

// placed reports whether a piece stands at a path already.
func (c *composing) placed(at string) bool {
	return slices.ContainsFunc(c.open, func(p Piece) bool { return p.At == at })
}

// blank reports whether a piece is an empty folder of the agent's own.
func (c *composing) blank(p Piece) bool {
	return p.Scratch || p.From != "" && covers(c.Private, p.From) ||
		len(p.Lower) > 0 && covers(c.Private, p.Lower[len(p.Lower)-1])
}

// gone reports whether a path is out of sight behind an empty folder.
func (c *composing) gone(path string) bool {
	p, ok := lowest(c.open, path)
	return ok && p.At != path && c.blank(p)
}

// lowest is the last of the deepest pieces that a path lies in.
func lowest(pieces []Piece, path string) (found Piece, ok bool) {
	for _, p := range pieces {
		if covers(p.At, path) && len(p.At) >= len(found.At) {
			found, ok = p, true
		}
	}
	return found, ok
}

// order puts folders before what lies in them, and masks above what stands at
// the same path.
func (c *composing) order() []Piece {
	all := c.standing()
	for _, p := range c.open {
		// The workspace may be HOME.
		if !slices.ContainsFunc(all, func(q Piece) bool { return q.At == p.At && !q.same() }) {
			all = append(all, p)
		}
	}
	depth := func(p Piece) int { return strings.Count(strings.TrimRight(p.At, "/"), "/") }
	byDepth := func(a, b Piece) int { return depth(a) - depth(b) }
	slices.SortStableFunc(c.masks, byDepth)
	for _, p := range c.masks {
		// There is nothing to hide where nothing is.
		in, ok := lowest(all, p.At)
		if !p.Optional || !ok || !in.Empty && (in.At == p.At || !c.blank(in)) {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, byDepth)
	return all
}

// standing are the place's pieces at paths without links. The last part of a
// path stays as it is where another piece decides what is there.
func (c *composing) standing() []Piece {
	all := slices.Clone(c.Pieces)
	for i := range all {
		all[i].At = parented(all[i].At)
	}
	decided := func(at string) bool {
		return covers(c.State, at) || slices.ContainsFunc(all, func(p Piece) bool {
			return p.At != at && covers(p.At, at) && !p.same()
		})
	}
	for i, p := range all {
		if path, ok := real(p.At); ok && path != p.At && !decided(p.At) {
			all[i].At = path
			for j := range all {
				if rest, ok := strings.CutPrefix(all[j].At, p.At+"/"); ok {
					all[j].At = path + "/" + rest
				}
			}
		}
	}
	return all
}

// layer adds an overlay over a folder that writes to one of the agent's own, in
// which the former is seen or, hidden, is not. Where there are no overlays it
// never is.
func (c *composing) layer(at, name string, hidden bool) error {
	upper, made, err := c.folder(name)
	if err != nil {
		return err
	}
	if made { // else the agent may have changed it
		mode := fs.FileMode(0o755)
		if info, err := os.Stat(at); err == nil {
			mode = info.Mode() & (fs.ModePerm | fs.ModeSticky)
		}
		if err := os.Chmod(upper, mode|0o700); err != nil {
			return err
		}
	}
	c.fresh = c.fresh || made && name == homeName
	if !c.level.Overlay() {
		c.add(Piece{At: at, From: upper, Write: true})
		return nil
	}
	p := Piece{At: at, Upper: upper}
	if setup := filepath.Join(c.Setup, name); c.Setup != "" && isDir(setup) {
		p.Lower = append(p.Lower, setup)
	}
	if warm := filepath.Join(c.Warm, name); c.Warm != "" && (!hidden || name == homeName) && isDir(warm) {
		p.Lower = append(p.Lower, warm)
	}
	lowest := at
	if hidden {
		if lowest, _, err = c.folder("empty"); err != nil {
			return err
		}
	}
	p.Lower = append(p.Lower, lowest)
	p.Work, _, err = c.folder(name + ".work")
	c.add(p)
	return err
}

// folder makes a folder of the agent's own.
func (c *composing) folder(name string) (dir string, made bool, err error) {
	dir = filepath.Join(c.Private, name)
	err = os.Mkdir(dir, 0o700)
	switch {
	case err == nil:
		return dir, true, nil
	case errors.Is(err, fs.ErrExist):
		return dir, false, nil
	}
	return dir, true, os.MkdirAll(dir, 0o700)
}
