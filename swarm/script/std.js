// The strategies of `std`, as one function of the API that they are built on.
// They use nothing that a script could not use itself. Each says by `worst`
// how many agents it starts at most, so that its cost is known before it runs.
(api, staging, parts, review) => {
  'use strict';

  // What a strategy hands on to the agents it starts. `schema` is its own
  // affair, `full` would change what it reads, and one `id` cannot be that of
  // several agents.
  const handed = [
    'label', 'phase', 'model', 'role', 'effort', 'maxThinkingTokens', 'agent', 'agentType',
    'isolation', 'base', 'tools', 'readOnly', 'paths', 'allow', 'limits',
    'stopWhen', 'onTool', 'retries', 'fork', 'cache',
  ];

  const refusal = (message) => Object.assign(new TypeError(message), { code: 'option' });

  const isTable = (v) => v !== null && typeof v === 'object' && !Array.isArray(v);

  const whole = (least, most) => ({
    what: `a whole number from ${least} to ${most}`,
    fits: (v) => Number.isInteger(v) && v >= least && v <= most,
  });
  const share = {
    what: 'a number above 0 and up to 1',
    fits: (v) => typeof v === 'number' && v > 0 && v <= 1,
  };
  const text = { what: 'a text that is not empty', fits: (v) => typeof v === 'string' && v.trim() !== '' };
  const table = { what: 'an object', fits: isTable };
  const callable = { what: 'a function', fits: (v) => typeof v === 'function' };
  const texts = {
    what: 'a text or a list of texts',
    fits: (v) => text.fits(v) || (Array.isArray(v) && v.length > 0 && v.every(text.fits)),
  };
  const keyed = {
    what: 'a function or the name of a property',
    fits: (v) => callable.fits(v) || text.fits(v),
  };

  // slips counts the letters to insert, drop or replace between two words.
  const slips = (a, b) => {
    let row = Array.from({ length: b.length + 1 }, (_, j) => j);
    for (let i = 1; i <= a.length; i++) {
      const next = [i];
      for (let j = 1; j <= b.length; j++) {
        const same = a[i - 1].toLowerCase() === b[j - 1].toLowerCase() ? 0 : 1;
        next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + same);
      }
      row = next;
    }
    return row[b.length];
  };

  const meant = (word, known) => {
    let best = '';
    let least = 2 + Math.floor(word.length / 4);
    for (const k of known) {
      const n = slips(word, k);
      if (n < least && n < k.length) [best, least] = [k, n];
    }
    return best;
  };

  // options checks what a strategy was given against its form, a table of
  // {what, fits}, and hands back a copy. Keys that
  // are undefined or null were not given.
  const options = (name, given, form, agents) => {
    given ??= {};
    if (!isTable(given)) throw refusal(`std.${name}: options must be an object`);
    const known = [...Object.keys(form), ...(agents ? handed : [])];
    const out = {};
    for (const key of Object.keys(given)) {
      if (given[key] === undefined || given[key] === null) continue;
      if (!known.includes(key)) {
        const near = meant(key, known);
        const hint = near ? `; did you mean "${near}"?` : `; there are ${known.join(', ')}`;
        throw refusal(`std.${name}: unknown option "${key}"${hint}`);
      }
      const rule = form[key];
      if (rule && !rule.fits(given[key])) throw refusal(`std.${name}: ${key} must be ${rule.what}`);
      out[key] = given[key];
    }
    return out;
  };

  const agentOptions = (o, label, schema) => {
    const out = {};
    for (const key of handed) if (o[key] !== undefined) out[key] = o[key];
    out.label = o.label === undefined ? label : `${o.label} ${label}`;
    if (schema !== undefined) out.schema = schema;
    return out;
  };

  // show is a value as an agent reads it, whole.
  const show = (name, what, value) => {
    const shown = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
    if (typeof shown !== 'string' || shown.trim() === '') {
      throw refusal(`std.${name}: ${what} must be a text or a JSON value that is not empty`);
    }
    return shown;
  };

  // fatal tells errors that say something of the run or of the script from
  // those that say something of one agent. Another try would end like it.
  const fatal = (e) => {
    if (!(e instanceof Error)) return false;
    if (e.code !== undefined && e.code !== 'schema' && e.code !== 'timeout') return true;
    return e instanceof TypeError || e instanceof ReferenceError;
  };

  // carrying puts what is known so far on an error, for whoever catches it.
  const carrying = (e, known) => {
    const error = e instanceof Error && Object.isExtensible(e) ? e : Object.assign(new Error(String(e)), { cause: e });
    return Object.assign(error, known);
  };

  const verifyForm = {
    voters: whole(1, 99), threshold: share, quorum: whole(1, 99), prompt: text,
    schema: {
      what: 'a JSON Schema of an object with the property refuted',
      fits: (v) => isTable(v) && isTable(v.properties) && isTable(v.properties.refuted),
    },
  };

  const voteSchema = {
    type: 'object',
    properties: {
      refuted: { type: 'boolean', description: 'true if the claim does not hold' },
      reason: { type: 'string', description: 'what shows it' },
    },
    required: ['refuted', 'reason'],
    additionalProperties: false,
  };

  const verify = async (claim, given) => {
    const o = options('verify', given, verifyForm, true);
    const voters = o.voters ?? 3;
    const threshold = o.threshold ?? 0.5;
    const quorum = o.quorum ?? Math.floor(voters / 2) + 1;
    if (quorum > voters) throw refusal(`std.verify: quorum ${quorum} is more than the ${voters} voters`);
    const shown = show('verify', 'the claim', claim);
    const instructions = o.prompt ?? 'Try to refute the claim below. Look for evidence against it yourself '
      + 'and believe nothing because it is said. Where you find no evidence that it holds, it is refuted.';
    const votes = await api.parallel(Array.from({ length: voters }, (_, i) => () => api.agent(
      `${instructions}\n\nYou are reviewer ${i + 1} of ${voters}; you do not see the others.\n\nClaim:\n${shown}`,
      agentOptions(o, `verify ${i + 1}/${voters}`, o.schema ?? voteSchema),
    )));
    const living = votes.filter((v) => isTable(v) && typeof v.refuted === 'boolean');
    const refuted = living.filter((v) => v.refuted).length;
    let verdict = 'unknown';
    if (living.length >= quorum) verdict = refuted / living.length >= threshold ? 'refuted' : 'held';
    return {
      verdict, held: verdict === 'held', refuted, upheld: living.length - refuted,
      missing: voters - living.length, voters, quorum, threshold, votes,
    };
  };
  verify.worst = (given) => options('verify.worst', given, verifyForm, true).voters ?? 3;

  const judgeForm = { judges: whole(1, 99), criteria: texts, prompt: text };

  const scoreSchema = (n) => ({
    type: 'object',
    properties: {
      scores: {
        type: 'array', minItems: n, maxItems: n,
        items: {
          type: 'object',
          properties: {
            candidate: { type: 'integer', minimum: 1, maximum: n },
            score: { type: 'number', minimum: 0, maximum: 10 },
            reason: { type: 'string' },
          },
          required: ['candidate', 'score', 'reason'],
          additionalProperties: false,
        },
      },
    },
    required: ['scores'],
    additionalProperties: false,
  });

  // sheet puts the scores of one judge in the order of the candidates, or is
  // null where a candidate has none or two.
  const sheet = (answer, order) => {
    if (!isTable(answer) || !Array.isArray(answer.scores)) return null;
    const out = order.map(() => null);
    for (const s of answer.scores) {
      const index = isTable(s) ? order[s.candidate - 1] : undefined;
      if (index === undefined || out[index] !== null || typeof s.score !== 'number') return null;
      out[index] = { score: s.score, reason: s.reason };
    }
    return out.includes(null) ? null : out;
  };

  const judge = async (candidates, given) => {
    const o = options('judge', given, judgeForm, true);
    if (!Array.isArray(candidates) || candidates.length < 2) {
      throw refusal('std.judge: candidates must be a list of two or more');
    }
    if (o.criteria === undefined) throw refusal('std.judge: criteria are missing: say what is judged');
    const judges = o.judges ?? 3;
    const criteria = [].concat(o.criteria);
    const shown = candidates.map((c, i) => show('judge', `candidate ${i + 1}`, c));
    const n = shown.length;
    const instructions = o.prompt ?? 'Score every candidate below from 0 (useless) to 10 (could not be better).';
    // Each judge begins at another candidate: who is first or last is liked
    // better, and that must not add up.
    const orders = Array.from({ length: judges }, (_, j) => shown.map((_, p) => (p + j) % n));
    const answers = await api.parallel(orders.map((order, j) => () => api.agent(
      `${instructions}\n\nCriteria:\n${criteria.map((c) => `- ${c}`).join('\n')}\n\n`
      + order.map((index, p) => `Candidate ${p + 1}:\n${shown[index]}`).join('\n\n'),
      agentOptions(o, `judge ${j + 1}/${judges}`, scoreSchema(n)),
    )));
    const sheets = answers.map((a, j) => sheet(a, orders[j]));
    const living = sheets.filter((s) => s !== null);
    const scores = candidates.map((_, index) => ({
      index,
      mean: living.length ? living.reduce((sum, s) => sum + s[index].score, 0) / living.length : null,
      scores: sheets.map((s) => (s ? s[index].score : null)),
      reasons: sheets.map((s) => (s ? s[index].reason : null)),
    }));
    const ranking = living.length ? scores.map((s) => s.index) : [];
    ranking.sort((a, b) => scores[b].mean - scores[a].mean || a - b);
    return {
      winner: ranking.length ? ranking[0] : null,
      best: ranking.length ? candidates[ranking[0]] : null,
      ranking, scores, judges,
      missing: sheets.flatMap((s, j) => (s ? [] : [j + 1])),
    };
  };
  judge.worst = (given) => options('judge.worst', given, judgeForm, true).judges ?? 3;

  const dryForm = { dry: whole(1, 1000), max: whole(1, 1000), key: keyed, agentsPerRound: whole(0, 4096) };

  // canonical is the same text for equal JSON values, whatever the order of
  // their keys.
  const canonical = (v) => JSON.stringify(v, (_, x) => (isTable(x)
    ? Object.fromEntries(Object.keys(x).sort().map((k) => [k, x[k]])) : x));

  const keyOf = (key) => {
    if (typeof key === 'function') return key;
    return key === undefined ? canonical : (item) => (isTable(item) ? item[key] : undefined);
  };

  const untilDry = async (round, given) => {
    const o = options('untilDry', given, dryForm, false);
    if (typeof round !== 'function') throw refusal('std.untilDry: the round must be a function');
    const [dry, max, key] = [o.dry ?? 2, o.max ?? 50, keyOf(o.key)];
    const [found, known] = [[], new Set()];
    let [rounds, empty, failed] = [0, 0, 0];
    while (rounds < max && empty < dry) {
      rounds++;
      try {
        const items = await round(rounds, found.slice());
        // A round that brought no list failed: it is no sign that there is
        // nothing left.
        if (items === null || items === undefined) {
          failed++;
          continue;
        }
        if (!Array.isArray(items)) throw refusal(`std.untilDry: round ${rounds} must return a list or null`);
        const before = found.length;
        for (const item of items) {
          if (item === null || item === undefined) continue;
          const k = key(item);
          if (k === undefined) throw refusal(`std.untilDry: an item of round ${rounds} has no key`);
          if (known.has(k)) continue;
          known.add(k);
          found.push(item);
        }
        empty = found.length === before ? empty + 1 : 0;
      } catch (e) {
        throw carrying(e, { found, rounds });
      }
    }
    return { found, rounds, dry: empty >= dry, failed };
  };
  untilDry.worst = (given) => {
    const o = options('untilDry.worst', given, dryForm, false);
    if (o.agentsPerRound === undefined) throw refusal('std.untilDry.worst: agentsPerRound is missing');
    return (o.max ?? 50) * o.agentsPerRound;
  };

  const sweepForm = { batch: whole(1, 4096), concurrency: whole(1, 4096) };

  const sweep = async (items, worker, given) => {
    const o = options('sweep', given, sweepForm, false);
    if (!Array.isArray(items)) throw refusal('std.sweep: items must be a list');
    if (typeof worker !== 'function') throw refusal('std.sweep: the worker must be a function');
    const batch = o.batch ?? 1;
    const groups = [];
    for (let i = 0; i < items.length; i += batch) groups.push(items.slice(i, i + batch));
    const results = groups.map(() => null);
    const missed = () => groups.flatMap((group, i) => (results[i] === null ? group : []));
    const thunks = groups.map((group, i) => async () => {
      results[i] = (await worker(group, i)) ?? null;
    });
    try {
      await api.parallel(thunks, { concurrency: o.concurrency });
    } catch (e) {
      throw carrying(e, { results, missed: missed() });
    }
    return { results, missed: missed(), batches: groups.length };
  };
  sweep.worst = (given) => {
    const form = { ...sweepForm, items: whole(0, 1e9), agentsPerBatch: whole(0, 4096) };
    const o = options('sweep.worst', given, form, false);
    if (o.items === undefined) throw refusal('std.sweep.worst: items, how many there are, is missing');
    return Math.ceil(o.items / (o.batch ?? 1)) * (o.agentsPerBatch ?? 1);
  };

  const criticForm = { rounds: whole(1, 99), task: text, prompt: text, schema: table };

  const gapSchema = {
    type: 'object',
    properties: {
      complete: { type: 'boolean', description: 'true if nothing is missing' },
      missing: { type: 'array', items: { type: 'string' }, description: 'each thing that is missing' },
    },
    required: ['complete', 'missing'],
    additionalProperties: false,
  };

  const one = async (prompt, opts) => (await api.parallel([() => api.agent(prompt, opts)]))[0];

  const critic = async (draft, given) => {
    const o = options('critic', given, criticForm, true);
    if (typeof draft !== 'string' && o.schema === undefined) {
      throw refusal('std.critic: a draft that is no text needs the schema of one');
    }
    const task = o.task === undefined ? '' : `\n\nWhat it is to cover:\n${o.task}`;
    const instructions = o.prompt ?? 'Say what is missing in the draft below: what was asked for and is not there, '
      + 'what was claimed and not shown, what was not looked at. Do not judge its style.';
    const max = o.rounds ?? 2;
    for (let n = 1; ; n++) {
      const shown = show('critic', 'the draft', draft);
      const review = await one(`${instructions}${task}\n\nDraft:\n${shown}`, agentOptions(o, `critic ${n}/${max}`, gapSchema));
      if (!isTable(review)) return { draft, complete: null, missing: [], rounds: n };
      const missing = Array.isArray(review.missing) ? review.missing : [];
      const complete = review.complete === true && missing.length === 0;
      if (complete || n === max || missing.length === 0) return { draft, complete, missing, rounds: n };
      const revised = await one(
        `Revise the draft below so that nothing of the list is missing. Answer with the whole revised draft.${task}`
        + `\n\nMissing:\n${missing.map((m) => `- ${m}`).join('\n')}\n\nDraft:\n${shown}`,
        agentOptions(o, `revise ${n}/${max - 1}`, o.schema),
      );
      if (revised === null || revised === '') return { draft, complete: false, missing, rounds: n };
      draft = revised;
    }
  };
  critic.worst = (given) => 2 * (options('critic.worst', given, criticForm, true).rounds ?? 2) - 1;

  const retryForm = { times: whole(1, 1000), accept: callable };

  const retry = async (thunk, given) => {
    const o = options('retry', given, retryForm, false);
    if (typeof thunk !== 'function') throw refusal('std.retry: what is retried must be a function');
    const times = o.times ?? 3;
    const accept = o.accept ?? ((value) => value !== null && value !== undefined);
    let last;
    for (let n = 1; n <= times; n++) {
      try {
        const value = await thunk(n, last);
        if (await accept(value)) return value;
        last = { value };
      } catch (error) {
        if (fatal(error)) throw error;
        last = { error };
      }
    }
    if ('error' in last) throw last.error;
    return null;
  };
  retry.worst = (given) => {
    const o = options('retry.worst', given, { ...retryForm, agentsPerTry: whole(0, 4096) }, false);
    return (o.times ?? 3) * (o.agentsPerTry ?? 1);
  };

  const stages = staging({ api, parts, review, options, agentOptions, meant, refusal, isTable, whole, text, table });

  for (const strategy of [verify, judge, untilDry, sweep, critic, retry, stages]) {
    Object.freeze(strategy.worst);
    Object.freeze(strategy);
  }
  return Object.freeze({ verify, judge, untilDry, sweep, critic, retry, stages });
}
