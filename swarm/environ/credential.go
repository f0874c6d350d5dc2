package environ

import (
	"regexp"
	"strings"
	"sync"
)

// Credential reports whether a variable seems to hold a credential, by its name
// or by its value. It decides which values are shown to people. The allowlist
// decides which variables agents get: no list of bad names is complete.
func Credential(name, value string) bool {
	return secretName(name) || secretValue(name, value)
}

// secretPatterns are the names of credentials: of variables, options, properties and
// headers. A name is matched in capitals and between _, as in _STRIPE_API_KEY_.
var secretPatterns = sync.OnceValue(func() []string {
	return strings.Fields(`
		*PASSWORD* *PASSWD* *PASSPHRASE* *SECRET* *CREDENTIAL* *APIKEY* *_API_KEY_* *_TOKEN_* *TOKEN_
		*_API_TOKENS_ *_AUTH_TOKENS_ *_ACCESS_TOKENS_ _TOKENS_
		*_KEY_ *_KEYS_ *_KEY_ID_ *_PASS_ *_PWD_ *_CREDS_ *_AUTH_ *_AUTHORIZATION_ *_COOKIE_ *_COOKIES_ *_JWT_ *_BEARER_ *_PAT_
		*_SK_ *_OTP_ *_DSN_ *_CONNECTION_STRING_ *_CONN_STR_ *_CONNSTR_ *_WEBHOOK_ *_WEBHOOK_URL_ *_CUSTOM_HEADERS_ *_MNEMONIC_
		_AWS_* _AZURE_* _VAULT_* _TF_VAR_*
		_SSH_AUTH_SOCK_ _SSH_AGENT_PID_ _GPG_AGENT_INFO_ _NETRC_ _KUBECONFIG_ _DOCKER_AUTH_CONFIG_ _GOAUTH_
		_DATABASE_URL_ _REDIS_URL_ _MONGODB_URI_`)
})

// secretName reports whether a name is that of a credential. Words may also be
// joined by dots, dashes or capitals, as in signing.secretKey.
func secretName(name string) bool {
	words := strings.ToUpper(hump().ReplaceAllString(name, "${1}_$2"))
	return Match(secretPatterns(), "_"+words+"_")
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
	// named is a word that may be the name of the value after it.
	named = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z_][\w.-]*`) })
	// hump is where a word of a name such as secretKey begins.
	hump = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([a-z0-9])([A-Z])|[.-]`) })
)

// givesSecret reports whether a value gives another value to the name of a
// credential, as in MAKEFLAGS or the options of a program: name=value, name:
// value, "name": "value", -Dname=value, --name value.
func givesSecret(value string) bool {
	for _, at := range named().FindAllStringIndex(value, -1) {
		name, before := value[at[0]:at[1]], value[:at[0]]
		if !secretName(name) && !(property(before, name) && secretName(name[1:])) {
			continue
		}
		if follows(before, name, strings.TrimLeft(value[at[1]:], "\"'\\")) {
			return true
		}
	}
	return false
}

// property reports whether a name has the letter of an option before it: -D or -P.
func property(before, name string) bool {
	return strings.HasSuffix(before, "-") && len(name) > 1 && (name[0] == 'D' || name[0] == 'P')
}

// follows reports whether a value of a name begins after. The value of an
// option may look like another option, and is the next word. A colon after a
// path separates folders, as in PATH.
func follows(before, name, after string) bool {
	rest := strings.TrimLeft(after, " \t\r\n")
	switch {
	case strings.HasPrefix(rest, "="):
	case strings.HasPrefix(rest, ":"):
		if strings.HasSuffix(before, "/") || strings.HasSuffix(before, ".") {
			return false
		}
	default:
		// Letters of short options stand together, as in -sk.
		option := strings.HasSuffix(before, "--") || strings.HasSuffix(before, "-") && len(name) > 2
		return option && rest != "" && rest != after
	}
	return strings.TrimSpace(rest[1:]) != ""
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
	return slashed().MatchString(value) || givesSecret(value)
}
