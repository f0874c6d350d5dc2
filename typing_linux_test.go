package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// typeOnTerminal runs a command on a terminal of its own, plays the moves and
// returns all output. It fails if the text that a move waits for never comes.
// It also fails if, after all moves, neither output nor the end comes.
func typeOnTerminal(dir string, env, argv []string, moves []move) ([]byte, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer master.Close()
	slave, err := openSlave(master)
	if err != nil {
		return nil, err
	}
	if err := syscall.SetNonblock(int(master.Fd()), true); err != nil { // Fd made it block
		return nil, err
	}
	path := ""
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, "PATH="); ok {
			path = value
		}
	}
	binary, err := lookPath(path, argv[0])
	if err != nil {
		return nil, errors.Join(err, slave.Close())
	}
	cmd := exec.Command(binary, argv[1:]...)
	cmd.Args[0] = argv[0]
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := errors.Join(cmd.Start(), slave.Close()); err != nil {
		return nil, err
	}
	shown, err := play(int(master.Fd()), moves)
	if err != nil {
		err = errors.Join(err, cmd.Process.Kill())
	}
	var ended *exec.ExitError
	if werr := cmd.Wait(); werr != nil && !errors.As(werr, &ended) {
		err = errors.Join(err, werr)
	}
	return shown, err
}

// play reads a terminal to its end and makes the moves.
func play(fd int, moves []move) ([]byte, error) {
	var shown []byte
	since := 0
	buf := make([]byte, 4096)
	for deadline := time.Now().Add(never); ; {
		n, err := syscall.Read(fd, buf)
		switch {
		case errors.Is(err, syscall.EAGAIN):
			if time.Now().After(deadline) {
				return shown, fmt.Errorf("the terminal did not get on to %v; it shows %q", moves, shown)
			}
			time.Sleep(5 * time.Millisecond) // a poll
			continue
		case err != nil || n == 0: // EIO is the end of a terminal
			if len(moves) > 0 {
				return shown, fmt.Errorf("the terminal ended before %v; it showed %q", moves, shown)
			}
			return shown, nil
		}
		shown = append(shown, buf[:n]...)
		if len(moves) == 0 {
			deadline = time.Now().Add(never) // however long it takes, it goes on
		}
		if len(moves) == 0 || bytes.Count(shown[since:], []byte(moves[0].wait)) < moves[0].times {
			continue
		}
		if _, err := syscall.Write(fd, []byte(moves[0].types)); err != nil {
			return shown, err
		}
		since, moves, deadline = len(shown), moves[1:], time.Now().Add(never)
	}
}
