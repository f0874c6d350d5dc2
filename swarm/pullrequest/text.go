package pullrequest

import (
	"fmt"
	"strings"

	"agentswarm/internal/markdown"
)

// mostFiles bounds the files that a text lists.
const mostFiles = 40

// Title is the title of a pull request where the user gave none.
func (p *Part) Title(run string) string {
	if len(p.Pieces) == 1 && p.Pieces[0].Paths == nil {
		return p.Pieces[0].Change.Subject()
	}
	about := ""
	if p.About != "" {
		about = " in " + p.About
		if len(p.Owners) > 0 {
			about = " for " + strings.Join(p.Owners, ", ")
		}
	}
	if len(p.Pieces) == 1 {
		return p.Pieces[0].Change.Subject() + about
	}
	return fmt.Sprintf("%d patches of swarm run %s%s", len(p.Pieces), run, about)
}

// Body is the text of a pull request if the user gave none. Foreign text stands
// in code only, so that it makes no link and mentions no user.
func (p *Part) Body(run string) string {
	var b strings.Builder
	for _, piece := range p.Pieces {
		fmt.Fprintf(&b, "- %s", markdown.Code(piece.Change.Subject()))
		if len(piece.Change.Agents) > 0 {
			b.WriteString(" by")
			for _, id := range piece.Change.Agents {
				b.WriteString(" " + markdown.Code(string(id)))
			}
		}
		if piece.Paths != nil && len(piece.Paths) < len(piece.Change.Paths) {
			fmt.Fprintf(&b, ", %d of its %d files", len(piece.Paths), len(piece.Change.Paths))
		}
		for _, check := range trailers(piece.Change.Message, "Swarm-Verified") {
			fmt.Fprintf(&b, "; verified: %s", markdown.Code(check))
		}
		b.WriteString("\n")
	}
	files := p.Files()
	fmt.Fprintf(&b, "\nFiles (%d):\n\n", len(files))
	for _, file := range files[:min(mostFiles, len(files))] {
		fmt.Fprintf(&b, "- %s\n", markdown.Code(file))
	}
	if more := len(files) - mostFiles; more > 0 {
		fmt.Fprintf(&b, "- … and %d more\n", more)
	}
	fmt.Fprintf(&b, "\nMade by swarm run %s.\n", markdown.Code(run))
	return b.String()
}
