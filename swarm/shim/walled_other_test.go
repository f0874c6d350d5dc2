//go:build !linux

package shim

// playWalled: there are no walls here.
func playWalled(string) int { return 1 }
