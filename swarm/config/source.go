package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// MaxSize is how long a configuration file may be: far more than people write.
// The time that the TOML decoder takes grows with the square of the number of
// keys, and a repository may mean harm.
const MaxSize = 128 << 10

// Layer says whose file a value comes from. A higher layer wins; the zero
// value is no layer and is refused by [Load].
type Layer uint8

// The layers, lowest first.
const (
	LayerUnset Layer = iota
	User             // the user's own file; trusted
	Project          // committed in the repository
	Local            // in the repository's folder, usually ignored by git

	// Environment is the user's own environment. No file has this layer.
	Environment
)

// String is the word for the layer.
func (l Layer) String() string {
	switch l {
	case User:
		return "user"
	case Project:
		return "project"
	case Local:
		return "local"
	case Environment:
		return "environment"
	default:
		return "unset"
	}
}

// UnmarshalText is the reverse of String; it accepts no unset layer.
func (l *Layer) UnmarshalText(text []byte) (err error) {
	*l, err = parseWord(string(text), User, Project, Local, Environment)
	return err
}

// Source is the text of a configuration file. The caller passes the text, since
// in a bare repository it comes from a commit and not from a file.
type Source struct {
	Layer Layer  // required
	Name  string // required; how messages call the file
	Text  []byte // empty: there is no such file
}

// Origin is the place of a value in a configuration file, or the variable of
// the environment that holds it.
type Origin struct {
	Layer Layer
	File  string // or the name of the variable
	Line  int    // 0: the file as a whole
}

// String is file:line, in a form that is safe on a terminal.
func (o Origin) String() string {
	if o.Line == 0 {
		return printable(o.File)
	}
	return printable(o.File) + ":" + strconv.Itoa(o.Line)
}

// Lookup is an environment as configuration reads it: an empty variable is not set.
func Lookup(getenv func(string) string) func(name string) (string, bool) {
	return func(name string) (string, bool) {
		value := getenv(name)
		return value, value != ""
	}
}

// UserFile is the path of the user's own configuration file, by the lookup of
// environment variables that is given (os.LookupEnv). It is empty where the
// environment names no home. A relative XDG_CONFIG_HOME is ignored, as the
// XDG base directory specification asks.
func UserFile(lookup func(string) (string, bool)) string {
	if dir, _ := lookup("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "swarm", "config.toml")
	}
	if home, _ := lookup("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".config", "swarm", "config.toml")
	}
	return ""
}

// ReadUser finds and reads the user's own configuration file. Where there is
// none, the source has no text.
func ReadUser(lookup func(string) (string, bool)) (Source, error) {
	path := UserFile(lookup)
	if path == "" {
		return Source{Layer: User, Name: "user configuration"}, nil
	}
	return ReadFile(User, path)
}

// ReadFile reads a configuration file from disk and names the source after its
// path. If there is no such file, the source has no text. ReadFile returns an
// [*Error] for a dangling link and for a file that is not regular, and an error
// if reading fails.
func ReadFile(layer Layer, path string) (_ Source, err error) {
	source := Source{Layer: layer, Name: path}
	// A repository may hold a FIFO of this name; opening it must not wait
	// for a writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	// A HOME that is no folder, such as /dev/null, holds none either.
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		// A lost file may have hidden paths from agents: that must not end in
		// silence.
		if _, err := os.Readlink(path); err == nil {
			return Source{}, &Error{File: path, Reason: "is a link that leads nowhere"}
		}
		return source, nil
	}
	if err != nil {
		return Source{}, fmt.Errorf("read configuration: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	stat, err := f.Stat()
	if err != nil {
		return Source{}, fmt.Errorf("read configuration: %w", err)
	}
	if !stat.Mode().IsRegular() {
		return Source{}, &Error{File: path, Reason: "is not a regular file"}
	}
	var text bytes.Buffer
	// A byte more than Load takes, so that Load refuses it.
	if _, err := io.Copy(&text, io.LimitReader(f, MaxSize+1)); err != nil {
		return Source{}, fmt.Errorf("read configuration %s: %w", printable(path), err)
	}
	source.Text = text.Bytes()
	return source, nil
}
