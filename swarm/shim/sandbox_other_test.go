//go:build !linux

package shim

// playWalled: there is no sandbox here.
func playWalled(string) int { return 1 }
