package apparmor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentswarm/swarm/proc"
)

// Machine names the files by which AppArmor is administered.
type Machine struct {
	Profiles    string // required: the folder of profiles
	Kernel      string // required: AppArmor's folder in securityfs; missing if AppArmor is off
	Restriction string // required: the file of the sysctl that restricts user namespaces
	Parser      string // the path of apparmor_parser; empty if it is not installed
}

// Linux returns the files of a Linux system. It looks for the parser in the
// absolute folders of PATH.
func Linux(path string) Machine {
	m := Machine{
		Profiles: "/etc/apparmor.d", Kernel: "/sys/kernel/security/apparmor",
		Restriction: "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, parserName)
		info, err := os.Stat(file)
		if filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			m.Parser = file
			break
		}
	}
	return m
}

const parserName = "apparmor_parser"

// UnavailableError is a machine on which no profile can be installed, or none
// is needed.
type UnavailableError struct{ Reason string }

func (e *UnavailableError) Error() string { return e.Reason }

// Available returns an [*UnavailableError] where a profile has no effect.
func (m Machine) Available() error {
	switch {
	case !exists(m.Kernel):
		return &UnavailableError{"AppArmor is off: " + m.Kernel + " is missing"}
	case !exists(m.Restriction):
		return &UnavailableError{"AppArmor does not restrict user namespaces here: " + m.Restriction + " is missing"}
	default:
		return nil
	}
}

// noParser is the error of an operation that needs apparmor_parser.
func noParser() error {
	return &UnavailableError{parserName + " is not in PATH; it is in the package apparmor"}
}

// Restricts reports whether AppArmor restricts user namespaces at the moment.
func (m Machine) Restricts() bool {
	text, err := os.ReadFile(m.Restriction)
	return err == nil && strings.TrimSpace(string(text)) == "1" && exists(m.Kernel)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// loaded reports whether the kernel has the profile. It returns nil where the
// kernel does not tell: only root may read the list.
func (m Machine) loaded(p *Profile) *bool {
	found := false
	text, err := os.ReadFile(filepath.Join(m.Kernel, "profiles"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		found = found || strings.HasPrefix(line, p.Name+" (")
	}
	return &found
}

// file is the place of an installed profile.
func (m Machine) file(p *Profile) string { return filepath.Join(m.Profiles, p.Name) }

// read returns the content of the profile's file; empty if there is no file.
// Anything but a file of this package is an error: somebody else made it, and a
// symbolic link could lead to any file of the system.
func (m Machine) read(p *Profile) (string, error) {
	file := m.file(p)
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a regular file; move it away first", file)
	}
	text, err := os.ReadFile(file)
	if err == nil && !strings.HasPrefix(string(text), marker) {
		err = fmt.Errorf("%s was not written by swarm; move it away first", file)
	}
	return string(text), err
}

// write makes a temporary file with the profile and returns its path. AppArmor
// skips files whose names begin with a dot, so a crash leaves nothing that the
// next start of the system loads. The next call replaces such a file.
func (m Machine) write(p *Profile) (_ string, err error) {
	name := filepath.Join(m.Profiles, "."+p.Name+".new")
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	// O_EXCL follows no symbolic link.
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(p.Text)
	if err == nil && os.Geteuid() == 0 {
		err = f.Chown(0, 0) // a setgid folder hands its group down
	}
	if err == nil {
		err = f.Chmod(0o644) // the umask may take more away
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(name))
	}
	return name, nil
}

// sync writes the names in the folder of profiles to the disk.
func (m Machine) sync() error {
	dir, err := os.Open(m.Profiles)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// parserTime bounds a run of apparmor_parser, which takes milliseconds.
const parserTime = time.Minute

// parse runs apparmor_parser on a file. The cache is left out, because its
// entries have the names of the files, and the file may be temporary.
func (m Machine) parse(ctx context.Context, operation, file string) error {
	if m.Parser == "" {
		return noParser()
	}
	ctx, cancel := context.WithTimeout(ctx, parserTime)
	defer cancel()
	said, err := proc.Query(ctx, proc.QueryRequest{
		Argv: []string{m.Parser, operation, "--skip-cache", file}, Dir: "/",
		Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"},
	})
	if said = strings.TrimSpace(said); err != nil && said != "" {
		return fmt.Errorf("%w: %s", err, said)
	}
	return err
}
