package environ

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Credential reports whether a variable looks like one that holds a
// credential, by its name or by its value. It decides what is shown to people.
// The allowlist decides which variables agents get: no list of bad names is
// complete.
func Credential(name, value string) bool {
	return secretName(name) || secretValue(name, value)
}

// secretNames are variables that hold credentials, by their whole name.
func secretNames() []string {
	return []string{
		"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "NETRC", "PGPASSWORD",
		"MYSQL_PWD", "KUBECONFIG", "DOCKER_AUTH_CONFIG", "GOOGLE_APPLICATION_CREDENTIALS",
		"VAULT_ADDR", "NPM_CONFIG__AUTH", "DATABASE_URL", "REDIS_URL", "MONGODB_URI", "PAT", "GOAUTH",
	}
}

// secretEnds are how the names of credentials end, after a _ or as a whole.
func secretEnds() []string {
	return []string{
		"TOKEN", "SECRET", "SECRETS", "KEY", "KEYS", "PASSWORD", "PASSWD", "PASSPHRASE", "PASS", "PWD", "CREDENTIALS",
		"CREDENTIAL", "CREDS", "AUTH", "AUTHORIZATION", "COOKIE", "COOKIES", "JWT", "BEARER", "PAT", "DSN", "SK",
		"KEY_ID", "CONNECTION_STRING", "CONN_STR", "CONNSTR", "WEBHOOK", "WEBHOOK_URL", "CUSTOM_HEADERS", "MNEMONIC", "OTP",
	}
}

// secretName reports whether a name is that of a credential.
func secretName(name string) bool {
	upper := strings.ToUpper(name)
	if slices.Contains(secretNames(), upper) || strings.HasSuffix(upper, "APIKEY") || strings.HasSuffix(upper, "AUTHTOKEN") ||
		strings.HasSuffix(upper, "PASSWORD") || strings.HasSuffix(upper, "SECRET") {
		return true
	}
	for _, start := range []string{"AWS_", "AZURE_", "VAULT_", "TF_VAR_"} {
		if strings.HasPrefix(upper, start) {
			return true
		}
	}
	return slices.ContainsFunc(secretEnds(), func(end string) bool {
		rest, ends := strings.CutSuffix(upper, end)
		return ends && (rest == "" || strings.HasSuffix(rest, "_"))
	})
}

// The forms of a credential in a value that is otherwise plain.
var (
	// authority is a URL whose host follows a user: SCHEME://USER@ or
	// SCHEME://USER:PASSWORD@.
	authority = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*)://([^/?#\s@]*)@`)
	})
	// slashed is a URL whose password holds a slash or the like.
	slashed = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`://[^/\s:@]+:[^\s@/?#]*[^0-9/?#\s@][^\s@]*@`)
	})
	// assigned is a word such as password in a name that has a value behind it. A
	// colon behind a path separates folders, as in PATH.
	assigned = sync.OnceValue(func() *regexp.Regexp {
		const word = `(passw(or)?d|passphrase|secret|token|api[._-]?key|credentials?)[\w.-]*`
		return regexp.MustCompile(`(?i)` + word + `\s*=\s*\S|(^|[^\w./-])[\w.-]*` + word + `\s*:\s*\S`)
	})
	// given is a name with a value behind it: NAME=value, -Dname=value or --name value.
	given = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:^|[^\w.])(?:-[DP])?([A-Za-z_][\w.-]*)\s*=\s*\S|(?:^|\s)--([A-Za-z][\w.-]*)\s+[^\s-]`)
	})
	// hump is where a word of a name such as secretKey begins.
	hump = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([a-z0-9])([A-Z])|[.-]`) })
)

// givesSecret reports whether a value gives one to a name that is one of a
// credential, as in MAKEFLAGS or the options of a program.
func givesSecret(value string) bool {
	for _, m := range given().FindAllStringSubmatch(value, -1) {
		if secretName(hump().ReplaceAllString(m[1]+m[2], "${1}_$2")) {
			return true
		}
	}
	return false
}

// secretValue reports whether a value holds a credential: a URL with a
// password, a URL of http with a user, which is a token as often, or an option
// that gives a password.
func secretValue(name, value string) bool {
	for _, m := range authority().FindAllStringSubmatch(value, -1) {
		user := m[2]
		switch strings.ToLower(m[1]) {
		case "ssh", "git", "git+ssh", "ssh+git", "svn+ssh":
			if strings.Contains(user, ":") {
				return true
			}
		default:
			return true
		}
	}
	// Proxies may stand without a scheme, as user:password@host:port.
	if strings.HasSuffix(strings.ToLower(name), "_proxy") && strings.Contains(value, "@") {
		return true
	}
	return slashed().MatchString(value) || assigned().MatchString(value) || givesSecret(value)
}
