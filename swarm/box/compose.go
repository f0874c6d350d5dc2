package box

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// secrets are the folders of HOME that agents never see.
func secrets() []string { return []string{".ssh", ".aws", ".gnupg"} }

// Compose makes the walls around one agent, and the folders that they keep in
// Private. What it makes there must be removed after the agent's end.
func Compose(rung Rung, open bool, p Place) (Walls, error) {
	w := Walls{Rung: rung, Open: open}
	if rung == None {
		return w, nil
	}
	c := &composing{Place: p, walls: &w}
	if !open {
		if err := c.around(); err != nil {
			return Walls{}, fmt.Errorf("make the walls: %w", err)
		}
	}
	w.Pieces = append(w.Pieces, p.Pieces...)
	return w, nil
}

type composing struct {
	Place
	walls *Walls
}

func (c *composing) add(p ...Piece) { c.walls.Pieces = append(c.walls.Pieces, p...) }

// around puts up what hides the rest of the machine.
func (c *composing) around() error {
	if err := c.tmp(); err != nil {
		return err
	}
	if err := c.home(); err != nil {
		return err
	}
	c.add(Piece{At: "/dev/shm", Scratch: true, Optional: true})
	for _, path := range c.hidden() {
		c.add(Piece{At: path, Empty: true, Optional: true})
	}
	c.add(Piece{At: c.State, Empty: true})
	for _, path := range c.Write {
		c.add(Piece{At: path, From: path, Write: true})
	}
	return nil
}

// tmp is a /tmp of the agent's own. It is an overlay with nothing below: a bind
// would show in the list of mounts where it lies, and sandboxes of agents try
// to hide that place.
func (c *composing) tmp() error {
	below, err := c.folder("empty")
	if err != nil {
		return err
	}
	piece := Piece{At: "/tmp", Lower: []string{below}}
	if err := c.upper(&piece, "tmp"); err != nil {
		return err
	}
	if !c.walls.Rung.Overlay() {
		piece = Piece{At: "/tmp", From: piece.Upper, Write: true}
	}
	c.add(piece)
	return nil
}

// home is the user's HOME at its own path, in which writes are private.
func (c *composing) home() error {
	if c.Home == "" || !c.walls.Rung.Overlay() {
		return nil
	}
	piece := Piece{At: c.Home, Lower: []string{c.Home}}
	if err := c.upper(&piece, "home"); err != nil {
		return err
	}
	c.add(piece)
	return nil
}

// hidden are the paths that agents do not see.
func (c *composing) hidden() []string {
	var all []string
	if c.Home != "" {
		for _, name := range secrets() {
			all = append(all, filepath.Join(c.Home, name))
		}
	}
	all = append(all, "/run/user/"+strconv.Itoa(os.Getuid()),
		"/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock")
	if path := c.Getenv("SSH_AUTH_SOCK"); filepath.IsAbs(path) {
		all = append(all, path)
	}
	if path, ok := strings.CutPrefix(c.Getenv("DOCKER_HOST"), "unix://"); ok && filepath.IsAbs(path) {
		all = append(all, path)
	}
	return slices.Concat(all, c.Sockets, c.Hide)
}

// folder makes a folder of the agent's own.
func (c *composing) folder(name string) (string, error) {
	dir := filepath.Join(c.Private, name)
	return dir, os.MkdirAll(dir, 0o700)
}

// upper makes the folders that an overlay writes to.
func (c *composing) upper(p *Piece, name string) (err error) {
	if p.Upper, err = c.folder(name); err != nil {
		return err
	}
	p.Work, err = c.folder(name + ".work")
	return err
}
