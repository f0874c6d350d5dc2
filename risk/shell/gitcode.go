package shell

import (
	"slices"
	"strings"

	"agentswarm/risk/argv"
)

// git reads the commands that git runs. They come from configuration on its
// command line, from settings that it writes, and from the address of a
// repository.
func (s *scope) git(w *wrapping) {
	sub := ""
	if len(w.line.Sub) > 0 {
		sub = w.line.Sub[0]
	} else if len(w.ops) > 0 {
		sub = w.ops[0].Value // a subcommand that the table lacks
	}
	for _, o := range w.line.Options {
		name := o.Name
		if name == "--config" && sub == "clone" {
			name = "-c"
		} else if o.Level != 0 {
			continue
		}
		if !o.Valued {
			continue
		}
		switch name {
		case "-c":
			key, value, has := strings.Cut(o.Value.Value, "=")
			if !has && o.Value.Known {
				continue // it is true
			}
			s.setting(w, argv.Word{Value: key, Known: has}, argv.Word{Value: value, Known: o.Value.Known})
		case "--config-env":
			key, name, has := strings.Cut(o.Value.Value, "=")
			s.setting(w, argv.Word{Value: key, Known: has}, s.lookup(name).value.Word)
		}
	}
	switch sub {
	case "config":
		ops := w.ops
		if len(ops) > 1 {
			s.setting(w, ops[0].Word, ops[1].Word)
		}
	case "clone", "fetch", "pull", "push", "ls-remote", "remote", "archive", "submodule":
		for _, op := range w.ops {
			if text, ok := strings.CutPrefix(op.Value, "ext::"); ok {
				s.optionText(w, argv.Word{Value: external(text), Known: op.Known}, "")
			}
		}
	case "for-each-repo":
		at := slices.IndexFunc(w.c.words, func(f field) bool { return f.Value == sub })
		for at++; at < len(w.c.words) && strings.HasPrefix(w.c.words[at].Value, "-"); at++ {
			if w.c.words[at].Value == "--config" {
				at++
			}
		}
		s.childOf("git").code("git"+quoted(w.c.words[min(at, len(w.c.words)):]), w.c.span)
	}
}

// external returns the command in an address of git as a shell writes it. A
// blank after a percent sign is a blank within a word.
func external(text string) string {
	const blank = "\x00"
	words := strings.Fields(strings.ReplaceAll(text, "% ", blank))
	fields := make([]field, len(words))
	for i, word := range words {
		fields[i] = known(strings.ReplaceAll(strings.ReplaceAll(word, blank, " "), "%%", "%"))
	}
	return strings.TrimSpace(quoted(fields))
}

// setting reads a setting of git of which the value is code.
func (s *scope) setting(w *wrapping, key, value argv.Word) {
	kind := codeKey(key.Value)
	if !key.Known {
		s.opaque("which setting of git is set is not known", w.c.span)
		return
	}
	text := value.Value
	shell, bang := strings.CutPrefix(text, "!")
	switch {
	case kind == "" || value.Known && text == "":
	case !value.Known && !(kind == "helper" && text != "" && !bang && !strings.HasPrefix(text, "/")):
		s.opaque("the text that the setting "+key.Value+" holds is not known", w.c.span)
	case kind == "alias":
		if !bang {
			shell = "git " + text
		}
		args := ""
		if alias := strings.TrimPrefix(strings.ToLower(key.Value), "alias."); len(w.ops) > 0 && strings.EqualFold(w.ops[0].Value, alias) {
			args = quoted(w.ops[1:])
		}
		s.childOf("git").code(shell+args, w.c.span)
	case kind == "helper":
		if bang || strings.HasPrefix(text, "/") {
			s.childOf("git").code(shell, w.c.span)
		}
	case kind == "monitor" && isBool(text), kind == "pager" && isBool(text):
	case kind == "ssh" || kind == "command" || kind == "pager" || kind == "monitor":
		s.childOf("git").code(text+" '"+anything+"'", w.c.span)
	case kind == "text":
		s.childOf("git").code(text, w.c.span)
	}
}

// childOf is the scope of a program's child.
func (s *scope) childOf(name string) *scope {
	sub := s.within(name)
	sub.orphan()
	return sub
}

func isBool(text string) bool {
	switch strings.ToLower(text) {
	case "true", "false", "yes", "no", "on", "off", "0", "1", "":
		return true
	}
	return false
}

// codeKey is how the value of a setting of git is code; empty: it is none.
func codeKey(key string) string {
	key = strings.ToLower(key)
	section, name := key, ""
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		section, name = key[:i], key[i+1:]
	}
	top, _, _ := strings.Cut(section, ".")
	switch key {
	case "core.pager", "core.editor", "sequence.editor", "core.sshcommand", "core.gitproxy", "core.askpass", "diff.external",
		"interactive.difffilter", "uploadpack.packobjectshook", "gpg.program", "gc.recentobjectshook", "core.alternaterefscommand",
		"sendemail.sendmailcmd", "sendemail.tocmd", "sendemail.cccmd", "credential.program", "trailer.command", "core.virtualfilesystem":
		return "command"
	case "core.fsmonitor":
		return "monitor"
	case "credential.helper":
		return "helper"
	}
	switch {
	case top == "alias":
		return "alias"
	case top == "pager":
		return "pager"
	case top == "credential" && name == "helper":
		return "helper"
	case top == "diff" && (name == "textconv" || name == "command"),
		top == "merge" && name == "driver", top == "gpg" && (name == "program" || name == "defaultkeycommand"),
		(top == "mergetool" || top == "difftool" || top == "browser" || top == "man" || top == "trailer") && (name == "cmd" || name == "path" || name == "command"),
		top == "filter" && (name == "clean" || name == "smudge" || name == "process"),
		top == "remote" && (name == "uploadpack" || name == "receivepack" || name == "vcs"),
		top == "hook" && name == "command", // which git 2.54 and later run
		top == "submodule" && name == "update":
		if top == "submodule" {
			return "helper"
		}
		return "text"
	}
	return ""
}

// configured reads the variables by which git takes settings.
func (s *scope) configured(name string, at Span) {
	if name == "GIT_CONFIG_PARAMETERS" {
		s.opaque("settings of git are given in a variable", at)
		return
	}
	n, ok := strings.CutPrefix(name, "GIT_CONFIG_KEY_")
	if !ok {
		n, ok = strings.CutPrefix(name, "GIT_CONFIG_VALUE_")
	}
	if !ok {
		return
	}
	key, value := s.lookup("GIT_CONFIG_KEY_"+n), s.lookup("GIT_CONFIG_VALUE_"+n)
	if key.outside || value.outside {
		return // its other half is still to come
	}
	w := &wrapping{c: &command{span: at}, name: "git"}
	s.setting(w, key.value.Word, value.value.Word)
}
