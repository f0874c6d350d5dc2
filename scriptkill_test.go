package main

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agentswarm/internal/testing/campaign"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
)

// killScripts are the scripts of TestScriptKills. None of them prints a value
// that a kill may change: ids of commits, or usage.
var killScripts = map[string]string{
	"hands": `phase('write')
const w = (n, o) => agent('! append:n-' + n + '.txt:' + n + ' wrote\n! print:' + n, { full: true, label: n, ...o })
const [a, b] = await parallel([() => w('a'), () => w('b')])
const ok = await check('there', { on: a })
const both = await merge([a, b])
const c = await w('c', { base: both.tree })
const bad = await check('never', { on: c })
const landing = await land([a, b, c], { verify: 'there' })
const d = await w('d')
return [a.output, b.output, ok.ok, both.applied.length, both.conflicts, c.patch.files, bad.exitCode,
  landing.landed, landing.ref, landing.applied.length, landing.verified, d.output, failures()]`,
	"handles": `const won = await race([() => agent('! write:lost:x\n! hang'), () => agent('! print:won')])
const slow = await sa.run({ prompt: '! write:slow:x\n! hang' })
let late
try { await sa.join(slow.id, { timeout: 50 }) } catch (e) { late = e.code }
const ended = await sa.cancel(slow.id, 'late')
const go = await ask('go on?', { choices: ['yes', 'no'] })
const quiet = await ask('anybody?', { default: 'nobody', timeout: 20 })
const sub = await workflow({ scriptPath: 'sub.js' }, { n: 2 })
const failed = await agent('! exit:3')
agent('! hang')
return [won, late, ended.status, go, quiet, sub, failed, failures().map(f => f.kind),
  sa.list().map(x => x.status)]`,
	// An agent that starts again there finds its earlier work.
	"shared": `const w = (n, first = '') => agent(first + '! run:grep -q ' + n + ' s.txt || printf ' + n + ' >> s.txt\n! write:' + n +
  '.txt:x\n! print:' + n, { full: true, isolation: 'shared' })
const a = await w('a')
const gone = await sa.run({ prompt: '! write:gone.txt:x\n! touch:$SIGNALS/gone\n! hang', isolation: 'shared' })
const b = await w('b', '! await:$SIGNALS/gone\n')
await sa.cancel(gone.id)
const c = await w('c')
const kept = [a, b, await sa.join(gone.id), c].filter(r => r.patch)
const landing = await land(kept)
return [a.output, b.output, c.output, sa.status(gone.id).status, landing.landed, landing.reason]`,
	"talk": `const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
const [one, two] = await parallel([
  () => agent('number', { agent: 'rounds', schema }), () => agent('other', { agent: 'rounds', schema })])
const h = await sa.run({ prompt: 'listen', agent: 'hears' })
while (sa.status(h.id).status === 'running' && !(await sa.send(h.id, 'the word')).delivered) await check('there')
return [one, two, (await sa.join(h.id)).output]`,
}

// scriptFixture is a fixture whose agents carry out their prompts.
func scriptFixture(t *testing.T) *fixture {
	t.Helper()
	y := newFixture(t)
	y.env = append(y.env, "WORK="+y.dir, "SIGNALS="+y.path())
	mark := fmt.Sprintf("%q", "mark:"+y.dir)
	y.write("home/.config/swarm/config.toml", `run.default_agent = "worker"
[agents.worker]
command = ["fakeagent", "obey", `+mark+`]
[agents.rounds]
format = "jsonl"
command = ["sh", "-c", '''cat > said; if grep -q 'number of rounds' said || test -e asked; then echo "{\"type\":\"result\",\"structured\":{\"n\":3}}"
else touch asked; echo "{\"type\":\"result\",\"structured\":{\"n\":\"x\"}}"; fi''', `+mark+`]
[agents.hears]
input = "jsonl"
format = "jsonl"
command = ["sh", "-c", '''echo "{\"type\":\"session\",\"protocol\":1,\"id\":\"s\",\"can\":[\"steer\"]}"
while read -r line; do case $line in *steer*) echo "{\"type\":\"result\",\"text\":\"heard\"}"; esac; done''', `+mark+`]
[checks]
there = "test -e pkg/p0/f.txt"
never = "exit 7"
`)
	y.write("sub.js", `export const meta = { name: 'sub', description: 'x' }
const r = await parallel([1, 2].map(i => () => agent('! print:sub ' + i)))
return r.slice(0, args.n)`)
	for name, text := range killScripts {
		y.write(name+".js", text)
	}
	return y
}

// TestScriptKills kills swarm at steps of runs with scripts that a seed picks.
// After each kill the next command puts the run in order. In the end a resume
// returns the value of an undisturbed run. No agent that had completed or that
// the script had cancelled was started again. A single landing happened.
func TestScriptKills(t *testing.T) {
	t.Parallel()
	seed := campaign.Seed(t)
	names := slices.Sorted(maps.Keys(killScripts))
	wants := map[string]scriptEnd{}
	for _, name := range names {
		k := &scriptKilling{fixture: scriptFixture(t), script: name}
		wants[name] = k.end(k.answered(nil, k.runArgs()...))
	}
	for lane, backend := range []worktree.Backend{worktree.Linked, worktree.Overlay} {
		t.Run(string(backend), func(t *testing.T) {
			t.Parallel()
			kills := int64(0)
			runs := campaign.Rounds(t, (len(names)+3)/4, 4*len(names))
			for n := range runs {
				name := names[(n+lane*runs)%len(names)]
				k := &scriptKilling{
					fixture: scriptFixture(t), dice: diceOf(seed, lane, n), script: name,
					name: fmt.Sprintf("seed %d, %s, run %d of %s", seed, backend, n, name),
				}
				k.on(backend)
				kills += k.campaign(wants[name])
				k.must(os.RemoveAll(k.dir))
			}
			t.Logf("%d kills in %d runs", kills, runs)
		})
	}
}

// scriptEnd is the result of a run of a script.
type scriptEnd struct {
	stdout string
	code   int
	tree   string // of the branch it landed on
	landed int    // how often it was moved
}

// scriptKilling is a run of a script and the kills it lives through.
type scriptKilling struct {
	*fixture
	dice   *rand.Rand
	script string
	name   string // how to find it again
}

func (k *scriptKilling) runArgs() []string {
	return []string{"run", filepath.Join(k.dir, k.script+".js"), "--questions", "wait"}
}

// campaign runs, kills and resumes, and returns how often it killed.
func (k *scriptKilling) campaign(want scriptEnd) (kills int64) {
	defer k.describe()
	args := func() []string {
		if k.view() == nil {
			return k.runArgs()
		}
		return []string{"resume"}
	}
	for range 1 + k.dice.IntN(3) {
		if k.killAt(k.step(), args()) {
			kills++
		}
		k.inspect()
		if v := k.view(); v != nil && v.Returned != nil && !v.Ended.IsZero() {
			break
		}
	}
	if got := k.end(k.answered(nil, args()...)); got != want {
		k.failf("in the end it is\n%+v\nwant\n%+v", got, want)
	}
	k.inspect()
	k.startedOnce()
	before := len(k.records())
	if got := k.end(k.answered(nil, "resume")); got != want {
		k.failf("resumed once more it is\n%+v\nwant\n%+v", got, want)
	}
	for _, r := range k.records()[before:] {
		switch r.Event.(type) {
		case *event.Opened, *event.Scripted, *event.Returned, *event.Closed, *event.Retried:
		case *event.Called, *event.Leased, *event.Entered, *event.Intended:
			if k.script != "handles" { // in handles, a resume tries failed agents again
				k.failf("a resume of what completed journals %s", event.Kind(r.Event))
			}
		}
	}
	k.startedOnce()
	k.tidy()
	return kills
}

// step names the step at which swarm is killed: one of its first steps, a step
// around the first record of a kind, or a step of a landing.
func (k *scriptKilling) step() string {
	kinds := []string{
		"opened", "scripted", "called", "leased", "started", "ended", "captured", "checked", "settled", "released",
		"cancel_asked", "questioned", "replied", "sent", "entered", "intended", "landed", "logged", "phased",
		"returned", "closed",
	}
	switch k.dice.IntN(4) {
	case 0:
		return "before " + kinds[k.dice.IntN(len(kinds))]
	case 1:
		return "after " + kinds[k.dice.IntN(len(kinds))]
	case 2:
		moves := []string{"checked", "published", "journaled", "followed", "swapped", "before intended", "after landed"}
		if k.script == "hands" || k.script == "shared" {
			return moves[k.dice.IntN(len(moves))]
		}
	}
	return strconv.Itoa(1 + k.dice.IntN(220))
}

// killAt kills swarm at a step of a command, and reports whether it came there.
func (k *scriptKilling) killAt(step string, args []string) bool {
	happened := filepath.Join(k.dir, "happened")
	defer os.Remove(happened)
	k.about = fmt.Sprintf("%s: after swarm was killed at step %s of %s: ", k.name, step, args[0])
	s := k.answered([]string{fmt.Sprintf("%s=kill:%s:%s", faultVar, step, happened)}, args...)
	at, err := os.ReadFile(happened)
	if err != nil {
		return false
	}
	k.about += strings.TrimSpace(string(at)) + ": "
	k.t.Log(k.about)
	if s.code != 128+int(syscall.SIGKILL) {
		k.failf("it ended with %d: %s", s.code, s.stderr)
	}
	return true
}

// answered runs a command while somebody answers its script's questions.
func (k *scriptKilling) answered(more []string, args ...string) (s said) {
	over := make(chan struct{})
	var person sync.WaitGroup
	if k.script == "handles" {
		person.Go(func() {
			for {
				select {
				case <-over:
					return
				case <-time.After(10 * time.Millisecond): // a poll for another process
				}
				v := k.view()
				if v == nil || v.Status != store.RunRunning {
					continue
				}
				for _, q := range v.Waiting() {
					if strings.Contains(string(q.Action), "go on?") {
						_ = k.command(nil, "answer", q.ID, "yes").Run() // it may be answered, or swarm dead
					}
				}
			}
		})
	}
	s = k.swarm(more, args...)
	close(over)
	person.Wait()
	return s
}

// end is the result of a command that ended undisturbed.
func (k *scriptKilling) end(s said) scriptEnd {
	k.t.Helper()
	if s.code != 0 && s.code != 3 {
		k.failf("it ended with %d: %s%s", s.code, s.stdout, s.stderr)
	}
	e := scriptEnd{stdout: s.stdout, code: s.code, tree: k.git("rev-parse", "main^{tree}")}
	for _, l := range k.view().Landings {
		if l.Stands() {
			e.landed++
		}
	}
	return e
}

// inspect has gc recover the run, and checks the state that a kill must not
// harm.
func (k *scriptKilling) inspect() {
	k.t.Helper()
	if s := k.swarm(nil, "gc"); s.code != 0 {
		k.failf("gc ended with %d: %s%s", s.code, s.stdout, s.stderr)
	}
	s := k.swarm(nil, "ls", "--json")
	if s.code != 0 || strings.Contains(s.stdout, "damaged") {
		k.failf("ls ended with %d: %s%s", s.code, s.stdout, s.stderr)
	}
	if alive := aliveIn(k.dir); len(alive) > 0 {
		k.failf("still alive: %q", alive)
	}
	if branch := k.git("symbolic-ref", "HEAD"); branch != "refs/heads/main" {
		k.failf("the checkout is on %s", branch)
	}
	if changed := k.git("status", "--porcelain", "-uall"); changed != "" {
		k.failf("the checkout is not that of its branch:\n%s", changed)
	}
}

// startedFor tells of a process in /proc whether it was started for a folder: it
// is in its environment, or the process is in it.
func startedFor(proc, dir string) bool {
	env, _ := os.ReadFile(filepath.Join(proc, "environ"))
	cwd, _ := os.Readlink(filepath.Join(proc, "cwd"))
	return bytes.Contains(env, []byte("="+dir)) || strings.HasPrefix(cwd+"/", dir+"/")
}

// aliveIn are the processes that were started for a folder.
func aliveIn(dir string) []string {
	for deadline := time.Now().Add(never); ; {
		var alive []string
		procs, _ := filepath.Glob("/proc/[0-9]*")
		for _, proc := range procs {
			if startedFor(proc, dir) {
				line, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
				alive = append(alive, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
			}
		}
		if len(alive) == 0 || time.Now().After(deadline) {
			return alive
		}
		time.Sleep(5 * time.Millisecond) // a poll: the kernel tells nobody
	}
}

// startedOnce checks that no agent began again that had completed or that the
// script had cancelled.
func (k *scriptKilling) startedOnce() {
	k.t.Helper()
	runs := k.runs()
	id, err := runs[0].Identity()
	k.must(err)
	v := store.Fold(id, nil)
	for _, r := range k.records() {
		if s, ok := r.Event.(*event.Started); ok && v.Agent(s.Agent) != nil {
			a := v.Agent(s.Agent)
			_, completed := a.Status.(*task.Completed)
			_, cancelled := a.Status.(*task.Cancelled)
			if completed || cancelled && a.Cancel != nil && a.Cancel.Script {
				k.failf("%s was %s, and began again at record %d", a.ID, task.Word(a.Status), r.N)
			}
		}
		v.Apply(r)
	}
}

// describe tells how far a run that failed the test had come.
func (k *scriptKilling) describe() {
	if !k.t.Failed() {
		return
	}
	for _, run := range k.runs() {
		text, _ := os.ReadFile(run.Journal())
		k.t.Logf("%s\n%s", run.Dir, text)
	}
}
