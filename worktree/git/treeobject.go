package git

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// TreeMode is the mode of a folder.
const TreeMode = "040000"

// TreeEntry is one entry of one tree object.
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
	var entries []TreeEntry
	for len(raw) > 0 {
		head, rest, ok := bytes.Cut(raw, []byte{0})
		mode, name, ok2 := strings.Cut(string(head), " ")
		canon, err := canonicalMode(mode)
		if !ok || !ok2 || err != nil || badName(name) || len(rest) < idLen {
			return nil, fmt.Errorf("unexpected entry %.80q", head)
		}
		entries = append(entries, TreeEntry{
			Name: name, Mode: canon, ID: Hash(hex.EncodeToString(rest[:idLen])),
		})
		raw = rest[idLen:]
	}
	return entries, nil
}

// canonicalMode is what git makes of a mode it finds in a tree: trees of the
// early days hold 100664 and others.
func canonicalMode(text string) (string, error) {
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

// encodeTree writes the content of a tree object, in git's order: a folder
// is sorted as if its name ended in a slash.
func encodeTree(entries []TreeEntry) ([]byte, error) {
	key := func(e TreeEntry) string {
		if e.IsTree() {
			return e.Name + "/"
		}
		return e.Name
	}
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, func(a, b TreeEntry) int { return strings.Compare(key(a), key(b)) })
	seen := make(map[string]bool, len(sorted))
	var b bytes.Buffer
	for _, e := range sorted {
		id, err := hex.DecodeString(string(e.ID))
		if err != nil || badName(e.Name) || seen[e.Name] || e.Mode == absent {
			return nil, fmt.Errorf("entry %q with id %q cannot stand in a tree", e.Name, e.ID)
		}
		seen[e.Name] = true
		fmt.Fprintf(&b, "%s %s\x00%s", strings.TrimPrefix(e.Mode, "0"), e.Name, id)
	}
	return b.Bytes(), nil
}
