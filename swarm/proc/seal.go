package proc

import "syscall"

// sealEach marks descriptor after descriptor, where no call marks all.
func sealEach() error {
	const most = 4096 // More than that is not looked for.
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	for fd := controlFD; fd < int(min(limit.Cur, most)); fd++ {
		syscall.CloseOnExec(fd) // It says nothing about those not open.
	}
	return nil
}
