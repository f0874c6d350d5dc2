package gocache

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// base64Of is bytes as JSON has them.
func base64Of(bytes []byte) string { return base64.StdEncoding.EncodeToString(bytes) }

// putLine is a request with its body, as the go command writes it.
func putLine(id int, action, text string) string {
	a, o := idFor(action), idFor(text)
	line := fmt.Sprintf(`{"ID":%d,"Command":"put","ActionID":"%s","OutputID":"%s","BodySize":%d}`+"\n\n", id, base64Of(a[:]), base64Of(o[:]), len(text))
	if text != "" {
		line += `"` + base64Of([]byte(text)) + "\"\n"
	}
	return line
}

func getLine(id int, action string) string {
	a := idFor(action)
	return fmt.Sprintf(`{"ID":%d,"Command":"get","ActionID":"%s"}`+"\n\n", id, base64Of(a[:]))
}

// answers serves a text and returns the answers by their IDs.
func (c *caches) answers(in string) (map[int64]response, error) {
	c.Helper()
	var out bytes.Buffer
	served := c.Serve(strings.NewReader(in), &out)
	all := map[int64]response{}
	for d := json.NewDecoder(&out); ; {
		var r response
		err := d.Decode(&r)
		if errors.Is(err, io.EOF) {
			return all, served
		}
		c.must(err)
		if _, again := all[r.ID]; again {
			c.Errorf("the request %d has two answers", r.ID)
		}
		all[r.ID] = r
	}
}

func TestServe(t *testing.T) {
	t.Parallel()
	c := newCaches(t)
	c.write(c.lowerDir, "of the user", "user")
	large := strings.Repeat("large", 100_000)
	in := putLine(1, "action", "text") + putLine(2, "empty", "") + putLine(3, "large", large) +
		`{"ID":5,"Command":"get2"}` + "\n" + `{"ID":6,"Command":"put","ActionID":"AAAA","OutputID":"AAAA","BodySize":1}` + "\n" + `"AA=="` + "\n" +
		`{"ID":7,"Command":"get","ActionID":"AAAA"}` + "\n"
	for i := range 100 {
		in += getLine(100+2*i, "of the user") + getLine(101+2*i, "none")
	}
	all, err := c.answers(in + `{"ID":4,"Command":"close"}` + "\n{")
	c.must(err)
	if got := fmt.Sprint(all[0].KnownCommands); got != "[get put close]" {
		t.Errorf("the commands are %s", got)
	}
	for id, text := range map[int64]string{1: "text", 2: "", 3: large} {
		want := filepath.Join(c.dir, idFor(text).file("d"))
		if got, err := os.ReadFile(want); all[id].DiskPath != want || err != nil || string(got) != text {
			t.Errorf("the answer to %d is %+v; %v", id, all[id], err)
		}
	}
	for id := int64(100); id < 300; id += 2 {
		hit, miss := all[id], all[id+1]
		if hit.Miss || hit.Size != 4 || hit.Time == nil || hit.DiskPath != filepath.Join(c.lowerDir, idFor("user").file("d")) || ID(hit.OutputID) != idFor("user") {
			t.Fatalf("the answer to %d is %+v", id, hit)
		}
		if !miss.Miss || miss.Err != "" {
			t.Fatalf("the answer to %d is %+v", id+1, miss)
		}
	}
	if all[5].Err == "" || all[6].Err == "" || !all[7].Miss {
		t.Errorf("wrong requests have the answers %+v, %+v, %+v", all[5], all[6], all[7])
	}
	if r, ok := all[4]; !ok || r.Err != "" {
		t.Errorf("close has the answer %+v, %v", r, ok)
	}
	c.want("action", "text")
}

// TestWrongRequests: where the next request cannot be found, the process ends.
func TestWrongRequests(t *testing.T) {
	t.Parallel()
	put := putLine(1, "action", "text")
	for name, in := range map[string]string{
		"no JSON":       "get\n",
		"too long":      `{"ID":1,"Command":"` + strings.Repeat("x", maxRequest) + "\"}\n",
		"cut":           `{"ID":1`,
		"no body":       put[:strings.Index(put, "\n")+1],
		"body cut":      put[:len(put)-4],
		"body too long": strings.Replace(put, `"BodySize":4`, `"BodySize":1`, 1),
		"no quote":      strings.Replace(put, "\n\"", "\nx", 1),
		"not Base64":    strings.Replace(put, `"`+base64Of([]byte("text")), `"!!!!!!!!`, 1),
		"negative":      `{"ID":1,"Command":"put","BodySize":-1}` + "\n",
		"enormous":      `{"ID":1,"Command":"put","BodySize":9223372036854775807}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCaches(t)
			if all, err := c.answers(in); err == nil && all[1].Err == "" {
				t.Errorf("the answers are %+v, want an error", all)
			}
			c.want("action", "")
			if all := state(t, c.dir); all != "" {
				t.Errorf("files are left:\n%s", all)
			}
		})
	}
	c := newCaches(t)
	if all, err := c.answers(getLine(1, "none") + "\n"); err != nil || !all[1].Miss {
		t.Errorf("the end of the requests: %+v, %v", all, err)
	}
}
