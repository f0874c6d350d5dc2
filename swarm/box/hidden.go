package box

// Hidden are the paths that no agent in a place sees, beside the state folder.
func Hidden(p Place) []string {
	c := composing{Place: p}
	return c.hidden()
}
