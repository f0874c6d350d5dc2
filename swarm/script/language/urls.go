package language

import (
	"net/url"
	"strings"
	"sync"

	"github.com/dop251/goja"
	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/text/encoding/unicode"
)

// parseURL gives the parts of an address, which may be relative to another. It gives
// null for a text that is none.
func (in *installer) parseURL(call goja.FunctionCall) goja.Value {
	u, err := parseURL(call.Argument(0).String(), call.Argument(1))
	if err != nil {
		return goja.Null()
	}
	return in.urlParts(u)
}

// addresses reads addresses as the standard of 2025 does: its parser is of 2023.
var addresses = sync.OnceValue(func() whatwg.Parser {
	return whatwg.NewParser(whatwg.WithPathPercentEncodeSet(whatwg.PathPercentEncodeSet.Set('^')))
})

func parseURL(text string, base goja.Value) (*whatwg.Url, error) {
	var u *whatwg.Url
	var err error
	if goja.IsUndefined(base) {
		u, err = addresses().Parse(text)
	} else {
		u, err = addresses().ParseRef(base.String(), text)
	}
	if err != nil || !u.OpaquePath() || !strings.HasSuffix(u.Pathname(), " ") {
		return u, err
	}
	// A blank before the query or the hash is kept as %20.
	path := u.Protocol() + u.Pathname()
	return addresses().Parse(path[:len(path)-1] + "%20" + u.Href(false)[len(path):])
}

// changeURL gives the parts of an address whose part of a name is another text. A text
// that cannot stand there changes nothing.
func (in *installer) changeURL(call goja.FunctionCall) goja.Value {
	u, err := addresses().Parse(call.Argument(0).String())
	in.must(err)
	set := map[string]func(string){
		"protocol": u.SetProtocol, "username": u.SetUsername, "password": u.SetPassword, "host": u.SetHost,
		"hostname": u.SetHostname, "port": u.SetPort, "pathname": u.SetPathname, "search": u.SetSearch, "hash": u.SetHash,
	}
	set[call.Argument(1).String()](call.Argument(2).String())
	return in.urlParts(u)
}

func (in *installer) urlParts(u *whatwg.Url) goja.Value {
	o := in.rt.NewObject()
	for name, part := range map[string]string{
		"href": u.Href(false), "origin": origin(u), "protocol": u.Protocol(), "username": u.Username(),
		"password": u.Password(), "host": u.Host(), "hostname": u.Hostname(), "port": u.Port(),
		"pathname": u.Pathname(), "search": u.Search(), "hash": u.Hash(),
	} {
		in.must(o.Set(name, part))
	}
	return o
}

// origin is the origin of an address, null where the standard calls it opaque.
func origin(u *whatwg.Url) string {
	switch u.Scheme() {
	case "http", "https", "ws", "wss", "ftp":
		return u.Protocol() + "//" + u.Host()
	case "blob":
		inner, err := addresses().Parse(u.Pathname())
		if err == nil && (inner.Scheme() == "http" || inner.Scheme() == "https") {
			return origin(inner)
		}
	}
	return "null"
}

// formDecode is a name or a value of a query. A percent sign without two digits
// stands for itself.
func (in *installer) formDecode(call goja.FunctionCall) goja.Value {
	text := strings.ReplaceAll(call.Argument(0).String(), "+", " ")
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if c, err := url.PathUnescape(text[i : i+3]); err == nil {
				b.WriteString(c)
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	valid, err := unicode.UTF8.NewDecoder().String(b.String())
	in.must(err)
	return in.rt.ToValue(valid)
}
