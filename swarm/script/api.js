// The combinators, as one function of the helpers that they are built on. They
// use the syntax of the language alone, so that nothing a script does to
// Promise, Array or Object reaches them.
(go) => {
  'use strict';

  // parallel waits for all of its jobs. Lanes take the jobs one after the
  // other, in order; without a limit there is a lane for each.
  async function parallel(thunks, options) {
    const { jobs, keys, width } = go.plan('parallel', thunks, options);
    const out = go.slots(jobs.length);
    let next = 0;
    let stopped = false;
    let cause;
    const lane = async () => {
      while (next < jobs.length && !stopped) {
        const i = next;
        next += 1;
        const job = jobs[i];
        try {
          out[i] = await (typeof job === 'function' ? job() : job);
        } catch (e) {
          if (!stopped && go.isFatal(e)) {
            stopped = true;
            cause = e;
            go.noteThrown(e, 'parallel', keys === null ? i : keys[i]);
          } else {
            go.note(e, 'parallel', keys === null ? i : keys[i]);
          }
        }
      }
    };
    const lanes = go.slots(width);
    for (let i = 0; i < width; i += 1) lanes[i] = lane();
    for (let i = 0; i < width; i += 1) await lanes[i];
    if (stopped) throw cause;
    return keys === null ? out : go.keyed(keys, out);
  }

  // pipeline sends each item through the stages on its own. An item that is null,
  // or becomes null in a stage, skips the stages after that: they would have no
  // value to work on. undefined goes on, as in Claude Code.
  async function pipeline(list, ...rest) {
    const { items, steps } = go.stages(list, rest);
    const out = go.slots(items.length);
    let stopped = false;
    let cause;
    const follow = async (i) => {
      try {
        let value = await items[i];
        for (let s = 0; s < steps.length && value !== null; s += 1) {
          if (stopped) return;
          const step = steps[s];
          value = await step(value, items[i], i);
        }
        out[i] = value;
      } catch (e) {
        if (!stopped && go.isFatal(e)) {
          stopped = true;
          cause = e;
          go.noteThrown(e, 'pipeline', i);
        } else {
          go.note(e, 'pipeline', i);
        }
      }
    };
    const ways = go.slots(items.length);
    for (let i = 0; i < items.length; i += 1) ways[i] = follow(i);
    for (let i = 0; i < items.length; i += 1) await ways[i];
    if (stopped) throw cause;
    return out;
  }

  // race takes the first n results that are acceptable and ends every branch
  // that did not win, with all that it started.
  async function race(thunks, options) {
    const { jobs, keys, accept, n } = go.plan('race', thunks, options);
    const winners = go.slots(0);
    const won = go.slots(jobs.length);
    const branches = go.slots(jobs.length);
    let left = jobs.length;
    let over = false;
    let failed = false;
    let cause;
    let finish;
    const finished = new go.Promise((resolve) => {
      finish = resolve;
    });
    const stop = () => {
      over = true;
      finish();
    };
    const run = async (i) => {
      try {
        const value = await go.within(branches[i], jobs[i]);
        if (!over) {
          const fine = accept === undefined ? go.good(value) : await accept(value);
          if (fine && !over) {
            won[i] = true;
            go.push(winners, value);
            if (winners.length === n) stop();
          }
        }
      } catch (e) {
        if (!over) {
          if (go.isFatal(e)) {
            failed = true;
            cause = e;
            go.noteThrown(e, 'race', keys === null ? i : keys[i]);
            stop();
          } else {
            go.noteBranch(e, 'race', keys === null ? i : keys[i]);
          }
        }
      }
      left -= 1;
      if (left === 0) stop();
    };
    for (let i = 0; i < jobs.length; i += 1) branches[i] = go.branch();
    for (let i = 0; i < jobs.length && !over; i += 1) run(i);
    if (jobs.length === 0) stop();
    await finished;
    const ends = go.slots(jobs.length);
    if (!failed) go.choose(branches, won);
    for (let i = 0; i < jobs.length; i += 1) {
      if (won[i] !== true) ends[i] = go.lose(branches[i]);
    }
    for (let i = 0; i < jobs.length; i += 1) await ends[i];
    if (failed) throw cause;
    if (winners.length < n) go.nobody(jobs.length, winners.length, n);
    if (n > 1) return winners;
    return winners.length === 1 ? winners[0] : null;
  }

  return { parallel, pipeline, race };
}
