package survey

import (
	"fmt"

	"agentswarm/internal/bytesize"
)

// NoteKind is the subject of a note.
type NoteKind string

// The kinds of notes. Those that leave something out of the commit also make
// the capture incomplete.
const (
	NestedRepository  NoteKind = "nested_repository"  // its files are in, its .git is not
	GitReplaced       NoteKind = "git_replaced"       // the .git of the workspace is not ours any more
	SubmoduleMoved    NoteKind = "submodule_moved"    // recorded at a commit that is not captured
	SubmoduleLeft     NoteKind = "submodule_left"     // not captured; changes in it are not in
	SubmoduleMissing  NoteKind = "submodule_missing"  // never checked out; left at its recorded commit
	SubmoduleReplaced NoteKind = "submodule_replaced" // by plain files
	SubmoduleAdded    NoteKind = "submodule_added"    // its files are in as plain files
	MadeReadable      NoteKind = "made_readable"      // its mode was changed so that it could be read
	Unreadable        NoteKind = "unreadable"         // not in
	SpecialFile       NoteKind = "special_file"       // a FIFO, socket or device; not in
	NameRefused       NoteKind = "name_refused"       // git takes no file of this name; not in
	HeadInvalid       NoteKind = "head_invalid"       // HEAD leads to no whole commit
	FilterFailed      NoteKind = "filter_failed"      // in the sandbox; files are in as they are
	Entangled         NoteKind = "entangled"          // others changed the same lines later; theirs are in
	TooLarge          NoteKind = "too_large"          // above the size limit of a file; not in
	PatchOmitted      NoteKind = "patch_omitted"      // its text is too long to be kept
	MoreTooLarge      NoteKind = "more_too_large"     // further such files, without their names
)

// Note is something about a capture that a person should know.
type Note struct {
	Kind NoteKind `json:"kind"`
	Path string   `json:"path,omitempty"`
	Size int64    `json:"size,omitempty"` // in bytes, of a file that is too large; a number of files for more_too_large and submodule_missing
}

func (n Note) String() string {
	switch n.Kind {
	case NestedRepository:
		return fmt.Sprintf("%q was a repository of its own: its files are plain files, its history is not in the patch", n.Path)
	case GitReplaced:
		return "the agent replaced or removed the .git of its workspace"
	case SubmoduleMoved:
		return fmt.Sprintf("submodule %q is at a commit that could not be captured: if the agent made it, only the workspace in the trash has it", n.Path)
	case SubmoduleLeft:
		return fmt.Sprintf("submodule %q could not be captured: changes in it are not in the patch, and stay in the trash with the workspace", n.Path)
	case SubmoduleMissing:
		text := fmt.Sprintf("submodule %q: its recorded commit could not be had; nothing of it was captured", n.Path)
		if n.Size > 0 {
			text += fmt.Sprintf("; files in its folder stay in the trash with the workspace: %d", n.Size)
		}
		return text
	case SubmoduleReplaced:
		return fmt.Sprintf("submodule %q was replaced by plain files", n.Path)
	case SubmoduleAdded:
		return fmt.Sprintf("submodule %q is new: its files are plain files in the patch; take them out and run git submodule add yourself", n.Path)
	case MadeReadable:
		return n.place() + " could not be read: its mode was changed"
	case Unreadable:
		return n.place() + " cannot be read: it is not in the patch"
	case SpecialFile:
		return fmt.Sprintf("%q is a FIFO, socket or device: it is not in the patch", n.Path)
	case NameRefused:
		return fmt.Sprintf("git refuses the name %q: it is not in the patch", n.Path)
	case HeadInvalid:
		return "the HEAD of the workspace leads to no whole commit"
	case FilterFailed:
		return "a filter of git failed in the sandbox: the patch may hold files that it should have cleaned"
	case Entangled:
		return "other agents continued its earlier work: their later changes are in its patch too"
	case TooLarge:
		return fmt.Sprintf("%q is too large (%s): it is not in the patch, and stays in the trash with the workspace", n.Path, bytesize.Format(n.Size))
	case PatchOmitted:
		return "the text of the patch is too long to be kept as a file: it is made from the commit when you ask for it"
	case MoreTooLarge:
		return fmt.Sprintf("%d more files are too large: they are not in the patch, and stay in the trash with the workspace", n.Size)
	default:
		return fmt.Sprintf("%s %q", n.Kind, n.Path)
	}
}

// place names the path of the note. A folder's path ends in a slash, and the root's
// path is only the slash.
func (n Note) place() string {
	if n.Path == "/" {
		return "the root folder of the workspace"
	}
	return fmt.Sprintf("%q", n.Path)
}
