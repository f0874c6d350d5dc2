package git

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
)

// IndexTree is the index's record of a folder: the tree of its entries and
// their number, those of folders below included.
type IndexTree struct {
	ID      Hash
	Entries int
}

// ReadIndexTrees is [Repo.ReadIndex], and the trees of those folders of which
// the index knows them, by their path; "" is the whole.
func (r *Repo) ReadIndexTrees(path string) ([]IndexEntry, map[string]IndexTree, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read index: %w", err)
	}
	p, entries, err := parseEntries(text, r.hexLen()/2)
	if err != nil {
		return nil, nil, err
	}
	trees := map[string]IndexTree{}
	for rest := p.rest; len(rest) >= 8; {
		size := int64(binary.BigEndian.Uint32(rest[4:]))
		if size > int64(len(rest)-8) {
			return nil, nil, &IndexError{Reason: fmt.Sprintf("extension %q is cut off", rest[:4])}
		}
		if string(rest[:4]) == "TREE" {
			t := treeParser{rest: rest[8 : 8+size], idLen: p.idLen, trees: trees}
			if err := t.folder("", 0); err != nil {
				return nil, nil, err
			}
		}
		rest = rest[8+size:]
	}
	return entries, trees, nil
}

// maxDepth bounds the depth of nested folders: paths have at most 4096 bytes.
const maxDepth = 4096

// treeParser reads the extension TREE (gitformat-index(5)).
type treeParser struct {
	rest  []byte
	idLen int
	trees map[string]IndexTree
}

func (p *treeParser) folder(above string, depth int) error {
	bad := &IndexError{Reason: fmt.Sprintf("the trees are cut off below %q", above)}
	name, rest, ok := bytes.Cut(p.rest, []byte{0})
	counts, rest, ok2 := bytes.Cut(rest, []byte{'\n'})
	first, second, ok3 := bytes.Cut(counts, []byte{' '})
	if !ok || !ok2 || !ok3 || depth > maxDepth {
		return bad
	}
	entries, err := strconv.Atoi(string(first))
	if err != nil {
		return bad
	}
	folders, err := strconv.Atoi(string(second))
	if err != nil {
		return bad
	}
	path := string(name)
	if above != "" {
		path = above + "/" + path
	}
	if entries >= 0 { // else it changed since its tree was known
		if len(rest) < p.idLen {
			return bad
		}
		p.trees[path] = IndexTree{ID: Hash(hex.EncodeToString(rest[:p.idLen])), Entries: entries}
		rest = rest[p.idLen:]
	}
	p.rest = rest
	for range folders {
		if err := p.folder(path, depth+1); err != nil {
			return err
		}
	}
	return nil
}
