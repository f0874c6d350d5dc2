package store

// WriteFile replaces a file of a run at once: readers see the old or the new
// text, also after a power cut. Only the user can read the file.
func WriteFile(path string, text []byte) error { return writeFile(path, text) }
