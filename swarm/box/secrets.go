package box

import (
	"path/filepath"
	"slices"
	"strings"
)

// secretFolders are the folders of HOME that hold nothing but what opens other
// doors. Agents never see them.
func secretFolders() []string {
	return []string{
		".ssh", ".aws", ".gnupg", ".kube", ".azure", ".password-store", ".local/share/keyrings",
		".config/gh", ".config/hub", ".config/glab-cli", ".config/gcloud", ".config/op", ".config/rclone", ".config/doctl", ".config/hcloud",
		".config/sops", ".config/stripe", ".config/ngrok", ".config/netlify", ".oci", ".aliyun", ".bluemix", ".jfrog", ".fly", ".ngrok2",
		".kaggle", ".local/share/com.vercel.cli", ".local/share/uv/credentials", ".config/github-copilot", ".config/openstack",
		".config/.wrangler/config", ".wrangler/config", ".subversion/auth", ".config/hatch", ".config/turborepo", ".turbo", ".gradle/init.d",
		".cache/git/credential", ".git-credential-cache", ".config/linode-cli", ".config/scw", ".config/tea", ".config/lab", ".config/filezilla",
		".config/msmtp", ".config/mutt", ".config/neomutt", ".config/borg", ".config/age", ".config/environment.d", ".cloudflared",
		".local/share/kwalletd", ".local/share/python_keyring", ".config/Bitwarden", ".config/Bitwarden CLI", ".bitcoin", ".electrum",
		".ethereum/keystore", ".config/solana", ".config/Signal", ".config/Slack", ".config/discord",
		// Histories that are no lines of text.
		".local/share/atuin", ".local/share/mcfly", ".local/share/xonsh", ".local/share/powershell/PSReadLine", ".bash_sessions", ".zsh_sessions",
		".local/state/nvim/shada", ".local/share/nvim/shada",
		// Sessions and passwords of browsers.
		".mozilla", ".thunderbird", ".config/mozilla", ".config/google-chrome", ".config/google-chrome-beta", ".config/google-chrome-unstable",
		".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi", ".config/opera", ".librewolf", ".zen", ".waterfox",
		".var/app/org.mozilla.firefox", ".var/app/com.google.Chrome", ".var/app/org.chromium.Chromium", ".var/app/com.brave.Browser",
		".var/app/com.microsoft.Edge", "snap/firefox", "snap/chromium", "snap/brave", ".cache/mozilla", ".cache/google-chrome", ".cache/chromium",
		"Library/Application Support/Firefox", "Library/Application Support/Google/Chrome", "Library/Application Support/Chromium",
		"Library/Application Support/BraveSoftware", "Library/Application Support/Microsoft Edge", "Library/Application Support/Arc",
		"Library/Safari", "Library/Cookies", "Library/Keychains",
	}
}

// secretFiles are files of HOME with credentials, in folders that hold other
// things as well.
func secretFiles() []string {
	return []string{
		".netrc", "_netrc", ".git-credentials", ".config/git/credentials", ".npmrc", ".yarnrc.yml", ".pypirc", ".pgpass",
		".docker/config.json", ".config/containers/auth.json", ".cargo/credentials", ".cargo/credentials.toml",
		".gem/credentials", ".config/composer/auth.json", ".composer/auth.json", ".terraform.d/credentials.tfrc.json",
		".vault-token", ".s3cfg", ".boto", ".m2/settings.xml", ".m2/settings-security.xml", ".m2/settings-security4.xml",
		".gradle/gradle.properties", ".config/pip/pip.conf", ".pip/pip.conf", ".config/pypoetry/auth.toml", ".bundle/config",
		".nuget/NuGet/NuGet.Config", ".config/NuGet/NuGet.Config", ".config/pnpm/rc", ".config/pnpm/auth.ini", ".bunfig.toml",
		".terraformrc", ".sbt/.credentials", ".ivy2/.credentials", ".hex/hex.config", ".pub-cache/credentials.json",
		".config/dart/pub-credentials.json", ".config/helm/registry/config.json", ".rclone.conf",
		".config/configstore/firebase-tools.json", ".cache/huggingface/token", ".huggingface/token", ".sentryclirc", ".databrickscfg",
		".gitconfig", ".config/git/config", ".cargo/config.toml", ".cargo/config", ".config/uv/uv.toml", ".yarnrc", ".condarc", ".gemrc",
		".curlrc", ".config/curlrc", ".wgetrc", ".gradle/init.gradle", ".gradle/init.gradle.kts", ".env", ".erlang.cookie",
		".config/erlang/.erlang.cookie", ".my.cnf", ".mylogin.cnf", ".dbt/profiles.yml", ".snowsql/config", ".circleci/cli.yml", ".dockercfg", ".snowflake/config.toml", ".snowflake/connections.toml",
		".gitcookies", ".authinfo", ".authinfo.gpg", ".msmtprc", ".mbsyncrc", ".offlineimaprc", ".fetchmailrc", ".mailrc", ".muttrc", ".cvspass",
		".smbcredentials", ".envrc", ".secrets", ".pam_environment", ".python-gitlab.cfg", ".modal.toml", ".android/adbkey",
		".pulumi/credentials.json", ".railway/config.json", ".supabase/access-token",
		".config/Code/User/globalStorage/state.vscdb", ".config/Cursor/User/globalStorage/state.vscdb",
		".ipython/profile_default/history.sqlite", ".config/nushell/history.sqlite3",
	}
}

// machineSecrets are folders outside of HOME with secrets that a container or a unit of
// systemd is given. The token of a pod lies in the first two.
func machineSecrets() []string {
	return []string{"/run/secrets", "/var/run/secrets", "/run/credentials", "/run/credstore"}
}

// Histories are files of HOME to which shells and other programs add the lines that
// their user types, credentials too.
func Histories() []string {
	return []string{
		".bash_history", ".zsh_history", ".zhistory", ".histfile", ".sh_history", ".ash_history", ".history", ".local/share/fish/fish_history",
		".python_history", ".node_repl_history", ".psql_history", ".mysql_history", ".mariadb_history", ".sqlite_history", ".rediscli_history",
		".irb_history", ".local/share/irb/history", ".pry_history", ".lesshst", ".local/state/lesshst", ".ts_node_repl_history", ".dbshell",
		".mongodb/mongosh/mongosh_repl_history", ".config/nushell/history.txt", ".julia/logs/repl_history.jl", ".scala_history", ".php_history",
		".local/share/zsh/history", ".local/state/zsh/history", ".cache/zsh/history", ".config/zsh/.zsh_history", ".zsh/.zsh_history",
		".local/state/bash/history", ".local/state/python_history", ".xonsh_history", ".tig_history", ".calc_history", ".gdb_history", ".lldb/lldb-history", ".Rhistory",
		".ghc/ghci_history", ".duckdb_history", ".mycli-history", ".config/pgcli/history", ".config/litecli/history", ".cassandra/cqlsh_history",
		".clickhouse-client-history", ".viminfo",
	}
}

// logins are where programs that are agents keep who their user is. One kind
// has no business with that of another, and any command could spend it.
func logins() []string {
	return []string{
		".claude", ".claude.json", ".codex/auth.json", ".copilot", ".gemini", ".qwen", ".pi/agent", ".local/share/opencode/auth.json",
	}
}

// secretVars are the variables by which tools are told to keep their secrets
// elsewhere, and what is one there; empty: all that is.
func secretVars() map[string][]string {
	return map[string][]string{
		"XDG_CONFIG_HOME": configSecrets(), "GRADLE_USER_HOME": {"gradle.properties", "init.d", "init.gradle", "init.gradle.kts"}, "PIP_CONFIG_FILE": {""}, "RCLONE_CONFIG": {""},
		"BUNDLE_USER_CONFIG": {""}, "BUNDLE_USER_HOME": {"config"}, "COMPOSER_HOME": {"auth.json"}, "TF_CLI_CONFIG_FILE": {""},
		"AZURE_CONFIG_DIR": {""}, "CLOUDSDK_CONFIG": {""}, "PGPASSFILE": {""}, "HF_HOME": {"token"}, "HEX_HOME": {"hex.config"},
		"PUB_CACHE":  {"credentials.json"},
		"CARGO_HOME": {"credentials", "credentials.toml", "config.toml", "config"}, "DOCKER_CONFIG": {"config.json"}, "CODEX_HOME": {"auth.json"},
		"XDG_DATA_HOME": {"keyrings", "opencode/auth.json", "fish/fish_history", "zsh/history"}, "GNUPGHOME": {""}, "GH_CONFIG_DIR": {""}, "CLAUDE_CONFIG_DIR": {""},
		"GIT_CONFIG_GLOBAL": {""}, "UV_CONFIG_FILE": {""}, "CONDARC": {""}, "WGETRC": {""}, "CURL_HOME": {".curlrc"}, "HATCH_CONFIG": {""},
		"HISTFILE": {""}, "PYTHON_HISTORY": {""}, "NODE_REPL_HISTORY": {""}, "PSQL_HISTORY": {""}, "MYSQL_HISTFILE": {""},
		"SQLITE_HISTORY": {""}, "REDISCLI_HISTFILE": {""}, "LESSHISTFILE": {""},
		"XDG_STATE_HOME": {"lesshst", "bash/history", "zsh/history", "python_history"}, "ZDOTDIR": {".zsh_history", ".zhistory", ".histfile"},
		"AWS_SHARED_CREDENTIALS_FILE": {""}, "KUBECONFIG": {""}, "NETRC": {""}, "NPM_CONFIG_USERCONFIG": {""}, "npm_config_userconfig": {""},
	}
}

// configSecrets are those of ~/.config, relative to it.
func configSecrets() (all []string) {
	for _, name := range slices.Concat(secretFolders(), secretFiles(), Histories()) {
		if rel, ok := strings.CutPrefix(name, ".config/"); ok {
			all = append(all, rel)
		}
	}
	return all
}

// plain are the files below [Place.Plain] by the paths where agents see them, without
// those that the user hides.
func (c *composing) plain() map[string]string {
	all := map[string]string{}
	if c.Plain == "" || c.Home == "" {
		return all
	}
	for _, at := range c.PlainFiles {
		given := func(path string) bool { to, ok := real(expand(path, c.Home)); return ok && covers(to, at) }
		if to, ok := real(at); ok && to == at && !slices.ContainsFunc(c.Hide, given) {
			all[at] = filepath.Join(c.Plain, at)
		}
	}
	return all
}

// secrets are the paths that agents do not see for what they hold, as far as
// they may be there.
func (c *composing) secrets() []string {
	var all []string
	if c.Home != "" {
		for _, name := range slices.Concat(secretFolders(), secretFiles(), Histories(), logins()) {
			path := filepath.Join(c.Home, name)
			// Whoever may write to the folder of a tool is not held up by what
			// is not in it.
			if (exists(path) || filepath.Dir(name) == ".") && !c.opened(path) {
				all = append(all, path)
			}
		}
	}
	for name, files := range secretVars() {
		for _, dir := range filepath.SplitList(c.Getenv(name)) {
			for _, file := range files {
				if path := filepath.Join(dir, file); filepath.IsAbs(dir) && exists(path) && !isDevice(path) && !c.opened(path) && !c.ours(path) {
					all = append(all, path)
				}
			}
		}
	}
	for _, path := range c.Secret {
		if exists(path) && !c.ours(path) {
			all = append(all, path)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// opened reports whether the agent was given the folder of a login to write to,
// which only its user says, as they do of the agent that it is the login of.
func (c *composing) opened(path string) bool {
	at, ok := real(path)
	if !ok || !slices.ContainsFunc(logins(), func(name string) bool { return filepath.Join(c.Home, name) == path }) {
		return false
	}
	return slices.ContainsFunc(c.Pieces, func(p Piece) bool {
		return p.Write && p.From == p.At && covers(p.At, at) && !covers(p.At, c.Home)
	})
}

// ours reports whether a path lies in what the place is made of: what somebody
// put into a variable must not take a file of the repository away.
func (c *composing) ours(path string) bool {
	at, ok := real(path)
	return !ok || slices.ContainsFunc(c.Pieces, func(p Piece) bool { return !p.same() && covers(p.At, at) })
}

// Logins are the paths of a HOME where programs that are agents keep who their
// user is. An agent sees one only if it is in a folder of HOME that it was given
// to write to.
func Logins(home string) []string {
	var all []string
	for _, name := range logins() {
		if home != "" {
			all = append(all, filepath.Join(home, name))
		}
	}
	return all
}
