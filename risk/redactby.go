package risk

import (
	"path"
	"slices"
	"strings"
)

// speaker is the program whose words are read, as far as it is known that some
// of its options take secrets.
type speaker struct {
	program string
	colon   bool // the next word is a name and a password
}

// redact takes the password out of a word that this program reads as a
// password; false: the word is not a password.
func (s *speaker) redact(word string) (clean string, ok bool) {
	lead, tail := edges(word)
	inner := word[len(lead) : len(word)-len(tail)]
	if s.colon {
		s.colon = false
		name, _, both := strings.Cut(inner, ":")
		return lead + name + ":" + hidden + tail, both && !strings.Contains(inner, "://")
	}
	switch name := path.Base(inner); name {
	case ";", "|", "||", "&", "&&":
		s.program = ""
	case "mysql", "mysqldump", "mysqladmin", "mariadb", "mariadb-dump", "sshpass", "redis-cli", "valkey-cli", "ssh-keygen", "zip", "unzip", "7z", "login", "set", "config",
		"curl", "wget", "http", "https", "xh":
		s.program = name
		return "", false
	}
	switch s.program {
	case "curl", "http", "https", "xh", "wget":
		option, value, given := strings.Cut(inner, "=")
		if !slices.Contains([]string{"-u", "-U", "-a", "--user", "--proxy-user", "--auth"}, option) {
			return "", false
		}
		s.colon = !given
		if name, _, both := strings.Cut(value, ":"); both {
			return lead + option + "=" + name + ":" + hidden + tail, true
		}
	case "mysql", "mysqldump", "mysqladmin", "mariadb", "mariadb-dump", "sshpass", "7z":
		if value, ok := strings.CutPrefix(inner, "-p"); ok && value != "" {
			return lead + "-p" + hidden + tail, true
		}
	}
	return "", false
}

// announces reports whether the next word is a secret to the program.
func (s *speaker) announces(word string) bool {
	switch s.program {
	case "sshpass", "login":
		return word == "-p"
	case "redis-cli", "valkey-cli":
		return word == "-a" || word == "--pass"
	case "ssh-keygen":
		return word == "-N" || word == "-P"
	case "zip", "unzip":
		return word == "-P"
	case "set", "config":
		return word == "-b" || word == "--body" || !strings.ContainsAny(word, "=:") && word != "secret" && namesSecret(word)
	}
	return false
}

// redactKeys takes the private keys out of a text.
func redactKeys(text string) string {
	const end = "PRIVATE KEY-----"
	var b strings.Builder
	for {
		at := strings.Index(text, "-----BEGIN ")
		if at < 0 {
			break
		}
		size := strings.Index(text[at:min(at+80, len(text))], end)
		if size < 0 {
			b.WriteString(text[:at+len("-----BEGIN ")])
			text = text[at+len("-----BEGIN "):]
			continue
		}
		b.WriteString(text[:at+size+len(end)] + hidden)
		text = text[at+size+len(end):]
		stop := strings.Index(text, "-----END ")
		if stop < 0 {
			return b.String()
		}
		text = text[stop:]
	}
	return b.String() + text
}

// redactHook takes out of an address, less its scheme, the part by which some
// services know who may post there.
func redactHook(rest string) string {
	for _, mark := range []string{"hooks.slack.com/services/", "/api/webhooks/", "api.telegram.org/bot", "hooks.zapier.com/hooks/catch/"} {
		at := strings.Index(rest, mark)
		if at < 0 {
			continue
		}
		at += len(mark)
		ends := "?\"'\\#"
		if strings.HasSuffix(mark, "bot") {
			ends += "/"
		}
		end := strings.IndexAny(rest[at:], ends)
		if end < 0 {
			end = len(rest) - at
		}
		return rest[:at] + hidden + rest[at+end:]
	}
	return rest
}
