package script

import "testing"

// BenchmarkStart is what each start of a script costs before its own work.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		newRuntime()
	}
}

// BenchmarkLoad is what reading a script costs.
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
