package survey

import "testing"

func TestNoteNamesItsPlace(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind NoteKind
		path string
		want string
	}{
		{MadeReadable, "/", "the root folder of the workspace could not be read: its mode was changed"},
		{Unreadable, "/", "the root folder of the workspace cannot be read: it is not in the patch"},
		{MadeReadable, "d/", `"d/" could not be read: its mode was changed`},
		{Unreadable, "a\nb", `"a\nb" cannot be read: it is not in the patch`},
	} {
		if got := (Note{Kind: tt.kind, Path: tt.path}).String(); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.kind, tt.path, got, tt.want)
		}
	}
}
