// Package cachework owns the rule that tells when commands of a run fill private
// caches with the same files: they download or compile the same again and again.
//
// It reads folders and prints nothing.
package cachework
