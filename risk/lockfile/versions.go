package lockfile

import (
	"bytes"
	"path"
	"strings"
)

// File is a file that pins packages or asks for them.
type File struct {
	// Versions are the pinned versions, or the lowest that are allowed, by the
	// package's name. Packages without such a version are left out.
	Versions map[string]string
	// Manifest is set where people write the file: a package in it is a direct
	// dependency.
	Manifest bool
}

// Known reports whether [ReadFile] reads a file of this path.
func Known(name string) bool {
	_, _, ok := find(name)
	return ok
}

// ReadFile reads a file by its path. It is false where the file is of no known
// format, longer than [MaxFile], or unreadable.
func ReadFile(name string, text []byte) (File, bool) {
	s, f, ok := find(name)
	if !ok || len(text) > MaxFile {
		return File{}, false
	}
	read := s.parse(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	if read == nil {
		return File{}, false
	}
	out := File{Versions: make(map[string]string, len(read)), Manifest: f == goModules || has(f.manifests(), s.file)}
	for pkg, version := range read {
		pins(out.Versions).add(f.normal(pkg), version)
	}
	return out, true
}

// Newer reports whether version a comes after version b.
func Newer(a, b string) bool { return newer(a, b) }

// find returns the parser of a file, and its family.
func find(name string) (source, family, bool) {
	base := path.Base(name)
	for f := noFamily + 1; f <= nuget; f++ {
		for _, list := range [][]source{f.manifests(), f.sources()} {
			for _, s := range list {
				end, many := strings.CutPrefix(s.file, "*")
				if s.parse != nil && (path.Base(s.file) == base && !many || many && strings.HasSuffix(base, end)) {
					return s, f, true
				}
			}
		}
	}
	return source{}, noFamily, false
}

func has(list []source, file string) bool {
	for _, s := range list {
		if s.file == file {
			return true
		}
	}
	return false
}
