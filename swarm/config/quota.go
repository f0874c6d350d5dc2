package config

import (
	"time"

	"github.com/pelletier/go-toml/v2/unstable"
)

// DefaultWaitLimits is how long a run waits for a quota window where no file says
// it: a weekly window and a day. DefaultMaxWindows is how many windows of a lane it
// waits for.
const (
	DefaultWaitLimits = 8 * day
	DefaultMaxWindows = 20
)

// WaitNever is a wait for quota windows that does not begin.
const WaitNever time.Duration = -1

// never is the word for [WaitNever].
const never = "never"

// quotaKeys are those of the table [limits] that bound waits for quota windows.
func quotaKeys() []key[Config] {
	return []key[Config]{
		{
			"wait_limits", waitShape(), durationText(DefaultWaitLimits), "",
			"longest wait for a quota window of an account; `\"never\"` pauses the run instead",
			func(c *Config, f field) error { return f.intoWait(&c.WaitLimits) },
			func(c *Config) any { return waitText(c.WaitLimits) },
		}, {
			"max_windows", wholeShape(1, 1000), DefaultMaxWindows, "",
			"quota windows of one account that a run waits for",
			func(c *Config, f field) error { return readCount(c, f, &c.MaxWindows, 1, 1000) },
			func(c *Config) any { return c.MaxWindows },
		},
	}
}

func waitShape() shape {
	return shape{"duration or `\"never\"`", object{
		"type": "string", "anyOf": []object{{"const": never}, {"pattern": patienceShape().schema["pattern"]}},
	}}
}

// waitText is how a file says a wait.
func waitText(d time.Duration) string {
	if d == WaitNever {
		return never
	}
	return durationText(d)
}

// ParseWait reads a wait for quota windows: a duration above zero, or "never".
func ParseWait(text string) (time.Duration, bool) {
	if text == never {
		return WaitNever, true
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d > 0 && d <= maxAge
}

// intoWait reads a wait for quota windows.
func (f field) intoWait(to *time.Duration) error {
	d, ok := ParseWait(f.node.text)
	if f.node.kind != unstable.String || !ok {
		return f.expected(`a duration above zero such as "8h", or "never"`)
	}
	*to = d
	return nil
}
