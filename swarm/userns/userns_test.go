package userns

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

// TestExplain: each cause has its own reason and remedy.
func TestExplain(t *testing.T) {
	t.Parallel()
	ubuntu := map[string]string{
		"proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n",
		"proc/sys/user/max_user_namespaces":                     "127000\n", "proc/self/status": "Name:\tx\nSeccomp:\t0\n",
	}
	container := map[string]string{"proc/self/status": "Seccomp:\t2\n", "proc/sys/user/max_user_namespaces": "127000\n"}
	with := func(files map[string]string, more ...string) map[string]string {
		all := map[string]string{}
		for name, text := range files {
			all[name] = text
		}
		for i := 0; i < len(more); i += 2 {
			all[more[i]] = more[i+1]
		}
		return all
	}
	tests := []struct {
		name    string
		files   map[string]string
		env     string
		euid    int
		refused error
		want    string
	}{
		{"Ubuntu", ubuntu, "", 1000, syscall.EPERM, "user namespaces are restricted by AppArmor: sudo swarm setup apparmor"},
		{"Ubuntu, root", ubuntu, "", 0, syscall.EPERM, "user namespaces cannot be used here"},
		{"no more", ubuntu, "", 1000, fmt.Errorf("clone: %w", syscall.ENOSPC), "user namespaces are switched off by user.max_user_namespaces: sudo sysctl -w user.max_user_namespaces=15000"},
		{"none at all", with(container, "proc/sys/user/max_user_namespaces", "0\n"), "", 0, syscall.EPERM, "user namespaces are switched off by user.max_user_namespaces: sudo sysctl -w user.max_user_namespaces=15000"},
		{"old Debian", map[string]string{"proc/sys/kernel/unprivileged_userns_clone": "0\n"}, "", 1000, syscall.EPERM, "user namespaces are switched off by kernel.unprivileged_userns_clone: sudo sysctl -w kernel.unprivileged_userns_clone=1"},
		{"old Debian, root", map[string]string{"proc/sys/kernel/unprivileged_userns_clone": "0\n"}, "", 0, syscall.EPERM, "user namespaces cannot be used here"},
		{"Docker", with(container, ".dockerenv", ""), "", 0, syscall.EPERM, "the container's seccomp profile refuses user namespaces: docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined"},
		{"Docker on Ubuntu", with(ubuntu, ".dockerenv", "", "proc/self/status", "Seccomp:\t2\n"), "", 1000, syscall.EPERM, "the container's seccomp profile refuses user namespaces: docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined"},
		{"Docker without seccomp", map[string]string{".dockerenv": ""}, "", 0, syscall.EPERM, "the container refuses user namespaces: docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined"},
		{"Podman", with(container, "run/.containerenv", ""), "", 1000, syscall.EPERM, "the container's seccomp profile refuses user namespaces: podman run --security-opt seccomp=unconfined"},
		{"another container", container, "lxc", 1000, syscall.EPERM, "the container's seccomp profile refuses user namespaces: start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined"},
		{"a filter", container, "", 1000, syscall.EPERM, "a seccomp filter refuses user namespaces: run swarm outside of it"},
		{"nothing known", nil, "", 1000, syscall.EPERM, "user namespaces cannot be used here"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := fstest.MapFS{}
			for name, text := range tt.files {
				root[name] = &fstest.MapFile{Data: []byte(text)}
			}
			getenv := func(name string) string { return map[string]string{"container": tt.env}[name] }
			if got := read(root, tt.euid, getenv).Explain(tt.refused, "sudo swarm setup apparmor").String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestRead: the settings of this system are those that the shell reads.
func TestRead(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("/proc/sys/user/max_user_namespaces")
	if err != nil {
		t.Skip(err)
	}
	if got := Read(os.Getenv).MaxUser; got != strings.TrimSpace(string(text)) {
		t.Errorf("max_user_namespaces is %q, want %q", got, text)
	}
}
