package userns

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
)

// read reads the settings of the system whose root folder is given.
func read(root fs.FS, euid int, getenv func(string) string) System {
	setting := func(path string) string {
		text, err := fs.ReadFile(root, path)
		if err != nil {
			return ""
		}
		return trimmed(text)
	}
	s := System{
		Root:         euid == 0,
		MaxUser:      setting("proc/sys/user/max_user_namespaces"),
		Unprivileged: setting("proc/sys/kernel/unprivileged_userns_clone"),
		AppArmor:     setting("proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
	}
	if status, err := fs.ReadFile(root, "proc/self/status"); err == nil {
		s.Seccomp = seccompFilter(status)
	}
	s.Container = container(root, getenv, setting("run/systemd/container"))
	// The first version of WSL is no Linux: its kernel is 4.4.0-19041-Microsoft.
	if strings.HasSuffix(setting("proc/sys/kernel/osrelease"), "-Microsoft") {
		s.Foreign, s.Distribution = wsl1, cmp.Or(getenv("WSL_DISTRO_NAME"), "NAME")
	}
	return s
}

const wsl1 = "WSL 1"

// container finds the kind of the container by files that its runtime makes and
// by variables. Named is the text of the file that systemd writes in containers.
func container(root fs.FS, getenv func(string) string, named string) Container {
	named = cmp.Or(getenv("container"), named)
	docker := there(root, ".dockerenv") || named == "docker"
	podman := there(root, "run/.containerenv") || named == "podman"
	set := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return getenv(name) != "" })
	}
	switch {
	case set("KUBERNETES_SERVICE_HOST") || there(root, "var/run/secrets/kubernetes.io"):
		return Kubernetes
	case set("CODESPACES", "REMOTE_CONTAINERS", "DEVCONTAINER"):
		return Devcontainer
	case docker && set("GITHUB_ACTIONS"):
		return Actions
	case docker && set("GITLAB_CI"):
		return GitLab
	case docker:
		return Docker
	case podman:
		return Podman
	case named == "lxc":
		return LXC
	case named != "":
		return Unknown
	default:
		return ""
	}
}

func there(root fs.FS, path string) bool {
	_, err := fs.Stat(root, path)
	return err == nil
}
