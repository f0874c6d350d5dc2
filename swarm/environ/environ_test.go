package environ

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the list of plain variables in the documentation")

// passing are variables that agents get, with a usual value where it matters.
const passing = `
HOME USER LOGNAME SHELL PATH LANG LANGUAGE LC_ALL LC_CTYPE LC_TIME TZ TERM COLORTERM COLUMNS LINES NO_COLOR FORCE_COLOR
EDITOR PAGER TMPDIR XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_DIRS HOSTNAME CI GITHUB_ACTIONS GITLAB_CI BUILDKITE
no_proxy NO_PROXY http_proxy HTTPS_PROXY ALL_PROXY SSL_CERT_FILE NODE_EXTRA_CA_CERTS CC CXX CFLAGS LDFLAGS MAKEFLAGS
PKG_CONFIG_PATH LD_LIBRARY_PATH GOPATH GOROOT GOCACHE GOMODCACHE GOFLAGS GOPROXY GOPRIVATE GOTOOLCHAIN CGO_ENABLED
GOCOVERDIR CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN RUSTFLAGS RUST_BACKTRACE CARGO_TARGET_DIR NVM_DIR NODE_ENV NODE_PATH
NODE_OPTIONS VOLTA_HOME FNM_DIR PNPM_HOME BUN_INSTALL DENO_DIR npm_config_cache NPM_CONFIG_REGISTRY
PLAYWRIGHT_BROWSERS_PATH VIRTUAL_ENV PYTHONPATH PYTHONUNBUFFERED PYENV_ROOT CONDA_PREFIX PIP_INDEX_URL POETRY_HOME UV_CACHE_DIR
CUDA_VISIBLE_DEVICES JAVA_HOME MAVEN_OPTS M2_HOME GRADLE_USER_HOME SDKMAN_DIR ANDROID_HOME GEM_HOME BUNDLE_PATH RBENV_ROOT
RAILS_ENV COMPOSER_HOME DOTNET_ROOT NUGET_PACKAGES PERL5LIB MIX_ENV OPAMROOT STACK_ROOT ASDF_DIR MISE_DATA_DIR NIX_PATH
HOMEBREW_PREFIX SOURCE_DATE_EPOCH DEBIAN_FRONTEND
`

// heldBack are variables that agents do not get unless somebody names them.
const heldBack = `
STRIPE_SK PASSPHRASE SLACK_WEBHOOK_URL JWT CREDENTIALS AUTH PAT COOKIE CONN_STR TOKEN PASSWORD SECRET GITHUB_TOKEN GH_TOKEN
GITLAB_TOKEN NPM_TOKEN NODE_AUTH_TOKEN CARGO_REGISTRY_TOKEN PYPI_PASSWORD TWINE_PASSWORD HF_TOKEN OPENAI_API_KEY
ANTHROPIC_API_KEY GEMINI_API_KEY AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_PROFILE AWS_REGION
aws_secret_access_key AZURE_CLIENT_SECRET GOOGLE_APPLICATION_CREDENTIALS VAULT_ADDR VAULT_TOKEN TF_VAR_db DATABASE_URL REDIS_URL
MONGO_URI PGPASSWORD PGHOST MYSQL_PWD SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO NETRC KUBECONFIG DOCKER_HOST
DOCKER_AUTH_CONFIG DBUS_SESSION_BUS_ADDRESS DISPLAY WAYLAND_DISPLAY XAUTHORITY SENTRY_DSN MY_DSN DB_PASS SMTP_LOGIN
TWILIO_SID SECRETKEY MASTERKEY ENCRYPTION_IV SESSION SALT PEPPER BEARER APP_CONFIG VENDOR ACCOUNT MNEMONIC SEED LICENSE
GITHUB_ENV GITHUB_OUTPUT GITHUB_PATH GITHUB_STEP_SUMMARY ACTIONS_RUNTIME_URL CI_JOB_JWT CI_REGISTRY_USER GOAUTH NPM_CONFIG__AUTH
npm_config__authToken NPM_CONFIG_USERCONFIG LD_PRELOAD LD_AUDIT BASH_ENV ENV PROMPT_COMMAND PERL5OPT PYTHONSTARTUP
DOCKER_PASSWORD MY_VARIABLE FOO path Path HOMES LC GIT_DIR GIT_WORK_TREE GIT_SSH_COMMAND GIT_AUTHOR_NAME SWARM_AGENT
SWARM_STATE_DIR SWARM_PASS_ENV PWD OLDPWD WSL_INTEROP TMUX _ SHLVL
`

// TestPasses holds the list both ways, without anybody who names a variable.
func TestPasses(t *testing.T) {
	t.Parallel()
	pass, held := strings.Fields(passing), strings.Fields(heldBack)
	if len(pass)+len(held) < 150 {
		t.Fatalf("the table has %d names, want 150", len(pass)+len(held))
	}
	for _, name := range pass {
		if !(Rules{}).Passes(name, "/a/b:1") {
			t.Errorf("%s is held back", name)
		}
	}
	for _, name := range held {
		if (Rules{}).Passes(name, "/a/b:1") {
			t.Errorf("%s passes", name)
		}
	}
}

// TestNoPlainCredential holds that no name of the list is that of a
// credential.
func TestNoPlainCredential(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, g := range Groups() {
		for _, name := range g.Names {
			if secretName(strings.TrimSuffix(name, "*")) {
				t.Errorf("%s: %s is the name of a credential", g.Purpose, name)
			}
			if seen[name] {
				t.Errorf("%s: %s appears twice", g.Purpose, name)
			}
			seen[name] = true
		}
	}
}

// TestValues checks the treatment of plain names whose value is not plain.
func TestValues(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, value string
		want        bool
	}{
		{"HTTPS_PROXY", "http://proxy.example.org:3128", true},
		{"HTTPS_PROXY", "http://ada:pw@proxy.example.org:3128", false},
		{"https_proxy", "http://ada@proxy.example.org:3128", false},
		{"http_proxy", "ada:pw@proxy.example.org:3128", false},
		{"ALL_PROXY", "socks5h://127.0.0.1:9050", true},
		{"ALL_PROXY", "socks5://u:p@127.0.0.1:9050", false},
		{"NO_PROXY", "localhost,.example.org,10.0.0.0/8", true},
		{"HTTP_PROXY", "http://ada:p/w@proxy.example.org", false},
		{"HTTP_PROXY", "http://:pw@proxy.example.org", false},
		{"GOPROXY", "https://goproxy.example.org,direct", true},
		{"GOPROXY", "https://proxy.example.org,https://u:t@goproxy.example.org|direct", false},
		{"PIP_INDEX_URL", "https://pypi.example.org/simple", true},
		{"PIP_INDEX_URL", "https://__token__:x@pypi.example.org/simple", false},
		{"PIP_EXTRA_INDEX_URL", "https://ghp_x@pypi.example.org/simple", false},
		{"npm_config_registry", "https://npm.example.org:8080/@scope/", true},
		{"NODE_OPTIONS", "--import file:///a/@scope/x.mjs", true},
		{"MAVEN_OPTS", "-Xmx2g -Duser.home=/x", true},
		{"MAVEN_OPTS", "-Dhttp.proxyUser=ada -Dhttp.proxyPassword=pw", false},
		{"GRADLE_OPTS", "-Psigning.secretKey: x", false},
		{"JAVA_TOOL_OPTIONS", "-Dapi.key=1 -Dtoken=t", false},
		{"GOFLAGS", "-mod=vendor -tags=secret", true},
		{"GOFLAGS", "-ldflags=-X=main.apiKey=x", false},
		{"PYTEST_ADDOPTS", "-k auth --maxfail 1", true},
		{"PYTEST_ADDOPTS", "--db-password x", false},
		{"PYTEST_ADDOPTS", "-q --api-key=x", false},
		{"PYTEST_ADDOPTS", "--password -x", false},
		{"PYTEST_ADDOPTS", "--password --x", false},
		{"PYTEST_ADDOPTS", "--password\t'-x'", false},
		{"PYTEST_ADDOPTS", "'--password' '-x'", false},
		{"PYTEST_ADDOPTS", "--password=-x", false},
		{"PYTEST_ADDOPTS", "--password = -x", false},
		{"PYTEST_ADDOPTS", "-password -x", false},
		{"PYTEST_ADDOPTS", "-token x", false},
		{"PYTEST_ADDOPTS", "-q --password", true},
		{"PYTEST_ADDOPTS", "-q --password ", true},
		{"LESS", "-sk -R", true},
		{"MAVEN_OPTS", "-Dkey=x", false},
		{"MAVEN_OPTS", "-Ptoken -x", false},
		{"MAVEN_OPTS", "-DmyToken -x", false},
		{"MAVEN_OPTS", "-Dmytoken=x", false},
		{"MAVEN_OPTS", "-Dmax.tokens=5 -Dtokenizer=fast", true},
		{"NODE_OPTIONS", `--cfg={"password":"x"}`, false},
		{"NODE_OPTIONS", `--cfg={\"apiKey\": \"x\"}`, false},
		{"MAVEN_ARGS", "-H 'Authorization: Bearer x'", false},
		{"MAVEN_ARGS", "-H X-Api-Key:x", false},
		{"MAVEN_ARGS", "-pl :auth -am", true},
		{"MAKEFLAGS", "-k -- PREFIX=/usr CI=1", true},
		{"MAKEFLAGS", " -- DEPLOY_AUTH=x", false},
		{"MAKEFLAGS", "-- SK=x V=1", false},
		{"JAVA_OPTS", "-Dssl.keyFile=/x -Dsecond=1", true},
		{"JAVA_OPTS", "-Dsigning.key=x", false},
		{"CMAKE_PREFIX_PATH", "/opt/mytoken:/opt/secrets:/usr", true},
		{"PATH", "/home/ada/auth:/opt/api-key:/usr/bin", true},
		{"GOPRIVATE", "ssh://git@example.org/x", true},
		{"GOPRIVATE", "ssh://git:pw@example.org/x", false},
		{"HOME", "/home/a@b", true},
		{"LANG", "", true},
	} {
		if got := (Rules{}).Passes(tt.name, tt.value); got != tt.want {
			t.Errorf("Passes(%s, %q) = %t, want %t", tt.name, tt.value, got, tt.want)
		}
	}
}

// TestNamed checks which variables pass once a setting names them.
func TestNamed(t *testing.T) {
	t.Parallel()
	r := Rules{
		Needs: []string{"MY_KEY", "SWARM_BUILTIN_MODEL", "GIT_ASKPASS"}, Settings: []string{"TOOL_BASE_URL", "TOOL_*"},
		Pass: []string{"NPM_TOKEN", "APP_*", "*_DSN", "A*B*C", "GIT_SSL_CAINFO", "HTTP_PROXY", "P*"},
	}
	for _, tt := range []struct {
		name, value string
		want        bool
	}{
		{"MY_KEY", "x", true},
		{"MY_KEY_2", "x", false},
		{"SWARM_BUILTIN_MODEL", "x", true},
		{"SWARM_RUN", "x", false},
		{"GIT_ASKPASS", "x", false},
		{"TOOL_BASE_URL", "https://u:p@example.org", true},
		{"TOOL_MODE", "x", true},
		{"TOOL_API_KEY", "x", false},
		{"TOOL_PROXY", "http://u:p@example.org", false},
		{"NPM_TOKEN", "x", true},
		{"npm_token", "x", false},
		{"APP_SECRET", "x", true},
		{"APP", "x", false},
		{"X_DSN", "x", true},
		{"AxBxC", "x", true},
		{"ABC", "x", true},
		{"AC", "x", false},
		{"GIT_SSL_CAINFO", "x", true},
		{"GIT_DIR", "x", false},
		{"GIT_LFS_SKIP_SMUDGE", "1", true},
		{"HTTP_PROXY", "http://u:p@example.org", true},
		{"PWD", "/x", false},
	} {
		if got := r.Passes(tt.name, tt.value); got != tt.want {
			t.Errorf("Passes(%s, %q) = %t, want %t", tt.name, tt.value, got, tt.want)
		}
	}
	if all := (Rules{Pass: []string{"*"}}); !all.Passes("FOO", "x") || all.Passes("GIT_DIR", "x") || all.Passes("SWARM_RUN", "x") || all.Passes("GIT_AUTHOR_NAME", "x") {
		t.Error("* passes what needs a name, or not the rest")
	}
}

// TestSelect checks the order of the passed variables, and which of the rest
// are named.
func TestSelect(t *testing.T) {
	t.Parallel()
	passed, held := Rules{Pass: []string{"NPM_TOKEN"}}.Select([]string{"BASH_FUNC_x%%=() {  }", "$=x",
		"PATH=/bin", "STRIPE_SK=x", "=odd", "noequals", "SHLVL=2", "NPM_TOKEN=t=u", "PWD=/x", "SWARM_RUN=1", "HTTP_PROXY=http://a:b@c", "LANG=", "STRIPE_SK=y",
	})
	if want := []string{"PATH=/bin", "NPM_TOKEN=t=u", "LANG="}; !slices.Equal(passed, want) {
		t.Errorf("passed = %q, want %q", passed, want)
	}
	if want := []string{"HTTP_PROXY", "STRIPE_SK"}; !slices.Equal(held, want) {
		t.Errorf("held = %q, want %q", held, want)
	}
}

// TestCredential checks which values are hidden from output for people.
func TestCredential(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, value string
		want        bool
	}{
		{"MY_API_KEY", "x", true},
		{"STRIPE_SK", "x", true},
		{"SLACK_WEBHOOK_URL", "x", true},
		{"password", "x", true},
		{"MYPASSWORD", "x", true},
		{"AWS_REGION", "x", true},
		{"SERVER", "https://ada:pw@example.org/", true},
		{"SERVER", "https://example.org/", false},
		{"MYTOKEN", "x", true},
		{"TOKENS", "x", true},
		{"SECRETKEY", "x", true},
		{"SSH_AUTH_SOCK", "/x", true},
		{"KEYBOARD", "de", false},
		{"MONKEY", "1", false},
		{"TOKENIZER", "fast", false},
		{"MAX_THINKING_TOKENS", "1", false},
		{"HOME", "/home/ada", false},
	} {
		if got := Credential(tt.name, tt.value); got != tt.want {
			t.Errorf("Credential(%s, %s) = %t, want %t", tt.name, tt.value, got, tt.want)
		}
	}
}

// TestCheckPattern holds which patterns are refused, and that no message
// repeats a value.
func TestCheckPattern(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"A", "MY_TOKEN", "MY_*", "*", "*_DSN", "_x9", "GIT_SSL_CAINFO", "npm_config_*"} {
		if err := CheckPattern(good); err != nil {
			t.Errorf("CheckPattern(%q) = %v", good, err)
		}
	}
	for bad, want := range map[string]string{
		"":                 "an empty name",
		"A B":              "is not the name of a variable",
		"9A":               "is not the name of a variable",
		"A-B":              "is not the name of a variable",
		"$A":               "is not the name of a variable",
		"MY_TOKEN=hunter2": "names variables without their values",
		"SWARM_RUN":        "set by swarm alone",
		"SWARM_*":          "set by swarm alone",
		"GIT_DIR":          "out of their workspaces",
		"PWD":              "out of their workspaces",
		"GIT_*":            "by their whole names only",
	} {
		err := CheckPattern(bad)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("CheckPattern(%q) = %v, want %q in it", bad, err, want)
		}
	}
}

// FuzzRules checks that foreign names and values end in a decision, and that a
// variable that leads git elsewhere never passes.
func FuzzRules(f *testing.F) {
	f.Add("A*B", "AxB", "http://a:b@c")
	f.Add("*", "GIT_DIR", "")
	f.Fuzz(func(t *testing.T, pattern, name, value string) {
		r := Rules{Pass: []string{pattern}}
		if r.Passes(name, value) && misleads(name) {
			t.Errorf("%q passes by %q", name, pattern)
		}
		if CheckPattern(pattern) == nil && !strings.Contains(pattern, "*") && !r.Passes(pattern, value) {
			t.Errorf("%q does not pass by its own name", pattern)
		}
	})
}

// TestPlainVariables holds the list of plain variables in the documentation to
// that of the program. -update writes it.
func TestPlainVariables(t *testing.T) {
	t.Parallel()
	const file = "../../docs/plain-variables.txt"
	var b strings.Builder
	b.WriteString("The variables of your environment that agents get, by purpose. * stands for any\n" +
		"characters. TestPlainVariables in swarm/environ writes this file.\n")
	for _, g := range Groups() {
		fmt.Fprintf(&b, "\n%s:\n", g.Purpose)
		for _, name := range g.Names {
			b.WriteString("  " + name + "\n")
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != b.String() {
		t.Errorf("%s is not the list of the program; rewrite it with -update", file)
	}
}
