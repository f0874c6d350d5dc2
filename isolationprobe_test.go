package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

const isolationProbeName = "isolationprobe"

// isolationProbe is the program that agents of [TestIsolation] run.
func isolationProbe() {
	err := errors.New("usage: isolationprobe connect NETWORK ADDRESS | shm KEY | signal PID | chmod MODE PATH | wait | stay")
	switch args := os.Args[1:]; {
	case len(args) == 3 && args[0] == "connect":
		var c net.Conn
		if c, err = net.Dial(args[1], args[2]); err == nil {
			err = c.Close()
		}
	case len(args) == 2 && args[0] == "shm":
		var key int
		if key, err = strconv.Atoi(args[1]); err == nil {
			_, err = unix.SysvShmGet(key, 4096, 0)
		}
	case len(args) == 2 && args[0] == "signal":
		var pid int
		if pid, err = strconv.Atoi(args[1]); err == nil {
			err = syscall.Kill(pid, syscall.SIGURG)
		}
	case len(args) == 3 && args[0] == "chmod":
		var mode uint64
		if mode, err = strconv.ParseUint(args[1], 8, 32); err == nil {
			err = os.Chmod(args[2], os.FileMode(mode))
		}
	case len(args) == 1 && args[0] == "wait": // for the end of its standard input
		_, err = io.Copy(io.Discard, os.Stdin)
	case len(args) == 1 && args[0] == "stay": // until a signal
		var r *os.File
		if r, _, err = os.Pipe(); err == nil {
			_, err = r.Read(make([]byte, 1))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
