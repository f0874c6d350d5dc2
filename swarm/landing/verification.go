package landing

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"agentswarm/worktree/git"
)

// CheckEnv are the variables that only the check of a landing has. SWARM_TIP is the
// commit of the branch that patches are merged onto, and HEAD the merged commit.
// SWARM_CHANGED is a file with the text of [ChangedText].
func CheckEnv(tip git.Hash, changed string) []string {
	return []string{"SWARM_TIP=" + string(tip), "SWARM_CHANGED=" + changed}
}

// ChangedText lists the paths that differ between the branch and a merged commit, a
// path on each line. A path with a control character or a quote is quoted as in C.
func ChangedText(changes []git.Change) string {
	var b strings.Builder
	for _, c := range changes {
		path := c.Path
		if strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f || r == '"' }) {
			path = strconv.Quote(path)
		}
		b.WriteString(path + "\n")
	}
	return b.String()
}

// VerifiedBy is the value of the trailer Swarm-Verified: the tree that passed, and a
// digest of the text of the check.
func VerifiedBy(tree git.Hash, command string) string {
	sum := sha256.Sum256([]byte(command))
	return string(tree) + " " + hex.EncodeToString(sum[:])[:12]
}
