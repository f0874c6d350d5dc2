//go:build !linux

package bases

// saveFileSystem saves the files of a folder one by one, where there is no call
// for all of them that also waits.
func saveFileSystem(dir string) error { return saveFiles(dir) }
