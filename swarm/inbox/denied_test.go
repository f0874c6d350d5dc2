package inbox

import (
	"encoding/json"
	"reflect"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// A person's denial of a loss of files is remembered for its agent until the same
// is allowed. Other denials are not.
func TestDenied(t *testing.T) {
	t.Parallel()
	deletes := func(paths ...string) *event.Files { return &event.Files{Deletes: paths} }
	type end struct {
		files *event.Files
		reply event.Replied
	}
	no := func(by task.By, files *event.Files) end { return end{files, event.Replied{By: by}} }
	yes := func(files *event.Files) end { return end{files, event.Replied{Allow: true, By: task.ByPerson}} }
	for _, tt := range []struct {
		name string
		ends []end
		want event.Files
	}{
		{"by a person", []end{no(task.ByPerson, deletes("pkg"))}, event.Files{Deletes: []string{"pkg"}}},
		{"by no answer in time", []end{no(task.ByTime, &event.Files{Overwrites: []string{"pkg/a/f.txt"}})}, event.Files{}},
		{"by policy, without a person", []end{no(task.ByPolicy, deletes("pkg"))}, event.Files{Deletes: []string{"pkg"}}},
		{"by the risk rules", []end{no(task.ByRisk, deletes("pkg"))}, event.Files{}},
		{"by no answer, after a person", []end{no(task.ByPerson, deletes("pkg")), no(task.ByTime, deletes("pkg", "x"))}, event.Files{Deletes: []string{"pkg"}}},
		{"by an answer for the run", []end{no(task.ByRule, deletes("pkg"))}, event.Files{Deletes: []string{"pkg"}}},
		{"by a script, which hears of each", []end{no(task.ByScript, deletes("pkg"))}, event.Files{}},
		{"by its end", []end{no(task.ByEnd, deletes("pkg"))}, event.Files{}},
		{"about no files", []end{no(task.ByPerson, nil)}, event.Files{}},
		{"twice", []end{no(task.ByPerson, deletes("a")), no(task.ByPerson, deletes("a", "b"))}, event.Files{Deletes: []string{"a", "b"}}},
		{"each kind", []end{no(task.ByPerson, &event.Files{Overwrites: []string{"o"}, Cleans: []string{"."}})}, event.Files{Overwrites: []string{"o"}, Cleans: []string{"."}}},
		{"allowed later", []end{no(task.ByPerson, deletes("pkg", "x")), yes(deletes("pkg"))}, event.Files{Deletes: []string{"x"}}},
		{"allowed as part of more", []end{no(task.ByPerson, deletes("pkg/a", "/srv/x")), yes(deletes("."))}, event.Files{Deletes: []string{"/srv/x"}}},
		{"a part allowed", []end{no(task.ByPerson, deletes("pkg")), yes(deletes("pkg/f"))}, event.Files{Deletes: []string{"pkg"}}},
	} {
		var earlier []event.Event
		b := New("k3x9q2", Wait, nil)
		for i, e := range tt.ends {
			q := &event.Questioned{ID: ID("k3x9q2", i+1), Agent: "a3", Risk: &event.Risk{Files: e.files}, Action: json.RawMessage(`"x"`)}
			r := e.reply
			r.ID = q.ID
			b.Ended(q, &r)
			earlier = append(earlier, q, &r)
		}
		for where, box := range map[string]*Box{"now": b, "after a resume": New("k3x9q2", Wait, earlier)} {
			got := box.Denied("a3")
			for _, list := range []*[]string{&got.Deletes, &got.Overwrites, &got.Cleans} {
				if len(*list) == 0 {
					*list = nil
				}
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%s, %s: %+v, want %+v", tt.name, where, got, tt.want)
			}
			if other := box.Denied("a1"); len(other.Deletes)+len(other.Overwrites)+len(other.Cleans) > 0 {
				t.Errorf("%s: another agent is denied %+v", tt.name, other)
			}
		}
	}
}
