package control

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestWhoMaySpeak(t *testing.T) {
	t.Parallel()
	g := &target{}
	s, _, _ := listening(t, g)
	speak := append(os.Environ(), "CONTROL_CHILD=speak")
	for _, test := range []struct {
		name string
		attr os.ProcAttr
		want string
	}{
		{"another process", os.ProcAttr{Env: speak}, `"ok":true`},
		{"an agent", os.ProcAttr{Env: append([]string{"SWARM_AGENT="}, speak...)}, "SWARM_AGENT"},
		{"an agent, late in its environment", os.ProcAttr{Env: append(slices.Clone(speak), "SWARM_AGENT=a1")}, "SWARM_AGENT"},
		{"what only looks like one", os.ProcAttr{Env: append(slices.Clone(speak), "XSWARM_AGENT=a1")}, `"ok":true`},
		{"another namespace", os.ProcAttr{Env: speak, Sys: walls()}, "another PID namespace"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.name == "another namespace" && test.attr.Sys == nil {
				t.Skip("this system has no namespaces")
			}
			_, _, out := start(t, &test.attr, s.path, s.secret)
			line, err := out.ReadString('\n')
			if !strings.Contains(line, test.want) {
				t.Errorf("the answer is %q, %v, want %q", line, err, test.want)
			}
		})
	}
}

func TestBelowASupervisor(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} {
		g := &target{}
		s, _, _ := listening(t, g)
		p, in, out := start(t, &os.ProcAttr{Env: append(os.Environ(), "CONTROL_CHILD=supervise")}, s.path, s.secret)
		if known {
			g.mu.Lock()
			g.supervisors = []int{p.Pid}
			g.mu.Unlock()
		}
		if _, err := io.WriteString(in, "go\n"); err != nil {
			t.Fatal(err)
		}
		line, err := out.ReadString('\n')
		if strings.Contains(line, `"refused"`) != known {
			t.Errorf("below a supervisor (%v) the answer is %q, %v", known, line, err)
		}
	}
}
