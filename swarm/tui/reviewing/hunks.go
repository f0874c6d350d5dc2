package reviewing

import (
	"agentswarm/swarm/review"
	"agentswarm/swarm/tui"
)

// Hunks are the changes of files as a pane shows them.
func Hunks(files []review.File) []tui.Hunk {
	var all []tui.Hunk
	for i := range files {
		f := &files[i]
		if about := aboutFile(f); about != "" || len(f.Runs) == 0 {
			all = append(all, tui.Hunk{Path: f.Path, About: about})
		}
		for k := range f.Runs {
			run := &f.Runs[k]
			all = append(all, tui.Hunk{
				Path: f.Path, Language: review.Language(f.Path), OldLine: run.OldLine, NewLine: run.NewLine,
				Before: run.Before, Removed: run.Removed, Added: run.Added, After: run.After,
			})
		}
	}
	return all
}

// aboutFile describes the change of a file that its lines do not show; empty for
// none.
func aboutFile(f *review.File) string {
	switch {
	case f.Binary:
		return "binary"
	case f.From != "" && f.From != f.Path:
		return "renamed from " + f.From
	case f.Added && len(f.Runs) == 0:
		return "new empty file"
	case f.Deleted && len(f.Runs) == 0:
		return "deleted empty file"
	case !f.Added && !f.Deleted && f.OldMode != f.NewMode:
		return "mode " + f.OldMode + " to " + f.NewMode
	}
	return ""
}
