package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"agentswarm/internal/statefile"
)

// Use lists the parts of the configuration that a run uses. A part that a flag
// has replaced is not used.
type Use struct {
	PassEnv bool // the user's variables that agents and checks get

	Warm   bool
	Setup  bool
	Verify bool
	Notify bool
	Hooks  bool
	Checks bool     // all of them: which ones a script asks for is not known before
	Roles  bool     // all of them: the run pays for them
	Agents []string // by name; an empty name means the default agent
}

// Item is a text from the repository that would be run.
type Item struct {
	Key    string // "workspace.setup", "run.notify" and the like, "sandbox.pass_env", "hooks.NAME", "checks.NAME", "roles.NAME" or "agents.NAME"
	Origin Origin
	// Text is the quoted command that would be run. Its only control characters
	// are line ends. Two texts are equal only if the commands are equal.
	Text string
}

// String shows the item to a person who is asked about it.
func (i Item) String() string {
	return fmt.Sprintf("%s (%s)\n    %s\n", i.Key, i.Origin,
		strings.ReplaceAll(i.Text, "\n", "\n    "))
}

// Digest returns the name of the item's approval: the SHA-256 of its record. It
// changes when the key or the text changes, not when the text moves.
func (i Item) Digest() string {
	sum := sha256.Sum256(i.record())
	return hex.EncodeToString(sum[:])
}

// record returns the contents of the approval's file. The key comes first on a
// line of its own and no key holds a line end, so that no two items share a
// record.
func (i Item) record() []byte {
	return []byte("approved 1: " + i.Key + "\n" + i.Text + "\n")
}

// Needs returns the items that this run would use and the user did not write,
// in the order of their use. The user's own configuration needs no approval.
func (c *Config) Needs(use Use) []Item {
	var items []Item
	add := func(key, text string) {
		if o := c.origins[key]; o.Layer != User {
			items = append(items, Item{Key: key, Origin: o, Text: text})
		}
	}
	if item, wanted := c.passEnvItem(); wanted && use.PassEnv {
		items = append(items, item)
	}
	if use.Warm && c.Warm != "" {
		add("workspace.warm", quoteLines(c.Warm))
	}
	if use.Setup && c.Setup != "" {
		add("workspace.setup", quoteLines(c.Setup))
	}
	if use.Hooks {
		for event, h := range c.Hooks.byEvent() {
			if h.Argv() != nil {
				add("hooks."+string(event), h.text())
			}
		}
	}
	seen := map[string]bool{}
	for _, name := range use.Agents {
		name = c.orDefault(name)
		d, ok := c.agents[name]
		if !ok || seen[name] {
			continue
		}
		seen[name] = true
		add("agents."+name, d.agent.text())
	}
	if use.Verify && c.Verify != "" {
		add("workspace.verify", quoteLines(c.Verify))
	}
	if use.Checks {
		for _, name := range c.CheckNames() {
			add(checkKey(name), quoteLines(c.checks[name]))
		}
	}
	if use.Roles {
		for _, name := range slices.Sorted(maps.Keys(c.roles)) {
			add(roleKey(name), roleText(c.roles[name]))
		}
	}
	if use.Notify && c.Notify != "" {
		add("run.notify", quoteLines(c.Notify))
	}
	return items
}

// SwitchedOff are the user's own scripts that the files of a repository empty, of
// those that this run would use. A repository may do so without being asked
// about, which the user is to know.
func (c *Config) SwitchedOff(use Use) []Error {
	var all []Error
	for _, key := range sortedKeys(c.off) {
		if use.script(key) {
			all = append(all, *c.off[key])
		}
	}
	return all
}

// script tells whether the script of a key would be used.
func (u Use) script(key string) bool {
	switch key {
	case "workspace.warm":
		return u.Warm
	case "workspace.setup":
		return u.Setup
	case "workspace.verify":
		return u.Verify
	default:
		return u.Checks // of which the names are the user's
	}
}

// text returns all settings of an agent that decide about its command and its
// input. Limits of time are left out: they run nothing.
func (a Agent) text() string {
	var lines []string
	if len(a.Command) > 0 {
		lines = append(lines, "command = "+quotedWords(a.Command))
	}
	lines = append(lines, fmt.Sprintf("kind = %q", a.Kind))
	if a.Kind == KindCommand {
		lines = append(
			lines,
			fmt.Sprintf("input = %q", a.Input),
			fmt.Sprintf("format = %q", a.Format),
			fmt.Sprintf("success = %q", a.Success),
		)
	}
	lines = append(lines, a.choices()...)
	// Only if it is set: older approvals, from before this key, stay valid.
	if a.PTY {
		lines = append(lines, "pty = true")
	}
	if len(a.Write) > 0 {
		lines = append(lines, "write = "+quotedWords(texts(a.Write)))
	}
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		lines = append(lines, fmt.Sprintf("env.%s = %q", name, a.Env[name]))
	}
	return strings.Join(lines, "\n")
}

// choices returns the settings of an agent that is not a command, as far as
// they are set.
func (a Agent) choices() []string {
	var lines []string
	for _, option := range []struct{ key, value string }{{"model", a.Model}, {"effort", a.Effort}} {
		if option.value != "" {
			lines = append(lines, fmt.Sprintf("%s = %q", option.key, option.value))
		}
	}
	if len(a.Tools) > 0 {
		lines = append(lines, "tools = "+quotedWords(a.Tools))
	}
	if a.ReadOnly {
		lines = append(lines, "read_only = true")
	}
	return lines
}

// quotedWords is a list of strings as TOML has it.
func quotedWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = strconv.Quote(word)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// quoteLines quotes a script line by line, each with its own line end.
func quoteLines(script string) string {
	var lines []string
	for line := range strings.Lines(script) {
		lines = append(lines, strconv.Quote(line))
	}
	return strings.Join(lines, "\n")
}

// Trust is the folder of the user's approvals for a repository. An approval is
// a file named after an item's digest that holds the text. A person can read
// the approved text, and revoke it by removing the file.
type Trust struct {
	Dir string // required; outside the repository
}

// Approved tells whether the user has approved the item. It creates nothing.
func (t Trust) Approved(i Item) (bool, error) {
	ok, err := t.safe()
	if !ok || err != nil {
		return false, err
	}
	held, err := statefile.Read(t.Dir, t.path(i))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read approval of %s: %w", i.Key, err)
	}
	// A file that a crash cut short is no approval.
	return string(held) == string(i.record()), nil
}

// Pending lists those items that the user has not approved.
func (t Trust) Pending(items []Item) ([]Item, error) {
	var pending []Item
	for _, i := range items {
		ok, err := t.Approved(i)
		if err != nil {
			return nil, err
		}
		if !ok {
			pending = append(pending, i)
		}
	}
	return pending, nil
}

// Approve records that the user has read the items and wants them run.
func (t Trust) Approve(items []Item) error {
	if len(items) == 0 {
		return nil
	}
	if _, err := t.safe(); err != nil {
		return err
	}
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return fmt.Errorf("make trust folder: %w", err)
	}
	for _, i := range items {
		if err := t.write(i); err != nil {
			return fmt.Errorf("approve %s: %w", i.Key, err)
		}
	}
	return nil
}

// write puts the approval under a name of its own first, since two processes
// may approve the same item at once.
func (t Trust) write(i Item) (err error) {
	f, err := os.CreateTemp(t.Dir, ".new-") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(i.record())
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), t.path(i))
}

func (t Trust) path(i Item) string {
	return filepath.Join(t.Dir, i.Digest())
}

// safe reports whether the folder exists. It returns an error for a folder that
// other users may write to, because it could hold approvals that the user never
// gave.
func (t Trust) safe() (bool, error) {
	if !filepath.IsAbs(t.Dir) {
		return false, fmt.Errorf("trust folder %q is not an absolute path", t.Dir)
	}
	stat, err := os.Lstat(t.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at trust folder: %w", err)
	}
	if !stat.IsDir() {
		return false, fmt.Errorf("trust folder %s is not a folder", printable(t.Dir))
	}
	if stat.Mode().Perm()&0o022 != 0 {
		return false, fmt.Errorf("trust folder %s may be written by others; "+
			"check its files, then: chmod 700", printable(t.Dir))
	}
	return true, nil
}
