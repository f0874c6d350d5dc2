package mark

import (
	"fmt"
	"strings"
	"testing"

	"agentswarm/swarm/review"
)

// BenchmarkFind finds the marks of 10,000 edits.
func BenchmarkFind(b *testing.B) {
	r := load(b)
	x := &review.Index{}
	for i := range 100 {
		var text strings.Builder
		for k := range 100 {
			text.WriteString(diff(fmt.Sprintf("p%d/f%d.go", i, k), fmt.Sprintf(" {\n-\tvalue%d, err := ioutil.ReadFile(filepath.Join(dir, \"name\"))\n+\tvalue%d, err := os.ReadFile(filepath.Join(dir, \"name\"))\n", i, i)))
		}
		files, err := review.Read(text.String())
		if err != nil {
			b.Fatal(err)
		}
		x.Put(&review.Patch{ID: fmt.Sprint("a", i), Files: files})
	}
	edits := x.Edits()
	b.ReportMetric(float64(len(edits)), "edits")
	for b.Loop() {
		r.Find(edits, nil)
	}
}
