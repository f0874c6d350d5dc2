package git

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// TreeMode is the mode of a folder.
const TreeMode = "040000"

// TreeEntry is an entry of a single tree object.
type TreeEntry struct {
	Name string
	Mode string // TreeMode, "100644", "100755", "120000" or "160000"
	ID   Hash
}

// IsTree reports whether the entry is a folder.
func (e TreeEntry) IsTree() bool { return e.Mode == TreeMode }

// parseTreeObject reads the content of a tree object: "mode name\0id",
// where id has idLen bytes.
func parseTreeObject(raw []byte, idLen int) ([]TreeEntry, error) {
	// A folder may have thousands of entries, and few of them are used. All
	// names are parts of a single text, and all ids of another.
	text := string(raw)
	least := len("40000 a\x00") + idLen
	entries := make([]TreeEntry, 0, len(raw)/(least+8)+1)
	ids := make([]byte, 0, len(raw)/least*idLen)
	for len(text) > 0 {
		mode, rest, ok := strings.Cut(text, " ")
		name, rest, ok2 := strings.Cut(rest, "\x00")
		canon, err := canonicalMode(mode)
		if !ok || !ok2 || err != nil || badName(name) || len(rest) < idLen {
			return nil, fmt.Errorf("unexpected entry %.80q", text)
		}
		entries = append(entries, TreeEntry{Name: name, Mode: canon})
		ids = append(ids, rest[:idLen]...)
		text = rest[idLen:]
	}
	names := hex.EncodeToString(ids)
	for i := range entries {
		entries[i].ID = Hash(names[2*idLen*i : 2*idLen*(i+1)])
	}
	return entries, nil
}

// canonicalMode is git's form of a mode in a tree: early trees hold 100664 and
// others.
func canonicalMode(text string) (string, error) {
	switch text {
	case "100644", "100755", "120000", "160000":
		return text, nil
	case "40000":
		return TreeMode, nil
	}
	mode, err := strconv.ParseUint(text, 8, 17)
	if err != nil {
		return "", err
	}
	if mode == 0 {
		// Git 2.39 leaves this in the tree of a merge with conflicts, where
		// a file met a folder.
		return absent, nil
	}
	switch mode &^ 0o7777 {
	case 0o100000:
		if mode&0o100 != 0 {
			return "100755", nil
		}
		return "100644", nil
	case 0o120000:
		return "120000", nil
	case 0o040000:
		return TreeMode, nil
	case 0o160000:
		return "160000", nil
	}
	return "", fmt.Errorf("mode %q", text)
}

// badName reports whether a name cannot stand in a tree.
func badName(name string) bool {
	return name == "" || strings.ContainsAny(name, "/\x00")
}

// encodeTree writes the content of a tree object.
func encodeTree(entries []TreeEntry) ([]byte, error) {
	size := 0
	for _, e := range entries {
		size += len(e.Mode) + len(e.Name) + 2 + len(e.ID)/2
	}
	raw := make([]byte, 0, size)
	sorted := sortedTree(entries)
	// A file and a folder with the same name need not stand side by side.
	files := map[string]bool{}
	for i, e := range sorted {
		follows := i+1 < len(sorted) && strings.HasPrefix(sorted[i+1].Name, e.Name)
		twice := i > 0 && e.Name == sorted[i-1].Name || e.IsTree() && files[e.Name]
		if follows && !e.IsTree() {
			files[e.Name] = true
		}
		id, err := hex.DecodeString(string(e.ID))
		if err != nil || badName(e.Name) || twice || e.Mode == absent {
			return nil, fmt.Errorf("entry %q with id %q cannot stand in a tree", e.Name, e.ID)
		}
		raw = append(raw, strings.TrimPrefix(e.Mode, "0")...)
		raw = append(raw, ' ')
		raw = append(raw, e.Name...)
		raw = append(raw, 0)
		raw = append(raw, id...)
	}
	return raw, nil
}

// sortedTree has entries in git's order; it is the list itself where that is
// in order.
func sortedTree(entries []TreeEntry) []TreeEntry {
	if slices.IsSortedFunc(entries, CompareEntries) {
		return entries
	}
	return slices.SortedFunc(slices.Values(entries), CompareEntries)
}

// CompareEntries is the order of entries in a tree: a folder is sorted as if
// its name ended in a slash. A file and a folder with the same name are not
// equal.
func CompareEntries(a, b TreeEntry) int {
	n := min(len(a.Name), len(b.Name))
	if c := strings.Compare(a.Name[:n], b.Name[:n]); c != 0 {
		return c
	}
	return int(a.next(n)) - int(b.next(n))
}

// next is the byte at n of the name as it is sorted.
func (e TreeEntry) next(n int) byte {
	switch {
	case n < len(e.Name):
		return e.Name[n]
	case e.IsTree():
		return '/'
	}
	return 0
}
