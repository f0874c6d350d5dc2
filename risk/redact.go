package risk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// hidden stands where a secret was.
const hidden = "[redacted]"

// Redact returns a text without the secrets that have a known form. These are
// passwords in URLs, tokens, keys, and values after words that name a secret.
// The result is for records; it is no longer a command.
func Redact(text string) string {
	text = redactKeys(text)
	var b strings.Builder
	secret := false // the next word is secret
	var said speaker
	for text != "" {
		blank := strings.IndexFunc(text, func(r rune) bool { return !isBlank(r) })
		if blank < 0 {
			b.WriteString(text)
			break
		}
		b.WriteString(text[:blank])
		text = text[blank:]
		end := strings.IndexFunc(text, isBlank)
		if end < 0 {
			end = len(text)
		}
		word := text[:end]
		text = text[end:]
		if clean, ok := said.redact(word); ok && !secret {
			b.WriteString(clean)
			continue
		}
		if secret && !strings.HasPrefix(word, "-") {
			if next := schemeOf(word); next { // "Bearer x": the secret is yet to come
				b.WriteString(word)
				continue
			}
			lead, tail := edges(word)
			b.WriteString(lead + hidden + tail)
			secret = false
			continue
		}
		var clean string
		clean, secret = redactWord(word)
		secret = secret || said.announces(word)
		b.WriteString(clean)
	}
	return b.String()
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }

// edges are the quotes and brackets about a word.
func edges(word string) (lead, tail string) {
	inner := strings.TrimLeft(word, `"'{[(`)
	lead = word[:len(word)-len(inner)]
	return lead, inner[len(strings.TrimRight(inner, `"'}]),;`)):]
}

// maxSigns is how many signs in a word may have the name of a secret before
// them.
const maxSigns = 8

// redactWord takes the secrets out of a word; next says that the next word is
// secret.
func redactWord(word string) (clean string, next bool) {
	lead, tail := edges(word)
	inner := word[len(lead) : len(word)-len(tail)]
	if looksSecret(inner) {
		return lead + hidden + tail, false
	}
	if at := strings.Index(word, "://"); at >= 0 {
		word = redactURL(word, at+3)
	}
	signs := 0
	for at, c := range []byte(word) {
		if strings.HasPrefix(word[at:], "://") || signs == maxSigns {
			break // a URL has no other names than those of its query
		}
		if c != '=' && c != ':' {
			continue
		}
		signs++
		name, value := word[:at], word[at+1:]
		vlead, vtail := edges(value)
		if namesSecret(name) {
			if value == vlead || value == "" {
				return word, true // such as "password: x"
			}
			if len(vlead)+len(vtail) <= len(value) {
				return word[:at+1] + vlead + hidden + vtail, schemeOf(strings.Trim(value, `"'`))
			}
		}
		if len(vlead)+len(vtail) < len(value) && looksSecret(value[len(vlead):len(value)-len(vtail)]) {
			return word[:at+1] + vlead + hidden + vtail, false
		}
	}
	if strings.HasPrefix(inner, "--") && namesSecret(inner) || schemeOf(inner) {
		return word, true
	}
	if name, ok := strings.CutPrefix(inner, "-u"); ok && strings.Contains(name, ":") { // curl -uname:password
		return lead + "-u" + name[:strings.IndexByte(name, ':')+1] + hidden + tail, false
	}
	return word, false
}

// redactURL takes out of a URL the password, and the values of its query that
// are named for a secret.
func redactURL(word string, from int) string {
	rest := word[from:]
	end := strings.IndexAny(rest, "/?#\"'")
	if end < 0 {
		end = len(rest)
	}
	if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 {
		user, _, both := strings.Cut(rest[:at], ":")
		if both {
			user += ":" + hidden
		} else {
			user = hidden
		}
		rest = user + rest[at:]
	}
	rest = redactHook(rest)
	query := strings.IndexByte(rest, '?')
	if query < 0 {
		return word[:from] + rest
	}
	pairs := strings.Split(rest[query+1:], "&")
	for i, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if ok && (namesSecret(name) || name == "key" || name == "sig" || name == "signature") {
			_, tail := edges(value)
			pairs[i] = name + "=" + hidden + tail
		}
	}
	return word[:from] + rest[:query+1] + strings.Join(pairs, "&")
}

// schemeOf says that a word announces a credential.
func schemeOf(word string) bool {
	switch strings.ToLower(strings.Trim(word, `"'`)) {
	case "bearer", "basic", "token":
		return true
	}
	return false
}

// namesSecret reports whether a name denotes a secret.
func namesSecret(name string) bool {
	name = strings.TrimLeft(strings.Trim(name, `"'{[(`), "-")
	if strings.HasSuffix(name, "_KEY") && name == strings.ToUpper(name) { // as variables are called
		return true
	}
	if at := strings.LastIndexAny(name, "=:/"); at >= 0 {
		name = name[at+1:]
	}
	if at := strings.LastIndexAny(name, "_-"); at > 0 {
		switch strings.ToLower(name[at+1:]) {
		case "pass", "pw", "pwd", "pat", "auth":
			return true
		}
	}
	name = letters(name)
	switch name {
	case "pass", "pwd", "pw", "otp", "cookie":
		return true
	}
	name = strings.TrimSuffix(name, "s")
	for _, part := range [...]string{"password", "passwd", "secret", "token", "apikey", "accesskey", "privatekey", "authorization", "credential", "passphrase", "oauth2bearer", "sessionkey", "secretkey"} {
		if strings.HasSuffix(name, part) {
			return true
		}
	}
	return false
}

// letters returns a name in small letters, without the separators of its parts.
// Redact calls it for every word of a long text, so it copies only if it must.
func letters(name string) string {
	plain := !strings.ContainsFunc(name, func(r rune) bool {
		return r == '-' || r == '_' || r == '.' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf
	})
	if plain {
		return name
	}
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// looksSecret says that a word has the form of a token that is known.
func looksSecret(word string) bool {
	for _, begin := range []string{
		"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xapp-", "sk-", "sk_live_", "sk_test_",
		"rk_live_", "pk_live_", "npm_", "pypi-", "AIza", "ya29.", "hf_", "dop_v1_", "SG.", "AGE-SECRET-KEY-", "shpat_", "lin_api_", "rubygems_", "dckr_pat_", "whsec_",
	} {
		if strings.HasPrefix(word, begin) && len(word) >= len(begin)+12 && isToken(word) {
			return true
		}
	}
	if len(word) == 20 && (strings.HasPrefix(word, "AKIA") || strings.HasPrefix(word, "ASIA")) && isToken(word) {
		return true
	}
	return strings.HasPrefix(word, "eyJ") && strings.Count(word, ".") == 2 && len(word) > 40 && isToken(word)
}

func isToken(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("_-.+/=", r)
	})
}
