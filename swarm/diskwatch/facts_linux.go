package diskwatch

import (
	"os"
	"syscall"
	"time"
)

func factsOf(info os.FileInfo) facts {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return facts{}
	}
	return facts{
		device: uint64(s.Dev), inode: s.Ino, links: uint64(s.Nlink), bytes: s.Blocks * 512,
		changed: time.Unix(s.Ctim.Sec, s.Ctim.Nsec),
	}
}
