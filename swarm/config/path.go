package config

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2/unstable"

	"agentswarm/swarm/environ"
)

// Path is an entry of a list of [sandbox], as it was written. It is a path,
// absolute or below HOME if it begins with ~/, or a pattern of variables.
type Path struct {
	Text   string
	Key    string // such as "sandbox.hide[1]"
	Origin Origin
}

// wrong blames the path.
func (p Path) wrong(reason string) *Error {
	return &Error{File: p.Origin.File, Line: p.Origin.Line, Key: p.Key, Reason: reason}
}

// texts are paths as they were written; never nil.
func texts(paths []Path) []string {
	all := make([]string, len(paths))
	for i, p := range paths {
		all[i] = p.Text
	}
	return all
}

var (
	// wholePath is how a path begins that depends on no folder of the moment.
	wholePath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(/|~/)`) })
	// wholeRoot is the root, however it is written.
	wholeRoot = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(/+\.{0,2})+$`) })
	// wholeHome matches HOME or a folder above it.
	wholeHome = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^~(/+\.{0,2})+$`) })
)

// checkPath explains why a text is no path for a list.
func checkPath(text string) error {
	switch {
	case !wholePath().MatchString(text):
		return fmt.Errorf("expected an absolute path, or one that begins with ~/, got %q", clip(text))
	case wholeRoot().MatchString(text):
		return fmt.Errorf("%q covers everything; name a folder", clip(text))
	}
	return nil
}

// checkFolder is the same for a folder that agents may write to.
func checkFolder(text string) error {
	if wholeHome().MatchString(text) {
		return fmt.Errorf("%q covers HOME; name a folder in it", clip(text))
	}
	return checkPath(text)
}

// intoPatterns reads a list of patterns of variables.
func (f field) intoPatterns(to *[]Path) error {
	return f.entries(to, `an array of names, such as ["MY_TOKEN", "MY_APP_*"]`, environ.CheckPattern)
}

// intoPaths reads a list of paths.
func (f field) intoPaths(to *[]Path) error { return f.pathList(to, checkPath) }

// intoFolders reads a list of folders that agents may write to.
func (f field) intoFolders(to *[]Path) error { return f.pathList(to, checkFolder) }

func (f field) pathList(to *[]Path, check func(string) error) error {
	return f.entries(to, `an array of paths, such as ["~/.cache/tool"]`, check)
}

// entries reads a list of texts that each pass a check.
func (f field) entries(to *[]Path, expected string, check func(string) error) error {
	if f.node.kind != unstable.Array {
		return f.expected(expected)
	}
	for i, item := range f.node.items {
		f := f.at(fmt.Sprintf("%s[%d]", f.key, i), item)
		text, err := f.str()
		if err != nil {
			return err
		}
		if err := check(text); err != nil {
			return f.wrong("%v", err)
		}
		*to = append(*to, Path{Text: text, Key: f.key, Origin: f.origin()})
	}
	return nil
}

// expand puts HOME in the place of a leading ~.
func expand(text, home string) (string, bool) {
	rest, below := strings.CutPrefix(text, "~/")
	if !below {
		return text, true
	}
	return home + "/" + rest, strings.HasPrefix(home, "/")
}
