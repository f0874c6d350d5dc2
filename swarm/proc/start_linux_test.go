package proc

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// BenchmarkStart starts supervisors, and waits until they have their spec, from
// a process that holds more and more memory. With a user namespace the system
// copies the tables of that memory for each of them.
func BenchmarkStart(b *testing.B) {
	const pid, ipc = unix.CLONE_NEWPID | unix.CLONE_NEWNS, unix.CLONE_NEWIPC
	for _, way := range []struct {
		name  string
		flags uintptr
	}{{"none", 0}, {"pid", pid | ipc}, {"user", pid | ipc | unix.CLONE_NEWUSER}} {
		for _, held := range []int{0, 150, 1000} {
			b.Run(fmt.Sprintf("%s/%dMB", way.name, held), func(b *testing.B) {
				ballast(b, held)
				benchmarkStart(b, func() *syscall.SysProcAttr {
					attr := &syscall.SysProcAttr{Cloneflags: way.flags}
					if way.flags&unix.CLONE_NEWUSER != 0 {
						attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
						attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
						attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
					}
					return attr
				})
			})
		}
	}
}

// ballast holds this many MB of memory, in small pages, until the end.
func ballast(b *testing.B, megabytes int) {
	b.Helper()
	if megabytes == 0 {
		return
	}
	held, err := unix.Mmap(-1, 0, megabytes<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = unix.Munmap(held) })
	_ = unix.Madvise(held, unix.MADV_NOHUGEPAGE) // a kernel without has none
	for at := 0; at < len(held); at += os.Getpagesize() {
		held[at] = 1
	}
}

func benchmarkStart(b *testing.B, attr func() *syscall.SysProcAttr) {
	b.Helper()
	l := &Launcher{Binary: exe(), Args: []string{"__supervise"}, Attr: attr}
	dir := b.TempDir()
	for i := 0; b.Loop(); i++ {
		p, err := l.Start(b.Context(), Spec{
			Argv: []string{"/bin/true"}, Dir: dir, Sandbox: []byte(`{}`),
			Stdout: fmt.Sprint(dir, "/out", i), Stderr: fmt.Sprint(dir, "/err", i),
		})
		b.StopTimer()
		if err != nil {
			b.Skip(err)
		}
		if exit := p.Wait(); exit.Code != 0 {
			b.Fatal(exit)
		}
		b.StartTimer()
	}
}
