// Package bytesize reads and writes sizes of files and disks, such as 100MiB
// and "212 GB". It knows no use of a size.
package bytesize

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Max is the largest size that [Parse] accepts, in bytes: far more than disks
// hold, and no overflow.
const Max = 1 << 60

var form = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(Pattern) })

// Pattern is the regular expression of the texts that [Parse] accepts, but for
// those above [Max].
const Pattern = `^([0-9]{1,19}(?:\.[0-9]{1,9})?) ?(?:([KMGT])(i?)B|B)$`

// Parse returns the bytes of a size with its unit, such as 500MB or "1.5 GiB".
// Units with an i are powers of 1,024, the others of 1,000. ok is false for any
// other text, and for sizes above [Max].
func Parse(text string) (n int64, ok bool) {
	m := form().FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	value, err := strconv.ParseFloat(m[1], 64)
	step := 1000.0
	if m[3] != "" {
		step = 1024
	}
	if m[2] != "" {
		value *= math.Pow(step, float64(1+strings.Index("KMGT", m[2])))
	}
	if err != nil || value > Max {
		return 0, false
	}
	return int64(value), true
}

// Format returns a size for people, in powers of 1,000: "999 B", "1.5 MB",
// "212 GB".
func Format(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/1000, 0
	for value >= 999.5 && unit < len("kMGTPE")-1 {
		value, unit = value/1000, unit+1
	}
	if value < 9.95 {
		return fmt.Sprintf("%.1f %cB", value, "kMGTPE"[unit])
	}
	return fmt.Sprintf("%.0f %cB", value, "kMGTPE"[unit])
}
