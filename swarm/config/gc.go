package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"

	"agentswarm/internal/bytesize"
)

// The limits of `swarm gc` that hold where no file sets them.
const (
	DefaultTrashAge  = 7 * day
	DefaultTrashSize = 5 << 30
)

const day = 24 * time.Hour

// Retention limits the age and the size of the files that runs leave behind.
type Retention struct {
	RunAge    time.Duration // of a run that ended before it goes into the trash; 0: it never does
	TrashAge  time.Duration // of the contents of the trash
	TrashSize int64         // of the workspaces there, in bytes
	PoolSize  int64         // of files that wait for the next workspaces, in bytes; 0: as the disk allows
	BaseSize  int64         // of the checkouts that workspaces share, in bytes; 0: as the disk allows
}

// retained is a retention where nothing is said.
func retained() Retention {
	return Retention{TrashAge: DefaultTrashAge, TrashSize: DefaultTrashSize}
}

// gcKeys are the keys of the table [gc].
func gcKeys() []key[Config] {
	return []key[Config]{
		{
			"run_age", ageShape(), Age(0), "none",
			"age after which an ended run moves to the trash, if `swarm rm` needs no `--force`; `\"0d\"`: never",
			func(c *Config, f field) error { return f.intoAge(&c.Retention.RunAge) },
			func(c *Config) any { return Age(c.Retention.RunAge) },
		}, {
			"trash_age", ageShape(), Age(DefaultTrashAge), "",
			"age after which runs and workspaces leave the trash",
			func(c *Config, f field) error { return f.intoAge(&c.Retention.TrashAge) },
			func(c *Config) any { return Age(c.Retention.TrashAge) },
		}, {
			"trash_size", sizeShape(0), sizeText(DefaultTrashSize), "",
			"size of workspaces in the trash; the oldest go first",
			func(c *Config, f field) error { return f.intoSize(&c.Retention.TrashSize, 0) },
			func(c *Config) any { return sizeText(c.Retention.TrashSize) },
		}, {
			"base_size", sizeShape(1), nil, "`\"20GiB\"`, at most a tenth of the disk",
			"size of shared checkouts; the least recently used go first",
			func(c *Config, f field) error { return f.intoSize(&c.Retention.BaseSize, 1) },
			func(c *Config) any { return sizeText(c.Retention.BaseSize) },
		}, {
			"pool_size", sizeShape(1), nil, "`\"20GiB\"`, at most a tenth of the disk",
			"size of unchanged files kept for the next workspaces; the oldest go first",
			func(c *Config, f field) error { return f.intoSize(&c.Retention.PoolSize, 1) },
			func(c *Config) any { return sizeText(c.Retention.PoolSize) },
		},
	}
}

// maxAge is a hundred years, far below the limit of a duration.
const maxAge = 36500 * day

// ageForm matches whole days, or the form of durationShape.
var ageForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{1,5}d$`) })

func ageShape() shape {
	return shape{"age", object{
		"type": "string", "anyOf": []object{
			{"pattern": ageForm().String()}, {"pattern": durationShape().schema["pattern"]},
		},
	}}
}

// intoAge reads how old something may be.
func (f field) intoAge(to *time.Duration) error {
	text := f.node.text
	d, err := time.ParseDuration(text)
	if days, whole := strings.CutSuffix(text, "d"); whole && ageForm().MatchString(text) {
		var n int
		n, err = strconv.Atoi(days)
		d = time.Duration(n) * day
	}
	if f.node.kind != unstable.String || err != nil || d < 0 || d > maxAge {
		return f.expected(`days such as "30d" or a duration such as "36h", of at most 36500 days`)
	}
	*to = d
	return nil
}

// Age is how the file says an age: in whole days where it is that.
func Age(d time.Duration) string {
	if d%day == 0 {
		return strconv.Itoa(int(d/day)) + "d"
	}
	return durationText(d)
}

func sizeShape(low int) shape {
	s := object{"type": "string", "pattern": strings.ReplaceAll(bytesize.Pattern, "(?:", "(")}
	if low > 0 {
		s["allOf"] = []object{{"not": object{"pattern": `^0*(\.0*)? ?[KMGT]?i?B$`}}}
	}
	return shape{"size", s}
}

// intoSize reads a number of bytes with its unit.
func (f field) intoSize(to *int64, low int64) error {
	n, ok := bytesize.Parse(f.node.text)
	if f.node.kind != unstable.String || !ok || n < low {
		return f.expected(fmt.Sprintf(`a size of at least %d B and less than a million TiB, such as "500MB" or "5GiB"`, low))
	}
	*to = n
	return nil
}

// sizeText is a size in the largest unit that it is a whole number of.
func sizeText(n int64) string {
	for _, step := range []int64{1024, 1000} {
		value, unit := n, 0
		for unit < 4 && value > 0 && value%step == 0 {
			value, unit = value/step, unit+1
		}
		switch {
		case unit == 0:
		case step == 1024:
			return strconv.FormatInt(value, 10) + string("KMGT"[unit-1]) + "iB"
		default:
			return strconv.FormatInt(value, 10) + string("KMGT"[unit-1]) + "B"
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}
