package review

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkReport reads 100 patches with 10,000 edits, fingerprints and groups
// them. BenchmarkPut puts another patch into such an index.
func BenchmarkReport(b *testing.B) {
	texts := manyEdits(100, 100)
	var before, after runtime.MemStats
	var spent time.Duration
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		began := processorTime(b)
		x := &Index{}
		for i, text := range texts {
			x.Put(read(b, fmt.Sprint("a", i), text))
		}
		r := x.Report(ReportRequest{})
		spent += processorTime(b) - began
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(r.Edits), "edits")
		b.ReportMetric(float64(r.ToRead), "lines-to-read")
		b.ReportMetric(float64(r.Lines), "lines")
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB-kept")
		b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/(1<<20), "MiB-allocated")
		runtime.KeepAlive(x)
	}
	b.ReportMetric(float64(spent.Milliseconds())/float64(b.N), "cpu-ms/op")
}

// processorTime is the time that the process has used: other load does not count.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkPut(b *testing.B) {
	x := &Index{}
	var last *Patch
	for i, text := range manyEdits(100, 100) {
		last = read(b, fmt.Sprint("a", i), text)
		x.Put(last)
	}
	for b.Loop() {
		x.Put(last)
		x.Report(ReportRequest{})
	}
}

// manyEdits are patches with edits of several sorts; every seventh edit is
// unique to its patch.
func manyEdits(patches, edits int) []string {
	var all []string
	for p := range patches {
		var text, hunk strings.Builder
		for e := range edits {
			switch e % 7 {
			case 0:
				fmt.Fprintf(&hunk, " func (s *server%d) handle%d() {\n+\tctx, span%d := tracer.Start(ctx, \"handle%d-%d\")\n+\tdefer span%d.End()\n }\n", p, e, e, p, e, e)
			case 1, 2:
				fmt.Fprintf(&hunk, " \t}\n-\tvalue%d := map[string]interface{}{\"key\": compute%d(input, %d)}\n+\tvalue%d := map[string]any{\"key\": compute%d(input, %d)}\n }\n", e, p, e, e, p, e)
			case 3:
				fmt.Fprintf(&hunk, " {\n-\tfirst := ioutil.ReadAll(reader%d)\n-\tsecond := ioutil.ReadFile(path%d)\n+\tfirst := io.ReadAll(reader%d)\n+\tsecond := os.ReadFile(path%d)\n }\n", e, p, e, p)
			default:
				fmt.Fprintf(&hunk, " {\n-\tif err := client%d.Call(ctx, request, response, options); err != nil {\n+\tif err := client%d.CallContext(ctx, request, response, options...); err != nil {\n }\n", p, p)
			}
			if e%10 == 9 {
				text.WriteString(oneFile(fmt.Sprintf("pkg%d/file%d.go", p, e), hunk.String()))
				hunk.Reset()
			}
		}
		all = append(all, text.String())
	}
	return all
}
