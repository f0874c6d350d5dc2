package risk

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"agentswarm/risk/argv"
	"agentswarm/risk/shell"
)

// host is where a URL leads.
type host uint8

const (
	hostNone host = iota // it is no URL
	hostLocal
	hostRemote
)

// hostOf returns the host that a word leads to, read as a URL. A partly unknown
// word leads away, unless its host is known.
func hostOf(w argv.Word) host {
	text := w.Value
	if text == "" {
		if w.Known {
			return hostNone
		}
		return hostRemote
	}
	rest := text
	if _, after, ok := strings.Cut(text, "://"); ok {
		rest = after
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 && !w.Known {
		return hostRemote // the unknown rest may change the host
	}
	if end >= 0 {
		rest = rest[:end]
	}
	if strings.Contains(rest, "\\") { // programs disagree on the meaning of a backslash
		return hostRemote
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = rest[at+1:]
	}
	if isLocalHost(rest) {
		return hostLocal
	}
	return hostRemote
}

// isLocalHost says that a host, with or without a port, is this machine.
func isLocalHost(name string) bool {
	name = strings.ToLower(name)
	if strings.HasPrefix(name, "[") {
		end := strings.IndexByte(name, ']')
		if end < 0 {
			return false
		}
		name = name[1:end]
	} else if before, _, ok := strings.Cut(name, ":"); ok && strings.Count(name, ":") == 1 {
		name = before
	}
	name = strings.TrimSuffix(name, ".")
	if name == "" || name == "localhost" || strings.HasSuffix(name, ".localhost") || name == "host.docker.internal" {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// leadsAway reports whether any address of a call leads to another host, or
// may.
func (c *call) leadsAway(words []argv.Word) bool {
	if c.line.Has("--unix-socket", "--abstract-unix-socket") {
		return false
	}
	if c.line.Has("--config", "--proxy", "--next", "--connect-to", "--resolve") || c.proxied() {
		return true
	}
	return len(words) == 0 && c.line.Unsure || slices.ContainsFunc(words, func(w argv.Word) bool { return hostOf(w) == hostRemote })
}

// proxied reports whether a variable sends requests through a proxy.
func (c *call) proxied() bool {
	return slices.ContainsFunc(c.inv.Assigns, func(a shell.Assign) bool {
		return strings.HasSuffix(strings.ToLower(a.Name), "_proxy") && !strings.EqualFold(a.Name, "no_proxy") && (!a.Value.Known || a.Value.Value != "")
	})
}

// isPost says that curl or wget sends something to another host.
func isPost(c *call) bool {
	urls := slices.Concat(c.line.Operands, c.line.Values("--url"))
	if !c.leadsAway(urls) {
		return false
	}
	if c.line.Has("--upload-file", "--mail-rcpt", "--quote", "--telnet-option", "--form", "--form-string", "--json", "--post-data", "--post-file", "--body-data", "--body-file") {
		return true
	}
	for _, w := range c.line.Values("--request", "--method") {
		if !w.Known || !slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, strings.ToUpper(w.Value)) {
			return true
		}
	}
	if c.line.Has("--config") {
		return true
	}
	data := c.line.Has("--data", "--data-binary", "--data-raw", "--data-urlencode", "--expand-data")
	return data && !c.surely("--get")
}

// isBodyItem says that a word gives HTTPie a field of a body.
func isBodyItem(w argv.Word) bool {
	if !w.Known {
		return true
	}
	at := strings.IndexAny(w.Value, "=:@")
	if at < 1 || strings.Contains(w.Value, "://") {
		return false
	}
	rest := w.Value[at:]
	switch {
	case strings.HasPrefix(rest, "=="): // of the query
		return false
	case rest[0] == ':':
		return strings.HasPrefix(rest, ":=")
	}
	return true
}

// httpPosts says that HTTPie sends something to another host.
func httpPosts(c *call) bool {
	operands := c.line.Operands
	if len(operands) == 0 {
		return false
	}
	method := strings.ToUpper(operands[0].Value)
	if strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" && len(operands) > 1 {
		if slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, method) {
			return false
		}
		return c.leadsAway(operands[1:2])
	}
	return c.leadsAway(operands[:1]) && (slices.ContainsFunc(operands[1:], isBodyItem) || c.line.Has("--raw"))
}

// isRemotePath says that a word is a path on another machine, or in a bucket.
func isRemotePath(w argv.Word) bool {
	if before, _, ok := strings.Cut(w.Value, "://"); ok {
		return before != "file" && hostOf(w) == hostRemote
	}
	before, _, ok := strings.Cut(w.Value, ":")
	if !ok || before == "" || strings.ContainsAny(before, "/=*?[ ") {
		return !w.Known && w.Value == ""
	}
	return !isLocalHost(before[strings.LastIndexByte(before, '@')+1:])
}

// remoteTarget says that a connection goes to another host: its first operand
// names it.
func remoteTarget(c *call) bool {
	w, ok := c.first()
	if !ok {
		return false
	}
	name := w.Value
	if !w.Known {
		return true
	}
	if _, after, ok := strings.Cut(name, "://"); ok {
		name, _, _ = strings.Cut(after, "/")
	}
	return !isLocalHost(name[strings.LastIndexByte(name, '@')+1:])
}

// reachesOut says that an operand is the address of another host.
func reachesOut(c *call) bool {
	return slices.ContainsFunc(c.line.Operands, func(w argv.Word) bool {
		return (!w.Known || strings.Contains(w.Value, ":")) && hostOf(w) == hostRemote
	})
}

// pushesFiles says that files are copied to another machine: the last operand
// names it.
func pushesFiles(c *call) bool {
	n := len(c.line.Operands)
	if slices.Contains([]string{"gsutil", "s3cmd", "rclone", "mc"}, c.inv.Program) && listsRemote(c) {
		return false
	}
	return n > 1 && isRemotePath(c.line.Operands[n-1])
}

// apiMethods are the methods that a call of a forge's interface asks for.
func (c *call) apiMethods() []argv.Word { return c.line.Values("--method") }

// apiChanges reports whether a call of an API does more than read.
func apiChanges(c *call) bool {
	methods := c.apiMethods()
	for _, w := range methods {
		if !w.Known || !slices.Contains([]string{"GET", "HEAD"}, strings.ToUpper(w.Value)) {
			return true
		}
	}
	if len(methods) > 0 {
		return false
	}
	if w, ok := c.first(); ok && w.Value == "graphql" {
		for _, v := range c.line.Values("--raw-field", "--field") {
			text, _ := strings.CutPrefix(v.Value, "query=")
			if !v.Known || strings.HasPrefix(strings.TrimSpace(text), "mutation") || strings.HasPrefix(text, "@") {
				return true
			}
		}
		return c.line.Has("--input")
	}
	return c.line.Has("--raw-field", "--field", "--input")
}

// apiDeletes says that such a call deletes something.
func apiDeletes(c *call) bool {
	return slices.ContainsFunc(c.apiMethods(), func(w argv.Word) bool { return strings.EqualFold(w.Value, "DELETE") })
}

// forge returns the act of a call on an issue or a pull request.
func (c *call) forge() *Forge {
	if len(c.line.Sub) < 2 || c.line.Unsure {
		return nil
	}
	f := &Forge{What: "pull-request"}
	switch c.line.Sub[0] {
	case "pr", "mr", "pull", "pulls", "pull-request":
	case "issue", "issues":
		f.What = "issue"
	default:
		return nil
	}
	if c.line.Has("--repo", "--hostname") {
		return nil // of another repository
	}
	for _, w := range c.line.Operands {
		if strings.Contains(w.Value, "://") || strings.Contains(w.Value, "#") {
			return nil
		}
	}
	switch c.line.Sub[1] {
	case "create", "new":
		f.Verb = "create"
	case "comment", "note":
		f.Verb = "comment"
	case "close", "merge", "edit", "reopen":
		f.Verb = c.line.Sub[1]
	case "update":
		f.Verb = "edit"
	default:
		return nil
	}
	if f.Verb == "merge" && c.line.Has("--delete-branch", "-d", "--admin") || f.Verb == "close" && c.line.Has("--delete-branch", "-d") {
		return nil
	}
	return f
}

// isDeleteVerb says that a word tells a program to delete something.
func isDeleteVerb(w argv.Word) bool {
	text := strings.ToLower(w.Value)
	if !w.Known {
		return text == ""
	}
	for _, verb := range []string{"delete", "destroy", "remove", "rm", "purge", "terminate", "rb", "drop", "deregister", "rmdir", "deletefile"} {
		if text == verb || strings.HasPrefix(text, verb+"-") || strings.HasSuffix(text, ":"+verb) || strings.HasSuffix(text, ":"+verb+"s") {
			return true
		}
	}
	return false
}

// isChangeVerb says that a word tells a program to change something that
// others see.
func isChangeVerb(w argv.Word) bool {
	text := strings.ToLower(w.Value)
	if !w.Known {
		return text == ""
	}
	for _, verb := range []string{
		"create", "update", "put", "deploy", "publish", "send", "invoke", "apply", "set", "up", "push", "start", "stop", "reboot",
		"modify", "attach", "detach", "run", "scale", "import", "upload", "copy", "sync", "cp", "mv", "promote", "rollback", "restart", "release", "add", "enable", "disable", "unset",
	} {
		if text == verb || strings.HasPrefix(text, verb+"-") || strings.HasSuffix(text, ":"+verb) {
			return true
		}
	}
	return false
}

// localURL says that an address of a tool is on this machine.
func localURL(target string) bool {
	u, err := url.Parse(target)
	return err == nil && u.Host != "" && hostOf(argv.Known(target)) == hostLocal
}
