package proc

import (
	"context"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func must2[T any](v T, err error) T { must(err); return v }

// playVisitor visits a door, says how that ended, and may be killed meanwhile.
func playVisitor(door string, argv []string) {
	exit, err := Visit(context.Background(), VisitRequest{
		Door: door, Argv: argv, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"},
		Files: [3]*os.File{nil, os.Stdout, os.Stderr},
	})
	fmt.Println(exit.Code, err)
}

// playVisits is the agent that has to do with doors.
func playVisits(role string, args []string) {
	switch role {
	case "visits": // the door of somebody, whoever that is, with its tag shed
		must(mark(1))
		c, err := waitable(must2(newSocket()), "visit")
		must(err)
		at, done, err := doorAddress(args[0])
		must(err)
		must(onDescriptor(c, func(fd int) error { return unix.Connect(fd, at) }))
		done()
		r := VisitRequest{Argv: []string{"true"}, Dir: "/"}
		_ = r.hand(c, must2(r.encode())) // it may be refused before
		_, _ = io.Copy(os.Stdout, c)
	case "hands over": // as above, on a socket that others hold, and ends
		must(mark(1))
		c, err := waitable(3, "visit")
		must(err)
		at, done, err := doorAddress(args[0])
		must(err)
		must(onDescriptor(c, func(fd int) error { return unix.Connect(fd, at) }))
		done()
		r := VisitRequest{Argv: []string{"true"}, Dir: "/"}
		must(r.hand(c, must2(r.encode())))
	case "usurps": // the place of a door
		must(os.Remove(args[0]))
		defer must2(openDoor(args[0])).Close()
		fmt.Println("ready")
		forever()
	case "burns":
		for used := time.Duration(0); used < 400*time.Millisecond; {
			var use syscall.Rusage
			must(syscall.Getrusage(syscall.RUSAGE_SELF, &use))
			used = time.Duration(use.Utime.Nano() + use.Stime.Nano())
		}
	}
}
