package store

// WriteFile replaces a file of a run at once: readers see the old or the new,
// and after a power cut it is one of them. Only the user can read it.
func WriteFile(path string, text []byte) error { return writeFile(path, text) }
