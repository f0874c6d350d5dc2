//go:build !linux

package overlay

import "errors"

// whiteout cannot be made where there are no overlays.
func whiteout(string) error { return errors.ErrUnsupported }
