// The strategy of stages, as one function of what it is built on: the API, what
// strategies share, and `parts`, what each stage is told. `review` makes the
// prompt of a reviewer, which is short whatever it is made of.
(ground) => {
  'use strict';

  const { api, parts, review, options, agentOptions, meant, refusal, isTable, whole, text, table } = ground;

  const roster = parts.map((p) => p.name);

  const stageForm = {
    rounds: whole(0, 99),
    planner: table, implementer: table, reviewer: table,
  };

  // addressed cuts the lines out of a task that are for one stage. What is
  // quoted between fences is for all.
  const addressed = (task) => {
    const own = Object.fromEntries(roster.map((name) => [name, []]));
    const [rest, doubts] = [[], []];
    let fence = '';
    for (const line of task.split(/\r\n|[\n\r]/)) {
      const edge = /^ {0,3}(```+|~~~+)/.exec(line);
      if (edge && fence === '') fence = edge[1];
      else if (edge && edge[1].startsWith(fence) && line.trim() === edge[1]) fence = '';
      const m = edge || fence !== '' ? null : /^([A-Za-z]+):(.*)$/.exec(line);
      const name = m ? m[1].toLowerCase() : '';
      const said = m ? m[2].trim() : '';
      if (roster.includes(name) && said !== '') {
        own[name].push(said);
        continue;
      }
      if (roster.includes(name)) doubts.push(`nothing follows "${m[1]}:"`);
      else if (m && meant(name, roster)) doubts.push(`"${m[1]}:" is no stage; did you mean "${meant(name, roster)}:"?`);
      rest.push(line);
    }
    return { own, doubts, shared: rest.join('\n').trim() };
  };

  // besides is what the user said to one stage only.
  const besides = (lines) => (lines.length ? `\n\nFor you alone:\n${lines.map((l) => `- ${l}`).join('\n')}` : '');

  // followed is the plan as the implementer is told it.
  const followed = (plan) => (plan === '' ? '' : `\n\nThe plan:\n${plan}`);

  const problemLines = (problems) => problems.map((p) => (p.path ? `${p.path}: ${p.problem}` : p.problem));

  // staged starts one stage and hands back its result, whatever it is. A stage
  // that only looks has tools that read where its agent can be told so, and
  // what it changes is no work of the run.
  const staged = async (name, prompt, o, extra) => {
    const { reads, role, words } = parts.find((p) => p.name === name);
    const { label, brief, ...more } = extra;
    const given = agentOptions({ ...o, ...options(`stages: ${name}`, o[name], {}, true) }, label ?? name, undefined);
    if (extra.fork === undefined && role !== undefined) given.role ??= role;
    if (extra.fork !== undefined) {
      // What its conversation began with it goes on with.
      for (const key of ['role', 'agentType', 'model', 'effort']) delete given[key];
    }
    given.phase ??= name;
    const stage = { name, roster, words, reads };
    if (brief) stage.brief = brief;
    return api.agent(prompt, { ...given, ...more, full: true, stage });
  };

  // mend asks for what is wrong to be put right: in the conversation that the
  // work was done in where that can be gone on with, else in a new one.
  const mend = async (work, wrong, how) => {
    const list = `What was found wrong with the work, which lies in your workspace:\n${wrong.map((l) => `- ${l}`).join('\n')}`
      + '\n\nMend it and change nothing else.';
    const label = `implementer ${how.round + 1}`;
    const from = how.base === undefined ? { label } : { label, base: how.base };
    if (work.forkable) return staged('implementer', list, how.o, { ...from, fork: work });
    return staged('implementer', `${how.order}\n\n${list}`, how.o, from);
  };

  // failing are the checks of the harness that the work did not pass.
  const failing = (evidence) => evidence.steps.filter((s) => !s.ok)
    .map((s) => `${s.name} failed with exit status ${s.code}: ${s.command}${s.tail ? `\n${s.tail}` : ''}`);

  // judged is the verdict on a work. Where a check says that it is wrong,
  // nobody is paid to say so too.
  const judged = async (evidence, how) => {
    const wrong = failing(evidence);
    if (wrong.length) return { pass: false, wrong };
    const { prompt, brief, schema } = review({
      task: how.shared, plan: how.plan, own: how.own.reviewer,
      change: evidence.text, paths: evidence.files.map((f) => f.path),
    });
    const more = { label: how.round ? `reviewer ${how.round + 1}` : 'reviewer', schema, brief };
    if (how.base !== undefined) more.base = how.base;
    const answer = await staged('reviewer', prompt, how.o, more);
    const v = answer.structured;
    if (!isTable(v)) return { pass: null, wrong: [], by: answer.id };
    const found = problemLines(v.problems);
    return { pass: v.pass === true && found.length === 0, wrong: found.length || v.pass ? found : ['the reviewer did not say why'], by: answer.id };
  };

  // rounds does the work and has it looked at until it passes or may not go
  // back any more. What is known stands in `known`, also where a call is
  // refused in between.
  const rounds = async (known, how) => {
    let since;
    for (let n = 0; n <= how.max; n++) {
      how.round = n;
      const next = n === 0
        ? await staged('implementer', how.order, how.o, how.base === undefined ? {} : { base: how.base })
        : await mend(known.works.at(-1), known.verdict.wrong, how);
      if (next.status !== 'completed') {
        known.failed = 'implementer';
        return;
      }
      known.works.push(next);
      // What was found wrong is as it was: nobody is paid to find it again.
      if (n > 0 && !next.patch) return;
      if (next.patch) [since, how.base] = [since ?? next.patch.base, next.patch.id];
      const before = known.verdict.wrong;
      known.verdict = { pass: null, wrong: [...before, 'its reviewer did not answer'] };
      const evidence = await api.sa.evidence(next, since === undefined ? {} : { since });
      const verdict = await judged(evidence, how);
      if (verdict.pass === null) {
        known.verdict.by = verdict.by;
        known.failed = 'reviewer';
        return;
      }
      known.verdict = verdict;
      if (verdict.pass) return;
    }
  };

  // mark keeps the verdict with the works. Work that nobody has looked at has
  // not passed.
  const mark = ({ works, verdict }) => {
    const changed = works.filter((w) => w.patch);
    const marked = changed.length ? changed : works;
    if (marked.length === 0) return;
    const problems = verdict.wrong.length ? verdict.wrong : undefined;
    api.sa.appraise(marked, { pass: verdict.pass === true, problems, by: verdict.by });
  };

  const stages = async (task, given) => {
    const o = options('stages', given, stageForm, true);
    if (o.fork !== undefined) throw refusal('std.stages: each stage has a conversation of its own; drop fork');
    if (o.isolation === 'shared') throw refusal('std.stages: each stage has a workspace of its own; drop isolation');
    if (!text.fits(task)) throw refusal('std.stages: the task must be a text that is not empty');
    for (const name of roster) options(`stages: ${name}`, o[name], {}, true);
    const { own, doubts, shared } = addressed(task);
    if (shared === '') throw refusal('std.stages: nothing of the task is left for all stages');
    for (const doubt of doubts) api.log(`stages: ${doubt} All stages are told that line.`);
    const planned = await staged('planner', `Plan how to do this task. Answer with the plan.\n\nThe task:\n${shared}${besides(own.planner)}`, o, {});
    if (planned.status !== 'completed') return { pass: null, failed: 'planner', rounds: 0, problems: [] };
    const plan = (planned.output ?? '').trim();
    if (plan === '') api.log('stages: the planner answered nothing; the implementer goes by the task alone.');
    const how = { o, own, shared, plan, base: o.base, max: o.rounds ?? 2 };
    how.order = `Carry out this task${plan === '' ? '' : ' by the plan below'}.\n\nThe task:\n${shared}${followed(plan)}${besides(own.implementer)}`;
    const known = { works: [], verdict: { pass: null, wrong: [] } };
    try {
      await rounds(known, how);
    } finally {
      mark(known);
    }
    const { works, verdict } = known;
    const out = { pass: verdict.pass, rounds: Math.max(0, works.length - 1), problems: verdict.wrong, plan };
    if (works.length) out.answer = works.at(-1).output;
    if (known.failed) out.failed = known.failed;
    out.patches = works.filter((w) => w.patch).map((w) => w.patch.id);
    return out;
  };
  stages.worst = (given) => 2 * (options('stages.worst', given, stageForm, true).rounds ?? 2) + 3;

  return stages;
}
