package enter

import (
	"bytes"
	"strings"
	"testing"

	"agentswarm/swarm/exit"
)

func TestParseDetachKey(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		give string
		want string // its name; an error's part where it begins with !
		code byte
	}{
		{"ctrl-]", "ctrl-]", 0x1d},
		{`ctrl-\`, `ctrl-\`, 0x1c},
		{"Ctrl-A", "ctrl-a", 0x01},
		{"C-x", "ctrl-x", 0x18},
		{"ctrl-@", "ctrl-@", 0x00},
		{"ctrl-_", "ctrl-_", 0x1f},
		{"", "!is not a key with Ctrl", 0},
		{"ctrl", "!is not a key with Ctrl", 0},
		{"ctrl-", "!is not a key with Ctrl", 0},
		{"ctrl-]]", "!is not a key with Ctrl", 0},
		{"alt-x", "!is not a key with Ctrl", 0},
		{"x", "!is not a key with Ctrl", 0},
		{"ctrl-[", "!cannot tell it from Escape", 0},
		{"ctrl-m", "!cannot tell it from Enter", 0},
		{"ctrl-I", "!cannot tell it from Tab", 0},
		{"ctrl-1", "!has no such key", 0},
		{"ctrl-\x1b", "!has no such key", 0},
	} {
		key, err := parseDetachKey(tt.give)
		want, wrong := strings.CutPrefix(tt.want, "!")
		switch {
		case wrong && (err == nil || !strings.Contains(err.Error(), want) || exit.HintOf(err) == "" || exit.CodeOf(err) != exit.Usage):
			t.Errorf("parseDetachKey(%q) = %v, %v; want an error with %q", tt.give, key, err, want)
		case !wrong && (err != nil || key.name != tt.want || key.sign&0x1f != tt.code):
			t.Errorf("parseDetachKey(%q) = %v, %v; want %s", tt.give, key, err, tt.want)
		}
	}
}

func TestDetachKeyCut(t *testing.T) {
	t.Parallel()
	key, err := parseDetachKey("ctrl-]")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		give, before string
		found        bool
	}{
		{"hello", "hello", false},
		{"he\x1dllo", "he", true},
		{"\x1d", "", true},
		{"]", "]", false},
		{"a\x1b[93;5ub", "a", true},
		{"\x1b[93;5:1u", "", true},
		{"\x1b[93:125;5u", "", true},
		{"\x1b[93;69u", "", true},               // Caps Lock is on
		{"\x1b[27;5;93~", "", true},             // modifyOtherKeys
		{"\x1b[93;5:3u", "\x1b[93;5:3u", false}, // it was let go
		{"\x1b[93;7u", "\x1b[93;7u", false},     // with Alt
		{"\x1b[97;5u", "\x1b[97;5u", false},     // another key
		{"\x1b[27;6;93~", "\x1b[27;6;93~", false},
		{"x\x1b[93;5uy\x1dz", "x", true},
		{"x\x1dy\x1b[93;5u", "x", true},
	} {
		before, found := key.cut([]byte(tt.give))
		if string(before) != tt.before || found != tt.found {
			t.Errorf("cut(%q) = %q, %v; want %q, %v", tt.give, before, found, tt.before, tt.found)
		}
	}
}

func FuzzDetachKeyCut(f *testing.F) {
	f.Add([]byte("a\x1b[93;5ub\x1d"))
	f.Fuzz(func(t *testing.T, typed []byte) {
		key := detachKey{name: "ctrl-]", sign: ']'}
		before, found := key.cut(typed)
		if !bytes.HasPrefix(typed, before) || !found && len(before) != len(typed) {
			t.Errorf("cut(%q) = %q, %v", typed, before, found)
		}
		if _, again := key.cut(before); again {
			t.Errorf("cut(%q) leaves the key in %q", typed, before)
		}
		if !found && bytes.IndexByte(typed, 0x1d) >= 0 {
			t.Errorf("cut(%q) does not find the key", typed)
		}
	})
}
