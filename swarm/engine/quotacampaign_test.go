package engine

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"agentswarm/internal/testing/campaign"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/command"
	"agentswarm/swarm/event"
	"agentswarm/swarm/governor"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// turns is the number of prompts that an agent of the campaign sends.
const turns = 3

// sent is a message of an agent to the model server: the next turn of its
// conversation.
type sent struct {
	Lane, Agent string
	Turn        int
}

// modelServer answers prompts by windows of a quota on a simulated clock.
type modelServer struct {
	t     *testing.T
	clock string // the file of the clock
	most  map[string]int

	mu       sync.Mutex // guards the fields below
	answered map[string]int
	seen     map[sent]int // prompts that were answered
	refused  map[string]int
}

// answer is the line that an agent prints for a prompt.
func (s *modelServer) answer(p sent) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	after := readClock(s.t, s.clock)
	refuse := func(detail string) string {
		s.refused[p.Lane]++
		return `{"type":"error","kind":"quota",` + detail + `}`
	}
	structured := func(end time.Duration) string {
		return refuse(fmt.Sprintf(`"message":"used up","quota":{"title":"%s limit","resets_at":%d}`, p.Lane, noon().Add(end).Unix()))
	}
	if s.answered[p.Lane] >= s.most[p.Lane] {
		switch {
		case p.Lane == "hours" && after < 5*time.Hour:
			return structured(5 * time.Hour)
		case p.Lane == "hours" && after < 10*time.Hour: // a second refusal at the reset
			return structured(10 * time.Hour)
		case p.Lane == "week" && after < 7*24*time.Hour:
			return structured(7 * 24 * time.Hour)
		case p.Lane == "late" && after < 6*time.Hour: // its text is off by an hour
			return refuse(`"message":"Session limit reached ∙ resets 5pm (UTC)"`)
		}
	}
	s.answered[p.Lane]++
	s.seen[p]++
	return `{"type":"usage","input":1,"output":1}`
}

// serve answers agents until the test ends.
func (s *modelServer) serve() (address string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	var all sync.WaitGroup
	s.t.Cleanup(func() { _ = listener.Close(); all.Wait() })
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				var p sent
				if json.NewDecoder(conn).Decode(&p) == nil {
					fmt.Fprintln(conn, s.answer(p))
				}
			})
		}
	})
	return listener.Addr().String()
}

// readClock is the time after noon by the file of a simulated clock.
func readClock(t *testing.T, file string) time.Duration {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		t.Error(err)
	}
	return time.Duration(n)
}

// setClock sets the clock atomically. Readers see the old time or the new time.
func setClock(t *testing.T, file string, after time.Duration) {
	t.Helper()
	if err := os.WriteFile(file+".new", []byte(strconv.FormatInt(int64(after), 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

// quotaTalker is the program of an agent: it continues its conversation, prompt
// by prompt, until it is refused. It returns its exit code.
func quotaTalker() int {
	said := filepath.Join(os.Getenv("STATE"), "talk")
	if os.MkdirAll(said, 0o700) != nil {
		return 2
	}
	fmt.Printf(`{"type":"session","id":"s%s","model":"m"}`+"\n", os.Getenv("SWARM_AGENT"))
	for turn := 1; turn <= turns; turn++ {
		file := filepath.Join(said, strconv.Itoa(turn))
		if _, err := os.Stat(file); err == nil {
			continue // it is a part of the conversation
		}
		conn, err := net.Dial("tcp", os.Getenv("MODEL"))
		if err != nil {
			return 2
		}
		err = json.NewEncoder(conn).Encode(sent{os.Getenv("LANE"), os.Getenv("SWARM_AGENT"), turn})
		line, read := bufio.NewReader(conn).ReadString('\n')
		if conn.Close() != nil || err != nil || read != nil {
			return 2
		}
		fmt.Print(line)
		if strings.Contains(line, `"error"`) {
			return 1
		}
		if os.WriteFile(file, nil, 0o600) != nil {
			return 2
		}
	}
	fmt.Println(`{"type":"result","text":"ok"}`)
	return 0
}

// quotaSpeaker is the kind of those agents.
type quotaSpeaker struct{ command.Adapter }

func (quotaSpeaker) Launch(r agent.Request) (agent.Launch, error) {
	self, err := os.Executable()
	return agent.Launch{
		Argv: []string{self, "__quota_talker"}, Stdin: r.PromptFile,
		Env: []string{"STATE=" + r.State, "LANE=" + r.Spec.Model, "MODEL=" + os.Getenv(ownedModel)},
	}, err
}

// The variables of a process that owns the run of the campaign.
const (
	ownedDir   = "QUOTA_OWNER_DIR"
	ownedRun   = "QUOTA_OWNER_RUN"
	ownedClock = "QUOTA_OWNER_CLOCK"
	ownedModel = "QUOTA_OWNER_MODEL"
	ownedCalls = "QUOTA_OWNER_CALLS"
)

// TestQuotaOwner is the process that owns the run of [TestQuotaCampaign], which
// kills it.
func TestQuotaOwner(t *testing.T) {
	dir, clock := os.Getenv(ownedDir), os.Getenv(ownedClock)
	if dir == "" {
		t.Skip("it is started by TestQuotaCampaign")
	}
	go func() { // it ends with the test that started it
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}()
	state := store.Open(filepath.Join(dir, "state"), "repo", filepath.Join(dir, "repo"))
	run, err := state.Run(os.Getenv(ownedRun))
	if err != nil {
		t.Fatal(err)
	}
	owner, err := run.Own(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, owner: owner, dir: dir, spaces: &spaces{root: state.Trees(run.ID)}}
	now := func() time.Time { return noon().Add(readClock(t, clock)) }
	r.deps = Deps{
		Run: run, Journal: r, Workspaces: r.spaces, Joiner: r.spaces,
		Launcher: &proc.Launcher{Binary: self, Args: []string{"__supervise"}},
		Kinds: map[string]agent.Kind{"talker": {
			Name: "talker", Adapter: quotaSpeaker{}, Sessions: []string{"talk"}, Can: agent.Abilities{Fork: true, Model: true},
		}},
		Disk:    &limit.Disk{Dir: dir, Free: func() (int64, error) { return 1 << 40, nil }},
		Environ: []string{"PATH=" + os.Getenv("PATH")}, Root: dir, Cores: 2, Now: now,
		Warn: func(text string) { t.Error(text) },
		pass: func(ctx context.Context, gap time.Duration) (context.Context, context.CancelFunc) {
			ctx, end := context.WithCancel(ctx)
			until := now().Add(gap)
			go func() {
				defer end()
				for ctx.Err() == nil && now().Before(until) {
					time.Sleep(2 * time.Millisecond) // a poll for the clock
				}
			}()
			return ctx, end
		},
	}
	r.deps.Governor = governor.Alone(governor.Options{Now: now, Chance: limit.Random})
	r.config = Config{Jobs: 8, MaxAgents: 100, WaitLimits: 8 * 24 * time.Hour, MaxWindows: 5}
	r.config.Agents = map[string]*agent.Spec{"t": {
		Name: "t", Kind: "talker", Command: []string{"talker"}, Input: agent.InputStdin, Format: agent.FormatJSONL, Success: agent.SuccessAnswer,
	}}
	n, err := strconv.Atoi(os.Getenv(ownedCalls))
	if err != nil {
		t.Fatal(err)
	}
	var calls []*task.Call
	for i := range n {
		call := talks(fmt.Sprint("task ", i))
		call.Model = []string{"hours", "week", "hours", "late", "hours"}[i%5]
		calls = append(calls, call)
	}
	if err := Recover(t.Context(), r.deps, r.config, r.view()); err != nil {
		t.Fatal(err)
	}
	r.append(&event.Opened{Resumed: true, Pid: os.Getpid()})
	for id, s := range r.play(calls...) {
		is(t, string(id), endOf(s.Result), "completed")
	}
	if err := owner.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestQuotaCampaign runs agents in three lanes whose quota is used up half-way:
// by a window of five hours that is refused again at its end, by a week, and by
// a text whose time is an hour too early. The owner of the run is killed twice
// while it waits. Each agent ends exactly once. In a closed lane only probes
// begin, each alone. The model server answers no prompt twice.
func TestQuotaCampaign(t *testing.T) {
	t.Parallel()
	agents := campaign.Rounds(t, 10, 100)
	r := newRig(t)
	if err := r.owner.Close(); err != nil {
		t.Fatal(err)
	}
	clock := filepath.Join(r.dir, "clock")
	setClock(t, clock, 0)
	// The window of hours closes at the agent after two fifths of all.
	server := &modelServer{
		t: t, clock: clock, most: map[string]int{"hours": agents * 2 / 5 * turns, "week": turns, "late": turns + 1},
		answered: map[string]int{}, seen: map[sent]int{}, refused: map[string]int{},
	}
	address := server.serve()
	begin := func() *exec.Cmd {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		owner := exec.CommandContext(t.Context(), self, "-test.run", "^TestQuotaOwner$")
		owner.Env = append(os.Environ(), ownedDir+"="+r.deps.Root, ownedRun+"="+r.deps.Run.ID, ownedClock+"="+clock,
			ownedModel+"="+address, ownedCalls+"="+strconv.Itoa(agents))
		if _, err := owner.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		owner.Stdout, owner.Stderr = os.Stderr, os.Stderr
		if err := owner.Start(); err != nil {
			t.Fatal(err)
		}
		return owner
	}
	owner := begin()
	var order []time.Duration
	for kills := 0; ; {
		until, over := r.nextWindow(agents)
		if over {
			break
		}
		if kills < 2 && (kills == 0 || until > 5*time.Hour) {
			kills++
			if err := owner.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = owner.Wait() // it was killed
			owner = begin()
			if again, _ := r.nextWindow(agents); again != until {
				t.Errorf("after a kill it waits until %s, want %s", again, until)
			}
		}
		order = append(order, until)
		setClock(t, clock, until)
		r.windowPassed(until)
	}
	if err := owner.Wait(); err != nil {
		t.Errorf("the owner: %v", err)
	}
	want := "[5h0m0s 5h5m0s 5h15m0s 5h30m0s 5h45m0s 6h0m0s 10h0m0s 168h0m0s]"
	if got := fmt.Sprint(order); got != want {
		t.Errorf("windows: %s, want %s", got, want)
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	if len(server.seen) != agents*turns {
		t.Errorf("%d prompts were answered, want %d", len(server.seen), agents*turns)
	}
	for p, n := range server.seen {
		if n != 1 {
			t.Errorf("%+v was answered %d times", p, n)
		}
	}
	r.checkStarts(agents)
}

// nextWindow waits until the run waits for quota, and returns until when, after
// noon; over is set once all agents have ended.
func (r *rig) nextWindow(agents int) (until time.Duration, over bool) {
	r.t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(5 * time.Millisecond) { // a poll for a record
		v := r.view()
		if v.Counts().Completed == agents {
			return 0, true
		}
		if v.Status == store.RunRunning && v.Waits() {
			if w := v.QuotaWait(); w.Until.After(noon().Add(readClock(r.t, filepath.Join(r.dir, "clock")))) && r.reopened(v) {
				return w.Until.Sub(noon()), false
			}
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("the run does not wait: %+v", v.Counts())
		}
	}
}

// reopened reports whether the latest owner has parked all that waited before.
func (r *rig) reopened(v *store.View) bool {
	for _, a := range v.Agents {
		if s, ok := a.Status.(*task.Running); ok && s.State == task.Queued {
			return false
		}
	}
	return len(v.Agents) > 0 && v.Opened != nil
}

// windowPassed waits until the owner has looked at a window whose time has come.
func (r *rig) windowPassed(until time.Duration) {
	r.t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(5 * time.Millisecond) { // a poll for a record
		w := r.view().QuotaWait()
		if w == nil || !w.Until.Equal(noon().Add(until)) {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("nobody asked at %s", until)
		}
	}
}

// checkStarts checks that each agent ended once. Between the record that closes
// a lane and the next record about the lane, at most a single agent began
// there.
func (r *rig) checkStarts(agents int) {
	r.t.Helper()
	records, err := r.deps.Run.Records()
	if err != nil {
		r.t.Fatal(err)
	}
	ended, closed := map[task.ID]int{}, map[string]int{}
	lanes := map[task.ID]string{}
	for _, rec := range records {
		switch e := rec.Event.(type) {
		case *event.Called:
			lanes[e.Agent] = "talker talker/" + e.Call.Model
		case *event.QuotaClosed:
			closed[e.Lane] = 0
		case *event.QuotaOpened:
			delete(closed, e.Lane)
		case *event.Started:
			lane := lanes[e.Agent]
			if begun, shut := closed[lane]; shut {
				if closed[lane]++; begun > 0 {
					r.t.Errorf("record %d: %s begins in %s, which is closed", rec.N, e.Agent, lane)
				}
			}
		case *event.Settled:
			ended[e.Agent]++
		}
	}
	if len(ended) != agents {
		r.t.Errorf("%d agents ended, want %d", len(ended), agents)
	}
	for id, n := range ended {
		if n != 1 {
			r.t.Errorf("%s ended %d times", id, n)
		}
	}
}
