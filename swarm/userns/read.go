package userns

import "io/fs"

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
	switch {
	case there(root, ".dockerenv"):
		s.Container = "docker"
	case there(root, "run/.containerenv"):
		s.Container = "podman"
	case getenv("container") != "" || getenv("KUBERNETES_SERVICE_HOST") != "":
		s.Container = "container"
	}
	return s
}

func there(root fs.FS, path string) bool {
	_, err := fs.Stat(root, path)
	return err == nil
}
