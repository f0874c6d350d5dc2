package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"agentswarm/internal/testing/campaign"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
)

// stageFixture is a fixture whose agent does each stage by its prompt. The reviewer
// sends its first work back once. The ledger has a line for each paid answer.
func stageFixture(t *testing.T) *fixture {
	t.Helper()
	y := newFixture(t)
	y.env = append(y.env, "WORK="+y.dir, "SIGNALS="+y.path())
	y.write("home/.config/swarm/config.toml", `run.default_agent = "worker"
[agents.worker]
format = "jsonl"
command = ["sh", "-c", '''
prompt=$(cat)
case $prompt in
'Plan how'*) echo planner >> $SIGNALS/ledger; echo '{"type":"result","text":"PLAN: write greeting"}' ;;
'Carry out'*wrong*) echo mend >> $SIGNALS/ledger; echo you >> greeting; echo '{"type":"result","text":"made 2"}' ;;
'Carry out'*) echo work >> $SIGNALS/ledger; echo hello > greeting; echo '{"type":"result","text":"made 1"}' ;;
'Review a'*)
	echo review >> $SIGNALS/ledger
	if test "$(wc -l < greeting)" -gt 1 || test "${prompt#*The plan it followed}" = "$prompt"; then echo '{"type":"result","structured":{"pass":true,"problems":[]}}'
	else echo '{"type":"result","structured":{"pass":false,"problems":[{"path":"greeting","problem":"it is wrong: nobody is greeted"}]}}'; fi ;;
*) echo work >> $SIGNALS/ledger; echo hello > greeting; echo '{"type":"result","text":"did it"}' ;;
esac''', `+strconv.Quote("mark:"+y.dir)+`]
`)
	return y
}

// stageKilling is a run with reviews, and the kills it lives through.
type stageKilling struct {
	*scriptKilling
	args []string // that begin it
	paid []string // that it is to be paid for, in this order
}

// staging are the runs that are killed.
func staging(t *testing.T, auto bool) *stageKilling {
	t.Helper()
	k := &stageKilling{scriptKilling: &scriptKilling{fixture: stageFixture(t), script: "stages"}}
	k.args = []string{"run", "--stages", "--verify", "test -s greeting", "add a greeting"}
	k.paid = []string{"planner", "work", "review", "mend", "review"}
	if auto {
		k.script = "review"
		k.args, k.paid = []string{"run", "--review", "auto", "--verify", "test -s greeting", "add a greeting"}, []string{"work", "review"}
	}
	return k
}

// TestStageKills kills swarm again and again around each kind of record, in a
// run in stages and in a run with reviews. So it dies between plan and work,
// between work and review, and between review and second round. An answer is
// not paid for again. The run ends like an undisturbed run, and nothing of it
// is lost.
func TestStageKills(t *testing.T) {
	t.Parallel()
	most := campaign.Rounds(t, 2, 20)
	dice := rand.New(rand.NewPCG(campaign.Seed(t), 0))
	var steps []string
	for _, kind := range []string{"called", "leased", "ended", "captured", "checked", "settled", "released", "entered", "appraised", "closed"} {
		steps = append(steps, "after "+kind, fmt.Sprintf("before %s*%d", kind, 1+dice.IntN(4)))
	}
	for n := range 5 {
		steps = append(steps, fmt.Sprintf("before settled*%d", n+1))
	}
	for range 4 {
		steps = append(steps, strconv.Itoa(1+dice.IntN(150)))
	}
	dice.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	// This step comes between all of them.
	const between = "after settled"
	steps = slices.DeleteFunc(steps, func(s string) bool { return s == between })
	steps = append(steps[:max(0, min(most, len(steps))-1)], between)
	for _, auto := range []bool{false, true} {
		whole := staging(t, auto)
		want := whole.end(whole.swarm(nil, whole.args...))
		if got := whole.ledger(); !slices.Equal(got, whole.paid) {
			t.Fatalf("nobody killed it, and it is paid for %q, want %q", got, whole.paid)
		}
		for _, step := range steps {
			t.Run(fmt.Sprintf("%s, %s", whole.script, step), func(t *testing.T) {
				t.Parallel()
				k := staging(t, auto)
				k.name = whole.script
				k.on(worktree.Linked)
				k.campaign(step, want)
			})
		}
	}
}

// campaign kills at the same step until the run comes through.
func (k *stageKilling) campaign(step string, want scriptEnd) {
	defer k.describe()
	kills := 0
	for k.killAt(step, k.next()) {
		k.inspect()
		if kills++; kills > 40 {
			k.failf("it does not come on")
		}
		if !strings.HasPrefix(step, "after ") || step == "after leased" || step == "after closed" {
			break // it would not come any further
		}
	}
	s := k.swarm(nil, k.next()...)
	if s.code == 2 && strings.Contains(s.stderr, "nothing to resume") {
		s = said{stdout: want.stdout}
	}
	if s.code != 0 {
		k.failf("in the end a resume ends with %d: %s%s", s.code, s.stdout, s.stderr)
	}
	k.inspect()
	k.startedOnce()
	if got := stable(s.stdout); strings.Contains(got, "pass") && got != stable(want.stdout) {
		k.failf("in the end it says\n%s\nwant\n%s", got, want.stdout)
	}
	k.came(step)
	if s := k.swarm(nil, "merge"); s.code != 0 {
		k.failf("merge ended with %d: %s%s", s.code, s.stdout, s.stderr)
	}
	if got := k.git("show", "main:greeting"); k.script == "stages" && got != "hello\nyou" || !strings.HasPrefix(got, "hello") {
		k.failf("what landed is %q", got)
	}
}

// came checks the result of the run, and the paid answers.
func (k *stageKilling) came(step string) {
	k.t.Helper()
	v := k.view()
	if len(v.Agents) != len(k.paid) {
		k.failf("it has %d agents, want %d", len(v.Agents), len(k.paid))
	}
	for _, a := range v.Agents {
		done, ok := a.Status.(*task.Completed)
		if !ok {
			k.failf("%s is %s", a.ID, task.Word(a.Status))
		}
		if reads := a.Call.Stage != nil && a.Call.Stage.Reads; !reads && done.Patch != nil && (a.Appraisal == nil || !a.Appraisal.Pass) {
			k.failf("the review of %s is lost: %+v", a.ID, a.Appraisal)
		}
	}
	got := k.ledger()
	// Whose answer was on no disk when swarm died has to be asked again.
	if strings.HasPrefix(step, "before ended") || step[0] <= '9' {
		got = slices.Compact(got)
	}
	if !slices.Equal(got, k.paid) {
		k.failf("it was paid for %q, want %q", got, k.paid)
	}
}

func (k *stageKilling) next() []string {
	if k.view() == nil {
		return k.args
	}
	return []string{"resume"}
}

func (k *stageKilling) ledger() []string {
	text, err := os.ReadFile(k.path("ledger"))
	k.must(err)
	return strings.Fields(string(text))
}

// stable is the output of a run without the ids of commits.
func stable(text string) string {
	return regexp.MustCompile(`[0-9a-f]{40}`).ReplaceAllString(text, "ID")
}
