package enter

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"agentswarm/swarm/exit"
)

// defaultDetachKey is the key by which telnet and ssh-like programs leave.
// Hardly any program in a terminal uses it.
const defaultDetachKey = "ctrl-]"

// detachKey is the key that leaves a terminal: a letter or sign with Ctrl.
type detachKey struct {
	name string
	sign byte // without Ctrl: ']' or 'a'
}

// parseDetachKey reads the name of a key: ctrl-], ctrl-\ or ctrl-a.
func parseDetachKey(text string) (detachKey, error) {
	bad := func(why string) error {
		return &exit.UsageError{
			Text:   "attach: --detach-key " + strconv.Quote(text) + ": " + why,
			Advice: `a key is ctrl- and a letter or one of @ \ ] ^ _, such as ctrl-] or ctrl-a`,
		}
	}
	prefix, sign := "", ""
	if i := strings.IndexByte(text, '-'); i >= 0 {
		prefix, sign = strings.ToLower(text[:i]), strings.ToLower(text[i+1:])
	}
	switch {
	case prefix != "ctrl" && prefix != "c" || len(sign) != 1:
		return detachKey{}, bad("is not a key with Ctrl")
	case strings.Contains("im[", sign):
		which := map[string]string{"i": "Tab", "m": "Enter", "[": "Escape"}[sign]
		return detachKey{}, bad("a terminal cannot tell it from " + which)
	case !strings.Contains(`abcdefghijklmnopqrstuvwxyz@\]^_`, sign):
		return detachKey{}, bad("a terminal has no such key")
	}
	return detachKey{name: "ctrl-" + sign, sign: sign[0]}, nil
}

// cut returns the input before the key, and whether the key was in it.
func (k detachKey) cut(typed []byte) (before []byte, found bool) {
	at := bytes.IndexByte(typed, k.sign&0x1f)
	for _, m := range longKey().FindAllSubmatchIndex(typed, -1) {
		if k.isLong(typed, m) && (at < 0 || m[0] < at) {
			at = m[0]
		}
	}
	if at < 0 {
		return typed, false
	}
	return typed[:at], true
}

// longKey is a key as terminals send it once a program has asked for keys
// that can be told apart: CSI 93;5u, or CSI 27;5;93~.
var longKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`\x1b\[(?:([0-9]+)(?::[0-9:]*)?;([0-9]+)(?::([0-9]+))?(?:;[0-9:]*)?u|27;([0-9]+);([0-9]+)~)`)
})

// isLong tells whether a match of longKey is the key, pressed.
func (k detachKey) isLong(typed []byte, m []int) bool {
	part := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return string(typed[m[2*i]:m[2*i+1]])
	}
	code, held, event := part(1), part(2), part(3)
	if code == "" {
		code, held = part(5), part(4)
	}
	sign, err1 := strconv.Atoi(code)
	mods, err2 := strconv.Atoi(held)
	const ctrl, locks = 4, 64 | 128                      // Caps Lock and Num Lock may be on
	return err1 == nil && err2 == nil && event != "3" && // 3: it was let go
		sign == int(k.sign) && (mods-1)&^locks == ctrl
}
