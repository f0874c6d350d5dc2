package main

import "golang.org/x/sys/unix"

// relimit sets a limit of a process to its value.
func relimit(pid int) error {
	var limit unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_CORE, nil, &limit); err != nil {
		return err
	}
	return unix.Prlimit(pid, unix.RLIMIT_CORE, &limit, nil)
}
