package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// resolveFree finds a tool that takes text: codex offers apply_patch to some
// models, and to others only exec, a machine for JavaScript that has the rest.
func resolveFree(c *conversation, role string, args map[string]any) (call, bool) {
	patch := asPatch(role, args)
	if o := c.offered("apply_patch"); o != nil && patch != "" {
		if o.free {
			return call{name: o.name, args: patch, free: true}, true
		}
		return call{name: o.name, args: object(map[string]any{"input": patch})}, true
	}
	o := c.offered("exec")
	if o == nil || !o.free {
		return call{}, false
	}
	if patch != "" {
		return call{name: o.name, args: "text(await tools.apply_patch(" + quoted(patch) + "));\n", free: true}, true
	}
	command := asCommand(role, args)
	if command == "" {
		return call{}, false
	}
	script := "text(await tools.exec_command({cmd: " + quoted(command) + "}));\n"
	return call{name: o.name, args: script, free: true}, true
}

// asPatch is a write or an edit as codex writes patches. The lines of an edit
// are whole ones there.
func asPatch(role string, args map[string]any) string {
	var body string
	switch role {
	case "write":
		body = fmt.Sprintf("*** Add File: %v\n%s", args["path"], lines("+", args["text"]))
	case "edit":
		body = fmt.Sprintf("*** Update File: %v\n@@\n%s%s", args["path"], lines("-", args["old"]), lines("+", args["new"]))
	default:
		return ""
	}
	return "*** Begin Patch\n" + body + "*** End Patch\n"
}

func lines(mark string, text any) string {
	is, _ := text.(string)
	if is == "" {
		return ""
	}
	is = strings.TrimSuffix(is, "\n")
	return mark + strings.ReplaceAll(is, "\n", "\n"+mark) + "\n"
}

// asCommand returns the action of a role as a command of a shell.
func asCommand(role string, args map[string]any) string {
	word := func(name string) string {
		is, _ := args[name].(string)
		return "'" + strings.ReplaceAll(is, "'", `'\''`) + "'"
	}
	switch role {
	case "shell":
		command, _ := args["command"].(string)
		return command
	case "read":
		return "cat " + word("path")
	case "write", "edit":
		return "apply_patch <<'EOF'\n" + asPatch(role, args) + "EOF\n"
	case "grep":
		return "grep -rn -e " + word("pattern") + " ."
	case "find":
		return "find . -name " + word("pattern")
	case "ls":
		return "ls"
	default:
		return ""
	}
}

func quoted(text string) string {
	is, err := json.Marshal(text)
	if err != nil {
		return `""` // a string goes into JSON
	}
	return string(is)
}
