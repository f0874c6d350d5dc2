package main

// pictureFile is the picture of the README. This writes it again:
//
//	go test -run '^TestPicture$' . -picture
const (
	pictureFile  = "docs/session.svg"
	pictureTitle = "A terminal: ten agents change ten services, the patches are merged, and the merge is undone"
	// pictureSize is how large it may be, in bytes.
	pictureSize = 150_000
	// pictureRows and pictureCols are the size of its terminal.
	pictureRows, pictureCols = 26, 104
)

// pictureSession are the commands that the picture shows, as they are typed.
func pictureSession() []string {
	return []string{
		`swarm run --agent claude --each 'services/*/' --verify 'sh test.sh' "rename Get to Lookup in {item}"`,
		"swarm diff a3 | tail -n 5",
		"swarm merge",
		"git log --oneline | head -n 3",
		"swarm undo",
	}
}
