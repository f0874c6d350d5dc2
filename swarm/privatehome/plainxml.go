package privatehome

import (
	"bytes"
	"encoding/xml"
	"slices"
	"strings"
)

// element is a rule for an XML element: the children and attributes that are kept.
type element struct {
	children   []string
	attributes []string
	// whole drops the element where a value in it is not plain: half a mirror
	// would be an error, or another mirror.
	whole bool
}

func words(text string) []string { return strings.Fields(text) }

// plainMaven keeps mirrors, repositories and proxies, without the elements that hold
// credentials or anything: servers and properties (maven.apache.org/settings.html).
func plainMaven(text []byte) []byte {
	repository := element{children: words("id url layout releases snapshots"), whole: true}
	policy := element{children: words("enabled updatePolicy checksumPolicy")}
	return plainXML(text, "settings", map[string]element{
		"settings":     {children: words("localRepository interactiveMode offline pluginGroups proxies mirrors profiles activeProfiles")},
		"pluginGroups": {children: words("pluginGroup")}, "activeProfiles": {children: words("activeProfile")},
		"proxies": {children: words("proxy")}, "proxy": {children: words("id active protocol host port nonProxyHosts"), whole: true},
		"mirrors": {children: words("mirror")}, "mirror": {children: words("id url mirrorOf layout mirrorOfLayouts blocked"), whole: true},
		"profiles": {children: words("profile")}, "profile": {children: words("id activation repositories pluginRepositories")},
		"activation": {children: words("activeByDefault jdk os")}, "os": {children: words("name family arch version")},
		"repositories": {children: words("repository")}, "repository": repository,
		"pluginRepositories": {children: words("pluginRepository")}, "pluginRepository": repository,
		"releases": policy, "snapshots": policy,
	})
}

// plainNuGet keeps the sources of packages, without their credentials and keys
// (learn.microsoft.com/nuget/reference/nuget-config-file).
func plainNuGet(text []byte) []byte {
	return plainXML(text, "configuration", map[string]element{
		"configuration":  {children: words("packageSources disabledPackageSources packageSourceMapping")},
		"packageSources": {children: words("add clear remove")},
		"add":            {attributes: words("key value protocolVersion allowInsecureConnections"), whole: true},
		"clear":          {}, "remove": {attributes: words("key")},
		"disabledPackageSources": {children: words("add clear")},
		"packageSourceMapping":   {children: words("packageSource clear")},
		"packageSource":          {children: words("package"), attributes: words("key")},
		"package":                {attributes: words("pattern")},
	})
}

// plainXML keeps the elements that rules name, below a root. An element without a
// rule holds text only. A text that is no XML becomes an empty root.
func plainXML(text []byte, root string, rules map[string]element) []byte {
	p := &plainReader{decoder: xml.NewDecoder(bytes.NewReader(text)), rules: rules}
	p.decoder.CharsetReader = nil
	for {
		token, err := p.decoder.Token()
		if err != nil {
			break
		}
		if start, ok := token.(xml.StartElement); ok {
			if start.Name.Local != root {
				break
			}
			if kept, ok := p.element(start, 0); ok {
				return append(kept, '\n')
			}
			break
		}
	}
	return []byte("<" + root + "></" + root + ">\n")
}

type plainReader struct {
	decoder *xml.Decoder
	rules   map[string]element
}

// element reads an element to its end. ok is false if it is left out.
func (p *plainReader) element(start xml.StartElement, depth int) (kept []byte, ok bool) {
	name := start.Name.Local
	rule, known := p.rules[name]
	var inner, value bytes.Buffer
	ok = true
	for {
		token, err := p.decoder.Token()
		if err != nil {
			return nil, false
		}
		switch token := token.(type) {
		case xml.StartElement:
			if depth > 20 || !slices.Contains(rule.children, token.Name.Local) {
				if p.decoder.Skip() != nil {
					return nil, false
				}
				continue
			}
			child, plain := p.element(token, depth+1)
			inner.Write(child)
			ok = ok && (plain || !rule.whole)
		case xml.CharData:
			value.Write(token)
		case xml.EndElement:
			attributes, plain := plainAttributes(start.Attr, rule.attributes)
			text := strings.TrimSpace(value.String())
			if !known {
				plain = plain && plainValue(text)
				_ = xml.EscapeText(&inner, []byte(text))
			}
			if !ok || !plain {
				return nil, false
			}
			return slices.Concat([]byte("<"+name), attributes, []byte(">"), inner.Bytes(), []byte("</"+name+">")), true
		}
	}
}

// plainAttributes returns the attributes of some names. plain is false if a
// value may hold a credential.
func plainAttributes(all []xml.Attr, names []string) (kept []byte, plain bool) {
	var b bytes.Buffer
	plain = true
	for _, a := range all {
		if !slices.Contains(names, a.Name.Local) {
			continue
		}
		plain = plain && plainValue(a.Value)
		b.WriteString(" " + a.Name.Local + `="`)
		_ = xml.EscapeText(&b, []byte(a.Value))
		b.WriteString(`"`)
	}
	return b.Bytes(), plain
}
