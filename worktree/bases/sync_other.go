//go:build !linux

package bases

// saveFileSystem syncs the files of a folder in sequence, as this system has no
// call for all of them that also waits.
func saveFileSystem(dir string) error { return saveFiles(dir) }
