package git

import (
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"
	"syscall"
)

// Errno is the error of the operating system that git names on stderr, or 0
// where it names none that has to do with writing.
func (e *Error) Errno() syscall.Errno {
	for _, errno := range [...]syscall.Errno{
		syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EACCES, syscall.EPERM, syscall.EIO,
		syscall.EFBIG, syscall.ENAMETOOLONG, syscall.EMFILE, syscall.ENFILE,
	} {
		// Go has these texts in lower case, the C library begins with a capital.
		if strings.Contains(strings.ToLower(e.Stderr), strings.ToLower(errno.Error())) {
			return errno
		}
	}
	return 0
}

// Is reports whether target is the error of the operating system that git
// names on stderr, so that [errors.Is] finds a full disk behind a git.
func (e *Error) Is(target error) bool {
	errno, ok := target.(syscall.Errno) // target is the error to match
	return ok && errno != 0 && e.Errno() == errno
}

// cause is the error of two programs that a pipe joins by which the other failed,
// too: a program that loses its reader or its writer names only that.
func cause(writer, reader error) error {
	var wrote, read *Error
	switch {
	case writer == nil || reader == nil:
		return errors.Join(writer, reader)
	case errors.As(reader, &read) && read.Errno() != 0, errors.Is(writer, io.ErrClosedPipe):
		return reader
	case errors.As(writer, &wrote) && wrote.Code < 0 && wrote.Stderr == "": // a signal: SIGPIPE
		return reader
	}
	return writer
}

// unwritten is how git names a file that it could not write, under LC_ALL=C.
var unwritten = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:error|fatal): (?:` +
		`unable to (?:write|create) (?:file|symlink) (.+?)|` +
		`unable to create symlink (.+?)|` +
		`cannot create (?:directory|submodule directory) (?:at )?'?(.+?)'?` +
		`)(?::.*| \(.*|)$`)
})

// Unwritten is the first path that git could not write, as it named it on
// stderr; empty where it named none.
func (e *Error) Unwritten() string {
	m := unwritten().FindStringSubmatch(e.Stderr)
	if m == nil {
		return ""
	}
	return strings.Join(m[1:], "")
}
