package bench

import (
	"fmt"
	"strings"
)

// paste returns the baseline as a person would type it, in a new folder. The
// baseline runs the same commands, with this process in place of the shell.
func (g *ground) paste(r Request) []Command {
	pick := fmt.Sprintf(`git -C repo ls-tree -r %s | sed -n 's/^100644 blob [0-9a-f]*\t//p' | grep -x '[A-Za-z0-9_./-]*' | `+
		`grep -v '^[.]' | awk 'NR %% %d == 0' | head -n %d > files`, g.base, g.stride, r.Agents)
	all := []Command{
		{Name: "a clone, and a file for each agent", Lines: []string{
			"git clone --no-hardlinks --no-checkout " + quote(g.source) + " repo",
			"git -C repo checkout -B bench " + string(g.base),
			pick,
		}},
		{Name: againstAdd, Lines: []string{
			fmt.Sprintf("git -C repo worktree add --detach ../plain %s", g.base),
			fmt.Sprintf("time for i in $(seq %d); do git -C repo worktree add --quiet --detach ../add$i %s; done", r.Sample, g.base),
			"du -sh add1",
		}},
		{Name: againstDiff, Lines: []string{
			"cd plain",
			fmt.Sprintf(`for f in $(head -n %d ../files); do echo "swarm bench" >> "$f"; done`, len(g.few())),
			fmt.Sprintf("time (git add -A && git diff --cached --binary %s > ../patch)", g.base),
			"git reset --quiet --hard; git clean --quiet -ffd",
		}},
		{Name: "patches", Lines: []string{
			`n=0; while read -r f; do n=$((n+1)); echo "swarm bench" >> "$f"; git add "$f"; git commit --quiet -m patch; ` +
				fmt.Sprintf(`git update-ref refs/bench/$n HEAD; git reset --quiet --hard %s; done < ../files`, g.base),
		}},
		{Name: againstAm, Lines: []string{
			fmt.Sprintf("for i in $(seq %d); do git format-patch --stdout --binary -1 refs/bench/$i; done > ../mails", r.Sample),
			"time git am -3 -q < ../mails",
			fmt.Sprintf("git reset --quiet --hard %s", g.base),
		}},
		{Name: againstLoop, Lines: []string{
			fmt.Sprintf(`time (tip=%s; for i in $(seq %d); do tree=$(git merge-tree --write-tree $tip refs/bench/$i); `+
				`tip=$(git commit-tree $tree -p $tip -m patch); done)`, g.base, r.Agents),
		}},
	}
	for _, k := range []struct{ name, script string }{{againstCommands, trivial}, {againstCommands + ", busy", busy}} {
		all = append(all, Command{Name: k.name, Lines: []string{
			fmt.Sprintf("time xargs -P %d -n 1 sh -c %s sh < ../files", r.Agents, quote(k.script)),
			"git reset --quiet --hard; git clean --quiet -ffd",
		}})
	}
	return all
}

// quote makes a word of a text for a shell.
func quote(text string) string {
	if plainName().MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
