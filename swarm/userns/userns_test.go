package userns

import (
	"fmt"
	"os"
	"regexp"
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
		env     string // NAME=VALUE
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
		{"Kubernetes", container, "KUBERNETES_SERVICE_HOST=10.0.0.1", 0, syscall.EPERM, "the container's seccomp profile refuses user namespaces: securityContext: {seccompProfile: {type: Unconfined}} and hostUsers: false in the pod"},
		{"Kubernetes without variables", with(container, "var/run/secrets/kubernetes.io/x", ""), "", 0, syscall.EPERM, "the container's seccomp profile refuses user namespaces: securityContext: {seccompProfile: {type: Unconfined}} and hostUsers: false in the pod"},
		{"Kubernetes of GitLab", with(container, "var/run/secrets/kubernetes.io/x", ""), "GITLAB_CI=true", 0, syscall.EPERM, "the container's seccomp profile refuses user namespaces: securityContext: {seccompProfile: {type: Unconfined}} and hostUsers: false in the pod"},
		{"a codespace", with(container, ".dockerenv", ""), "CODESPACES=true", 1000, syscall.EPERM, `the container's seccomp profile refuses user namespaces: add "securityOpt": ["seccomp=unconfined", "apparmor=unconfined"] to devcontainer.json`},
		{"a devcontainer", with(container, ".dockerenv", ""), "REMOTE_CONTAINERS=true", 1000, syscall.EPERM, `the container's seccomp profile refuses user namespaces: add "securityOpt": ["seccomp=unconfined", "apparmor=unconfined"] to devcontainer.json`},
		{"GitHub Actions in a container", with(container, ".dockerenv", ""), "GITHUB_ACTIONS=true", 0, syscall.EPERM, "the container's seccomp profile refuses user namespaces: options: --security-opt seccomp=unconfined --security-opt apparmor=unconfined below container: of the job"},
		{"GitHub Actions", ubuntu, "GITHUB_ACTIONS=true", 1000, syscall.EPERM, "user namespaces are restricted by AppArmor: sudo swarm setup apparmor"},
		{"GitLab", with(container, ".dockerenv", ""), "GITLAB_CI=true", 0, syscall.EPERM, `the container's seccomp profile refuses user namespaces: add security_opt = ["seccomp=unconfined", "apparmor=unconfined"] to [runners.docker] of the runner`},
		{"LXC", with(container, "run/systemd/container", "lxc"), "", 0, syscall.EPERM, "the container's seccomp profile refuses user namespaces: lxc config set NAME security.nesting=true"},
		{"WSL 1", map[string]string{"proc/sys/kernel/osrelease": "4.4.0-19041-Microsoft\n"}, "WSL_DISTRO_NAME=Debian", 1000, syscall.EINVAL, "WSL 1 has no user namespaces: wsl --set-version Debian 2"},
		{"WSL 2", map[string]string{"proc/sys/kernel/osrelease": "5.15.167.4-microsoft-standard-WSL2\n"}, "WSL_DISTRO_NAME=Debian", 1000, syscall.EPERM, "user namespaces cannot be used here"},
		{"another container", container, "container=systemd-nspawn", 1000, syscall.EPERM, "the container's seccomp profile refuses user namespaces: start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined"},
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
			getenv := func(name string) string {
				value, _ := strings.CutPrefix(tt.env, name+"=")
				if value == tt.env {
					return ""
				}
				return value
			}
			if got := read(root, tt.euid, getenv).Explain(tt.refused, "sudo swarm setup apparmor").String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestForeign: a system without user namespaces gets no advice for Linux.
func TestForeign(t *testing.T) {
	t.Parallel()
	got := System{Foreign: "macOS", MaxUser: "0", Container: Docker}.Explain(syscall.ENOSYS, "sudo swarm setup apparmor").String()
	if want := "macOS has no user namespaces"; got != want {
		t.Errorf("got %q, want %q", got, want)
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

// TestDocumentedRemedies: the page about isolation has a row for each system,
// with all that the remedy of that system sets.
func TestDocumentedRemedies(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/isolation.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(string(text), "\n## How to get the full sandbox\n")
	page, _, _ = strings.Cut(page, "\n## ")
	documented := map[string]string{}
	for line := range strings.Lines(page) {
		if cells := strings.Split(line, "|"); len(cells) == 4 {
			documented[strings.TrimSpace(cells[1])] = cells[2]
		}
	}
	for row, s := range map[string]System{
		"Docker":     {Container: Docker},
		"Podman":     {Container: Podman},
		"Kubernetes": {Container: Kubernetes},
		"GitHub Actions, a job with `container:`": {Container: Actions},
		"devcontainer.json":                       {Container: Devcontainer},
		"Ubuntu 23.10 and later":                  {AppArmor: "1"},
		"GitHub Actions, `ubuntu-24.04`":          {AppArmor: "1"},
		"`user.max_user_namespaces` is 0":         {MaxUser: "0"},
		"`kernel.unprivileged_userns_clone` is 0": {Unprivileged: "0"},
	} {
		remedy := s.Explain(syscall.EPERM, "sudo swarm setup apparmor").Remedy
		for _, word := range regexp.MustCompile(`[A-Za-z_.-]+(=|: (?:true|false|[A-Z]))[A-Za-z0-9]*|sudo [a-z -]+`).FindAllString(remedy, -1) {
			if !strings.Contains(documented[row], word) {
				t.Errorf("the row %q lacks %q of the remedy %q", row, word, remedy)
			}
		}
		if documented[row] == "" || remedy == "" {
			t.Errorf("the row %q has %q, and the remedy is %q", row, documented[row], remedy)
		}
	}
}

func TestExplainProc(t *testing.T) {
	t.Parallel()
	for kind, want := range map[Container]string{
		"":           "",
		Docker:       "the container covers parts of /proc: docker run --security-opt systempaths=unconfined",
		Podman:       "the container covers parts of /proc: podman run --security-opt unmask=ALL",
		Kubernetes:   "the container covers parts of /proc: securityContext: {procMount: Unmasked} and hostUsers: false in the pod",
		Devcontainer: `the container covers parts of /proc: add "securityOpt": ["systempaths=unconfined"] to devcontainer.json`,
		Actions:      "the container covers parts of /proc: options: --security-opt systempaths=unconfined below container: of the job",
		GitLab:       `the container covers parts of /proc: add security_opt = ["systempaths=unconfined"] to [runners.docker] of the runner`,
		LXC:          "the container covers parts of /proc",
		Unknown:      "the container covers parts of /proc",
	} {
		if got := (System{Container: kind}).ExplainProc().String(); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}
