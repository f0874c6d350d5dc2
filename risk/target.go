package risk

import (
	"path"
	"slices"
	"strings"
)

// outside reports whether a file is neither in the work tree nor temporary. A
// file without a known path may be anywhere.
func (t *target) outside(p *Place) bool {
	if t.path == "" {
		return true
	}
	switch p.areaOf(t.path) {
	case areaTree, areaTmp, areaGit:
		return false
	case areaOutside, areaCommon, areaOther:
		return !t.partial || !isStream(t.path+"/"+t.name)
	}
	return true
}

// isStream says that a path is a device that keeps nothing.
func isStream(file string) bool {
	switch file {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom":
		return true
	}
	return strings.HasPrefix(file, "/dev/fd/") || strings.HasPrefix(file, "/dev/pts/") || strings.HasPrefix(file, "/dev/shm/") ||
		strings.HasPrefix(file, "/proc/self/fd/")
}

// ciFolders and ciFiles are where the rules of continuous integration are, by
// paths below the top.
func ciFolders() []string {
	return []string{
		".github/workflows", ".github/actions", ".circleci", ".buildkite", ".semaphore", ".woodpecker", ".gitlab/ci",
		".tekton", ".azure-pipelines", ".teamcity", ".forgejo/workflows", ".gitea/workflows",
	}
}

func ciFiles() []string {
	return []string{
		".gitlab-ci.yml", ".gitlab-ci.yaml", "Jenkinsfile", "azure-pipelines.yml", "azure-pipelines.yaml", ".travis.yml",
		"bitbucket-pipelines.yml", ".drone.yml", ".drone.yaml", ".woodpecker.yml", ".woodpecker.yaml", "cloudbuild.yaml",
		"cloudbuild.yml", "cloudbuild.json", "buildspec.yml", "buildspec.yaml", "appveyor.yml", ".appveyor.yml", ".cirrus.yml",
		"codemagic.yaml", ".github/dependabot.yml", "wercker.yml", ".scrutinizer.yml",
	}
}

// isCI says that a path below the top belongs to continuous integration.
func isCI(file string) bool {
	file = strings.ToLower(file) // some file systems ignore the case of names
	for _, folder := range ciFolders() {
		if inside(folder, file) {
			return true
		}
	}
	base := path.Base(file)
	switch {
	case slices.ContainsFunc(ciFiles(), func(one string) bool { return strings.EqualFold(one, file) }):
		return true
	case strings.HasPrefix(base, "jenkinsfile"), strings.HasPrefix(base, "azure-pipelines") && isYAML(base):
		return true
	}
	// those that such services also read in folders below
	return slices.Contains([]string{".gitlab-ci.yml", "cloudbuild.yaml", "buildspec.yml"}, base) || strings.HasSuffix(base, ".gitlab-ci.yml")
}

func isYAML(name string) bool {
	return strings.HasSuffix(name, ".yml") || strings.HasSuffix(name, ".yaml")
}

// ci says that a file belongs to continuous integration, or may.
func (t *target) ci(p *Place) bool {
	file, ok := p.below(t.path)
	if !ok {
		return false
	}
	if !t.partial {
		return isCI(file) || t.kind == removes && holdsCI(file)
	}
	if isCI(path.Join(file, "x")) { // the folder belongs to them
		return true
	}
	start := path.Join(file, t.name)
	if file == "" && t.name == "" {
		return t.present(p)
	}
	if t.name == "" { // "*" leaves out names that begin with a dot
		start += "/"
	}
	for _, known := range slices.Concat(ciFolders(), ciFiles()) {
		if strings.HasPrefix(known, start) && !strings.HasPrefix(known[len(start):], ".") {
			return true
		}
	}
	return false
}

// holdsCI reports whether a folder stands above those of continuous
// integration.
func holdsCI(file string) bool {
	return file == ".github" || file == ".gitlab" || file == ".forgejo" || file == ".gitea"
}

// agents reports whether a file of the work tree is a source of grants.
func (t *target) agents(p *Place) bool {
	if _, ok := p.below(t.path); !ok || p.areaOf(t.path) != areaTree {
		return false
	}
	if t.partial {
		return t.name != "" && strings.HasPrefix("AGENTS.md", t.name)
	}
	return strings.EqualFold(path.Base(t.path), "AGENTS.md")
}

// present reports whether the place has a file that a pattern at the top can
// mean. A pattern that begins with a wildcard means no file that begins with a
// dot.
func (t *target) present(p *Place) bool {
	for _, known := range ciFiles() {
		if fits, err := path.Match(t.pattern, known); known[0] == '.' || !fits && err == nil {
			continue
		}
		if k := p.kind(path.Join(p.Root, known)); k == PathFile || k == PathLink {
			return true
		}
	}
	return false
}

// startup says that a file is run, or obeyed, by programs that start later:
// those of a shell, of ssh, of git, of cron.
func (t *target) startup(p *Place) bool {
	file, ok := p.home(t.path)
	if !ok {
		for _, folder := range []string{"/etc", "/var/spool/cron", "/usr/lib/systemd", "/lib/systemd", "/Library/LaunchAgents", "/Library/LaunchDaemons"} {
			if inside(folder, t.path) {
				return true
			}
		}
		return false
	}
	if a := p.areaOf(t.path); a == areaTree || a == areaTmp {
		return false
	}
	for _, folder := range []string{".ssh", ".gnupg", ".config/autostart", ".config/systemd", ".config/fish", ".config/git", "Library/LaunchAgents", ".aws", ".kube", ".docker"} {
		if inside(folder, file) {
			return true
		}
	}
	return slices.Contains([]string{
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile",
		".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".inputrc", ".gitconfig", ".npmrc", ".pypirc", ".netrc",
		".vimrc", ".exrc", ".emacs", ".tmux.conf", ".xinitrc", ".xprofile", ".xsession", ".curlrc", ".wgetrc", ".cargo/config.toml",
		".pam_environment", ".pythonrc",
	}, file)
}

// device says that a file is a disk, or a switch of the kernel.
func (t *target) device(*Place) bool {
	for _, begins := range []string{
		"/dev/sd", "/dev/hd", "/dev/vd", "/dev/xvd", "/dev/nvme", "/dev/mmcblk", "/dev/disk", "/dev/rdisk", "/dev/mapper/", "/dev/dm-",
		"/dev/md", "/dev/loop", "/dev/mem", "/dev/kmem", "/dev/port",
	} {
		if strings.HasPrefix(t.path, begins) || t.partial && strings.HasPrefix(t.path+"/"+t.name, begins) {
			return true
		}
	}
	return inside("/proc", t.path) && !isStream(t.path) || inside("/sys", t.path) || inside("/boot", t.path)
}

// gitdir reports whether a file belongs to the git dir of the work tree. Files
// there that a person may write for git, such as the text of a commit, do not
// count.
func (t *target) gitdir(p *Place) bool {
	if t.path == "" || p.areaOf(t.path) != areaGit {
		return false
	}
	if t.kind != removes && !t.partial {
		switch base := path.Base(t.path); base {
		case "exclude", "description":
			return false
		default:
			return !isMessage(base)
		}
	}
	return true
}

// other reports whether a file is in another work tree, or among the files that
// work trees share.
func (t *target) other(p *Place) bool {
	if t.path == "" {
		return false
	}
	switch p.areaOf(t.path) {
	case areaCommon, areaOther:
		return true
	case areaOutside, areaTree, areaTmp, areaGit:
	}
	if t.kind != removes {
		return false
	}
	for _, o := range append([]string{p.CommonDir}, p.Others...) {
		if inside(t.path, o) && (t.deep || t.partial) {
			return true
		}
	}
	return false
}
