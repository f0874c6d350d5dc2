// The functions that async generators and for await loops call. A generator that
// drives an async one yields an Await for each await of its text, a Delegate for
// each yield*, and the values of its yields, which have been awaited.
() => {
  'use strict';

  const { create, getPrototypeOf, defineProperty } = Object;
  const { apply } = Reflect;
  const Promise0 = Promise;
  const { then } = Promise.prototype;
  const { resolve: resolved } = Promise;
  const { asyncIterator, iterator: syncIterator } = Symbol;
  const generators = getPrototypeOf(function* () {}).prototype;
  const { next: goOn, throw: goThrow, return: goReturn } = generators;

  class Await {
    constructor(value) {
      this.value = value;
    }
  }
  class Delegate {
    constructor(value) {
      this.value = value;
    }
  }

  const isObject = (v) => (typeof v === 'object' && v !== null) || typeof v === 'function';
  const object = (v) => {
    if (!isObject(v)) throw new TypeError('the result of an iterator is not an object');
    return v;
  };
  const isMissing = (v) => v === undefined || v === null;
  const method = (o, key) => {
    const f = o[key];
    if (isMissing(f)) return undefined;
    if (typeof f !== 'function') throw new TypeError(String(key) + ' of an iterator is not a function');
    return f;
  };
  const promiseOf = (v) => apply(resolved, Promise0, [v]);
  // whenDone is an await: ok or fail is called in a job of its own.
  const whenDone = (v, ok, fail) => {
    let p;
    try {
      p = promiseOf(v);
    } catch (e) {
      p = new Promise0((_, no) => no(e));
    }
    apply(then, p, [ok, fail]);
  };
  const capability = () => {
    const c = {};
    c.promise = new Promise0((yes, no) => {
      c.resolve = yes;
      c.reject = no;
    });
    return c;
  };

  // fromSync is the record of an iterator whose values are awaited.
  const fromSync = (iterator) => {
    const { next } = iterator;
    const closed = (e) => {
      try {
        const f = method(iterator, 'return');
        if (f !== undefined) apply(f, iterator, []);
      } catch {
        // the first error counts
      }
      return e;
    };
    const answer = (f, closes) => {
      const c = capability();
      try {
        const r = object(f());
        const done = Boolean(r.done);
        const { value } = r;
        let wrapped;
        try {
          wrapped = promiseOf(value);
        } catch (e) {
          throw !done && closes ? closed(e) : e;
        }
        apply(then, wrapped, [
          (v) => c.resolve({ value: v, done }),
          (e) => c.reject(!done && closes ? closed(e) : e),
        ]);
      } catch (e) {
        c.reject(e);
      }
      return c.promise;
    };
    const made = {
      next: (...v) => answer(() => apply(next, iterator, v), true),
      return: (...v) => {
        const c = capability();
        try {
          const f = method(iterator, 'return');
          if (f !== undefined) return answer(() => apply(f, iterator, v), false);
          c.resolve({ value: v[0], done: true });
        } catch (e) {
          c.reject(e);
        }
        return c.promise;
      },
      throw: (v) => {
        const c = capability();
        try {
          const f = method(iterator, 'throw');
          if (f !== undefined) return answer(() => apply(f, iterator, [v]), true);
          const end = method(iterator, 'return');
          if (end !== undefined) object(apply(end, iterator, []));
          throw new TypeError('the iterator has no throw');
        } catch (e) {
          c.reject(e);
        }
        return c.promise;
      },
    };
    return { iterator: made, next: made.next };
  };

  // recordOf is the async iterator of a value.
  const recordOf = (value) => {
    let f = isMissing(value) ? undefined : method(value, asyncIterator);
    if (f !== undefined) {
      const iterator = object(apply(f, value, []));
      return { iterator, next: iterator.next };
    }
    f = isMissing(value) ? undefined : method(value, syncIterator);
    if (f === undefined) throw new TypeError(String(value) + ' is not async iterable');
    return fromSync(object(apply(f, value, [])));
  };

  // Async generators.
  const states = new WeakMap();
  const { get, set } = WeakMap.prototype;
  const stateOf = (o) => (isObject(o) ? apply(get, states, [o]) : undefined);

  // settle answers the first request of a generator.
  const settle = (g, failed, value, done) => {
    const { resolve, reject } = g.queue.shift();
    if (failed) reject(value);
    else resolve({ value, done });
  };

  // drain answers the requests to a generator that has ended.
  const drain = (g) => {
    g.state = 'ended';
    while (g.queue.length > 0) {
      const { kind, value } = g.queue[0];
      if (kind === 'return') {
        g.state = 'running';
        whenDone(value, (v) => {
          settle(g, false, v, true);
          drain(g);
        }, (e) => {
          settle(g, true, e);
          drain(g);
        });
        return;
      }
      settle(g, kind === 'throw', kind === 'throw' ? value : undefined, true);
    }
  };

  const ways = { next: goOn, throw: goThrow, return: goReturn };

  // take hands the first request to a generator that stands at a yield.
  const take = (g, f) => {
    g.state = 'running';
    const { kind, value } = g.queue[0];
    if (kind !== 'return') f(kind, value);
    else whenDone(value, (v) => f('return', v), (e) => f('throw', e));
  };

  // offered gives a value to whoever asked, and goes on where somebody asks.
  const offered = (g, value, f) => {
    settle(g, false, value, false);
    g.waiting = f;
    g.state = 'waiting';
    if (g.queue.length > 0) take(g, f);
  };

  // run goes on with a generator until it waits or ends.
  const run = (g, kind, value) => {
    let r;
    try {
      r = apply(ways[kind], g.generator, [value]);
    } catch (e) {
      g.state = 'ended';
      settle(g, true, e);
      drain(g);
      return;
    }
    const v = r.value;
    if (r.done) {
      g.state = 'ended';
      settle(g, false, v, true);
      drain(g);
    } else if (v instanceof Await) {
      whenDone(v.value, (x) => run(g, 'next', x), (e) => run(g, 'throw', e));
    } else if (v instanceof Delegate) {
      try {
        const inner = recordOf(v.value);
        delegate(g, inner, 'next', undefined);
      } catch (e) {
        run(g, 'throw', e);
      }
    } else {
      offered(g, v, (k, x) => run(g, k, x));
    }
  };

  // delegate hands a request to the iterator of a yield*.
  const delegate = (g, inner, kind, value) => {
    const throws = (e) => run(g, 'throw', e);
    const { iterator } = inner;
    let answer;
    try {
      const f = kind === 'next' ? inner.next : method(iterator, kind);
      if (f === undefined && kind === 'return') {
        whenDone(value, (v) => run(g, 'return', v), throws);
        return;
      }
      if (f === undefined) {
        const end = method(iterator, 'return');
        const none = () => throws(new TypeError('the iterator of a yield* has no throw'));
        if (end === undefined) none();
        else {
          whenDone(apply(end, iterator, []), (r) => {
            if (isObject(r)) none();
            else throws(new TypeError('the result of an iterator is not an object'));
          }, throws);
        }
        return;
      }
      answer = apply(f, iterator, [value]);
    } catch (e) {
      throws(e);
      return;
    }
    whenDone(answer, (r) => {
      let v;
      let done;
      try {
        done = object(r).done;
        v = r.value;
      } catch (e) {
        throws(e);
        return;
      }
      if (done) run(g, kind === 'return' ? 'return' : 'next', v);
      else offered(g, v, (k, x) => delegate(g, inner, k, x));
    }, throws);
  };

  const asked = (o, kind, value) => {
    const c = capability();
    const g = stateOf(o);
    if (g === undefined) {
      c.reject(new TypeError(kind + ' of an async generator is called on another object'));
      return c.promise;
    }
    if (kind === 'throw' && g.state === 'start') g.state = 'ended';
    g.queue.push({ kind, value, resolve: c.resolve, reject: c.reject });
    if (g.state === 'ended' || (g.state === 'start' && kind === 'return')) {
      drain(g);
    } else if (g.state === 'start') {
      g.state = 'running';
      run(g, 'next', undefined);
    } else if (g.state === 'waiting') {
      take(g, g.waiting);
    }
    return c.promise;
  };

  const hidden = (on, key, value) => defineProperty(on, key, { value, writable: true, enumerable: false, configurable: true });
  const asyncIterators = {};
  hidden(asyncIterators, asyncIterator, { [asyncIterator]() {
    return this;
  } }[asyncIterator]);
  const asyncGenerators = create(asyncIterators);
  hidden(asyncGenerators, 'next', { next(value) {
    return asked(this, 'next', value);
  } }.next);
  hidden(asyncGenerators, 'return', { return(value) {
    return asked(this, 'return', value);
  } }.return);
  hidden(asyncGenerators, 'throw', { throw(value) {
    return asked(this, 'throw', value);
  } }.throw);
  defineProperty(asyncGenerators, Symbol.toStringTag, { value: 'AsyncGenerator', writable: false, enumerable: false, configurable: true });

  // Loops.
  class Loop {
    constructor(record) {
      this.record = record;
      this.open = false; // the body of the loop runs
      this.value = undefined;
      this.close = undefined;
    }

    next() {
      this.open = false;
      return apply(this.record.next, this.record.iterator, []);
    }

    took(r) {
      if (object(r).done) return false;
      this.value = r.value;
      this.open = true;
      return true;
    }

    leaves() {
      if (!this.open) return false;
      this.open = false;
      this.close = method(this.record.iterator, 'return');
      return this.close !== undefined;
    }

    fails() {
      try {
        return this.leaves();
      } catch {
        return false;
      }
    }

    end() {
      return apply(this.close, this.record.iterator, []);
    }

    left(r) {
      object(r);
    }
  }

  return {
    '%await': (value) => new Await(value),
    '%delegate': (value) => new Delegate(value),
    '%generate': (f, self, args, target) => {
      if (target !== undefined) throw new TypeError('an async generator is not a constructor');
      const generator = apply(f, self, args);
      const o = create(asyncGenerators);
      apply(set, states, [o, { generator, state: 'start', queue: [], waiting: undefined }]);
      return o;
    },
    '%open': (value) => new Loop(recordOf(value)),
  };
}
