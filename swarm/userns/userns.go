// Package userns explains why a process gets no user namespaces, and names the
// remedy. It tries nothing: its caller knows whether they work.
package userns

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// System holds the settings that decide who gets user namespaces. The text of
// a setting is empty where the kernel does not have it.
type System struct {
	// Root is set if the process runs as root, whom the settings for
	// unprivileged users do not concern.
	Root bool
	// MaxUser is user.max_user_namespaces (namespaces(7)).
	MaxUser string
	// Unprivileged is kernel.unprivileged_userns_clone, which Debian and Arch
	// added to their kernels: 0 refuses.
	Unprivileged string
	// AppArmor is kernel.apparmor_restrict_unprivileged_userns, which Ubuntu
	// sets since 23.10: 1 gives namespaces without capabilities.
	AppArmor string
	// Seccomp is set if a seccomp filter is on this process, as in containers.
	Seccomp bool
	// Container is the kind of the container that this is; empty: none is known.
	Container Container
	// Foreign names a system that has no user namespaces, such as macOS and the
	// first version of WSL; empty: this is Linux.
	Foreign string
	// Distribution is the name by which WSL knows this system.
	Distribution string
}

// Container is a kind of container, by who starts it and how that is told to
// give more rights.
type Container string

// The kinds that have a remedy of their own. Any other is Unknown.
const (
	Docker       Container = "docker"
	Podman       Container = "podman"
	Kubernetes   Container = "kubernetes"
	Devcontainer Container = "devcontainer"
	Actions      Container = "actions" // a job of GitHub Actions with "container:"
	GitLab       Container = "gitlab"
	LXC          Container = "lxc"
	Unknown      Container = "container"
)

// Read reads the settings of this system.
func Read(getenv func(string) string) System {
	switch runtime.GOOS {
	case "linux":
		return read(os.DirFS("/"), os.Geteuid(), getenv)
	case "darwin":
		return System{Foreign: "macOS"}
	default:
		return System{Foreign: runtime.GOOS}
	}
}

// Advice is the reason for the lack of user namespaces, and the remedy.
type Advice struct {
	// Reason is a clause such as "user namespaces are restricted by AppArmor".
	Reason string
	// Remedy is a command or a flag; empty where none is known.
	Remedy string
}

// String joins both for a line.
func (a Advice) String() string {
	if a.Remedy == "" {
		return a.Reason
	}
	return a.Reason + ": " + a.Remedy
}

// Explain returns the cause of an error of creating namespaces. Where AppArmor
// is the cause, the remedy is the command that installs swarm's profile.
func (s System) Explain(refused error, profile string) Advice {
	none := func(setting string) bool { return setting == "0" }
	switch {
	case s.Foreign == wsl1:
		return Advice{"WSL 1 has no user namespaces", "wsl --set-version " + s.Distribution + " 2"}
	case s.Foreign != "":
		return Advice{Reason: s.Foreign + " has no user namespaces"}
	case errors.Is(refused, syscall.ENOSPC) || none(s.MaxUser):
		// Raised on the host, also for containers.
		return Advice{
			"user namespaces are switched off by user.max_user_namespaces",
			"sudo sysctl -w user.max_user_namespaces=15000",
		}
	case none(s.Unprivileged) && !s.Root:
		return Advice{
			"user namespaces are switched off by kernel.unprivileged_userns_clone",
			"sudo sysctl -w kernel.unprivileged_userns_clone=1",
		}
	case s.Container != "":
		return Advice{s.container(), containerRemedy(s.Container)}
	case s.AppArmor == "1" && !s.Root:
		return Advice{"user namespaces are restricted by AppArmor", profile}
	case s.Seccomp:
		return Advice{"a seccomp filter refuses user namespaces", "run swarm outside of it"}
	default:
		return Advice{Reason: "user namespaces cannot be used here"}
	}
}

func (s System) container() string {
	if s.Seccomp {
		return "the container's seccomp profile refuses user namespaces"
	}
	return "the container refuses user namespaces"
}

// containerRemedy is how a container is started that gives namespaces.
func containerRemedy(kind Container) string {
	const flags = "--security-opt seccomp=unconfined --security-opt apparmor=unconfined"
	switch kind {
	case Docker:
		return "docker run " + flags
	case Podman:
		return "podman run --security-opt seccomp=unconfined"
	case Kubernetes:
		return "securityContext: {seccompProfile: {type: Unconfined}} and hostUsers: false in the pod"
	case Devcontainer:
		return `add "securityOpt": ["seccomp=unconfined", "apparmor=unconfined"] to devcontainer.json`
	case Actions:
		return "options: " + flags + " below container: of the job"
	case GitLab:
		return `add security_opt = ["seccomp=unconfined", "apparmor=unconfined"] to [runners.docker] of the runner`
	case LXC:
		return "lxc config set NAME security.nesting=true"
	default:
		return "start it with " + flags
	}
}

// ExplainProc returns why a process in a user namespace can mount no new /proc: a
// container runtime covers parts of its own (user_namespaces(7)). Both texts are
// empty outside of a known container.
func (s System) ExplainProc() Advice {
	const reason, flag = "the container covers parts of /proc", "--security-opt systempaths=unconfined"
	switch s.Container {
	case "":
		return Advice{}
	case Docker:
		return Advice{reason, "docker run " + flag}
	case Podman:
		return Advice{reason, "podman run --security-opt unmask=ALL"}
	case Kubernetes:
		return Advice{reason, "securityContext: {procMount: Unmasked} and hostUsers: false in the pod"}
	case Devcontainer:
		return Advice{reason, `add "securityOpt": ["systempaths=unconfined"] to devcontainer.json`}
	case Actions:
		return Advice{reason, "options: " + flag + " below container: of the job"}
	case GitLab:
		return Advice{reason, `add security_opt = ["systempaths=unconfined"] to [runners.docker] of the runner`}
	case LXC, Unknown:
	}
	return Advice{Reason: reason}
}

// seccompFilter reports whether the text of /proc/PID/status says that a
// filter is in force (proc(5): Seccomp is 2).
func seccompFilter(status []byte) bool {
	for line := range bytes.Lines(status) {
		if value, ok := bytes.CutPrefix(line, []byte("Seccomp:")); ok {
			return string(bytes.TrimSpace(value)) == "2"
		}
	}
	return false
}

func trimmed(text []byte) string { return strings.TrimSpace(string(text)) }
