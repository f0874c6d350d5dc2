package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"agentswarm/swarm/ask"
)

const isolationProbeName = "isolationprobe"

// controls returns an error if the control socket of a run does not accept a request
// with any of the secrets that can be read.
func controls(path, secrets string) error {
	files, err := filepath.Glob(secrets)
	if err != nil {
		return err
	}
	err = controlsWith(path, "")
	for _, file := range files {
		if secret, rerr := os.ReadFile(file); rerr == nil && err != nil {
			err = controlsWith(path, string(secret))
		}
	}
	return err
}

func controlsWith(path, secret string) error {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, _ = fmt.Fprintf(conn, `{"verb":"ping","secret":%q}`+"\n", secret) // a refusal comes first
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && !strings.Contains(answer, `"ok":true`) {
		err = errors.New(answer)
	}
	return err
}

// asksAt returns an error if the ask socket of another agent does not accept an
// action. It also tries the secret in the environment of a process, if it can
// read that.
func asksAt(path string) error {
	address := path
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return err
	}
	for _, name := range environs {
		text, _ := os.ReadFile(name) // most are not for us
		for kv := range strings.SplitSeq(string(text), "\x00") {
			if value, ok := strings.CutPrefix(kv, ask.Variable+"="); ok && ask.Path(value) == path {
				address = value
			}
		}
	}
	answer, err := ask.Once(address, ask.Action{Command: "ls"})
	if err == nil && !answer.Allow {
		err = errors.New(answer.Reason)
	}
	return err
}

// isolationProbe is the program that agents of [TestIsolation] run.
func isolationProbe() {
	err := errors.New("usage: isolationprobe connect NETWORK ADDRESS | shm KEY | signal PID | limit PID | chmod MODE PATH | control SOCKET SECRETS | ask SOCKET | wait | stay")
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
	case len(args) == 2 && args[0] == "limit":
		var pid int
		if pid, err = strconv.Atoi(args[1]); err == nil {
			err = relimit(pid)
		}
	case len(args) == 3 && args[0] == "chmod":
		var mode uint64
		if mode, err = strconv.ParseUint(args[1], 8, 32); err == nil {
			err = os.Chmod(args[2], os.FileMode(mode))
		}
	case len(args) == 3 && args[0] == "control":
		err = controls(args[1], args[2])
	case len(args) == 2 && args[0] == "ask":
		err = asksAt(args[1])
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
