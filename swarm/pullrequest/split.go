package pullrequest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"agentswarm/swarm/task"
)

// Part is the content of a pull request.
type Part struct {
	Name   string   // the last element of its branch; unique among parts
	About  string   // where it is a part by files: which, for people; else empty
	Owners []string // by CODEOWNERS; only set by [ByOwner]
	Pieces []Piece
}

// Piece is a commit, or some files of it.
type Piece struct {
	Change *Change
	Paths  []string // nil: all
}

// Agents are those whose work is in the part, in the order of its commits.
func (p *Part) Agents() []task.ID {
	var ids []task.ID
	for _, piece := range p.Pieces {
		for _, id := range piece.Change.Agents {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// Files are the paths that the part changes, sorted.
func (p *Part) Files() []string {
	var files []string
	for _, piece := range p.Pieces {
		if piece.Paths != nil {
			files = append(files, piece.Paths...)
		} else {
			files = append(files, piece.Change.Paths...)
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// Whole is a single part with all commits.
func Whole(changes []*Change) []*Part {
	p := &Part{Name: "all"}
	for _, c := range changes {
		p.Pieces = append(p.Pieces, Piece{Change: c})
	}
	return []*Part{p}
}

// Each is a part for each commit.
func Each(changes []*Change) []*Part {
	names := names{}
	var parts []*Part
	for _, c := range changes {
		name := "patch"
		if len(c.Agents) > 0 {
			name = string(c.Agents[0])
		}
		parts = append(parts, &Part{Name: names.free(name), Pieces: []Piece{{Change: c}}})
	}
	return parts
}

// EmptyGroupError names a folder in which nothing landed.
type EmptyGroupError struct{ Folder string }

func (e *EmptyGroupError) Error() string { return fmt.Sprintf("no file below %q landed", e.Folder) }

// ByFolder is a part for each folder, with the files below it. A file is in the part
// of the deepest folder that holds it. An error is an [*EmptyGroupError].
func ByFolder(changes []*Change, folders []string) ([]*Part, error) {
	clean := make([]string, 0, len(folders))
	for _, folder := range folders {
		if folder = path.Clean(folder); !slices.Contains(clean, folder) {
			clean = append(clean, folder)
		}
	}
	parts := byFile(changes, func(file string) string {
		best := ""
		for _, folder := range clean {
			if (folder == "." || strings.HasPrefix(file, folder+"/") || file == folder) && len(folder) > len(best) {
				best = folder
			}
		}
		return best
	})
	for _, folder := range clean {
		if !slices.ContainsFunc(parts, func(p *Part) bool { return p.About == folder }) {
			return nil, &EmptyGroupError{folder}
		}
	}
	slices.SortStableFunc(parts, func(a, b *Part) int { return slices.Index(clean, a.About) - slices.Index(clean, b.About) })
	return parts, nil
}

// ByOwner is a part for each set of owners. owners names those of a file; files
// without an owner are a part of their own, the last.
func ByOwner(changes []*Change, owners func(file string) []string) []*Part {
	of := map[string][]string{}
	const nobody = "no owner"
	parts := byFile(changes, func(file string) string {
		list := slices.Clone(owners(file))
		slices.Sort(list)
		list = slices.Compact(list)
		if len(list) == 0 {
			return nobody
		}
		key := strings.Join(list, " ")
		of[key] = list
		return key
	})
	for _, p := range parts {
		p.Owners = of[p.About]
	}
	slices.SortStableFunc(parts, func(a, b *Part) int {
		switch {
		case a.About == nobody:
			return 1
		case b.About == nobody:
			return -1
		}
		return strings.Compare(a.About, b.About)
	})
	return parts
}

// byFile splits commits by a key of their files. Files with an empty key are in no
// part.
func byFile(changes []*Change, key func(file string) string) []*Part {
	var parts []*Part
	names := names{}
	of := map[string]*Part{}
	for _, c := range changes {
		in := map[*Part][]string{}
		for _, file := range c.Paths {
			k := key(file)
			if k == "" {
				continue
			}
			p := of[k]
			if p == nil {
				p = &Part{Name: names.free(slug(k)), About: k}
				of[k] = p
				parts = append(parts, p)
			}
			in[p] = append(in[p], file)
		}
		for _, p := range parts {
			if files := in[p]; len(files) > 0 {
				p.Pieces = append(p.Pieces, Piece{Change: c, Paths: files})
			}
		}
	}
	return parts
}

// names makes names unique.
type names map[string]bool

// free is the name, with a number behind it if another part has it.
func (n names) free(name string) string {
	unique := name
	for i := 2; n[unique]; i++ {
		unique = fmt.Sprintf("%s-%d", name, i)
	}
	n[unique] = true
	return unique
}

// mostSlug bounds the last element of a branch, in bytes.
const mostSlug = 60

// slug is a text as an element of the name of a branch: letters, digits, dots and
// dashes of ASCII.
func slug(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= mostSlug {
			break
		}
	}
	if name := strings.Trim(b.String(), "-"); name != "" {
		return name
	}
	return "part"
}
