package fanout

import (
	"bytes"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// FuzzTasksAreTOML: the decoder of go-toml, which ReadTasks does not use,
// accepts each text that ReadTasks accepts, and finds the same in it.
func FuzzTasksAreTOML(f *testing.F) {
	f.Add([]byte("[[tasks]]\n\"id\" = \"a\"\nprompt = '''\ndo\n'''\npaths = [\"x\", 'y/']\n"))
	f.Add([]byte("# é\n[[tasks]]\r\nprompt = \"\"\"\\u00e9 \\\n  x\"\"\"\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		tasks, err := ReadTasks(TasksRequest{Source: "s", Format: FormatTOML, Text: text})
		if err != nil {
			return
		}
		var theirs struct{ Tasks []map[string]any }
		if err := toml.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &theirs); err != nil || len(theirs.Tasks) != len(tasks) {
			t.Fatalf("%q was accepted; the decoder has %v, %v", text, theirs, err)
		}
		for i, task := range tasks {
			if prompt, _ := theirs.Tasks[i]["prompt"].(string); prompt != task.Prompt {
				t.Errorf("%q: prompt %d is %q, the decoder has %q", text, i, task.Prompt, prompt)
			}
		}
	})
}
