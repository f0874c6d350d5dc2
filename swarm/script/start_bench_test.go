package script

import "testing"

// BenchmarkStart measures each start of a script before its own work.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		newRuntime()
	}
}

// BenchmarkLoad measures the reading of a script.
func BenchmarkLoad(b *testing.B) {
	src := Source{Name: "a.js", Text: `const found = await parallel(['api', 'db', 'web'].map((dir) => () =>
  agent(` + "`List what is slow in ${dir}/, with file and line.`" + `, { label: dir })))
return agent('Put these in order: ' + found.filter(Boolean).join('\n').replace(/\s+/g, ' '))`}
	for b.Loop() {
		if _, err := Load(src); err != nil {
			b.Fatal(err)
		}
	}
}
