// The helpers of iterators.
(parts) => {
  'use strict';

  const { iterators } = parts;
  const { create, getPrototypeOf, defineProperty } = Object;
  const generators = getPrototypeOf(function* () {}).prototype;
  const { next: advance, return: finish } = generators;
  const generatorOf = new WeakMap();
  const { get, set, has } = WeakMap.prototype;
  const lookUp = (o, method) => {
    if ((typeof o !== 'object' && typeof o !== 'function') || o === null || !has.call(generatorOf, o)) {
      throw new TypeError('Iterator Helper.prototype.' + method + ' called on another object');
    }
    return get.call(generatorOf, o);
  };

  const objectOf = (value, name) => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) {
      throw new TypeError('Iterator.prototype.' + name + ' called on ' + typeof value);
    }
    return value;
  };
  const close = (iterator) => {
    const f = iterator.return;
    if (f !== undefined && f !== null) objectOf(f.call(iterator), 'return');
  };
  // closing throws an error of the iterator's user, and closes the iterator.
  const closing = (iterator, error) => {
    try {
      close(iterator);
    } catch {
      // the first error counts
    }
    throw error;
  };
  const direct = (value) => ({ iterator: value, next: value.next });
  const step = ({ iterator, next }) => objectOf(next.call(iterator), 'next');
  const callable = (iterator, f) => {
    if (typeof f !== 'function') closing(iterator, new TypeError(String(f) + ' is not a function'));
  };
  const guarded = (record, f) => {
    try {
      return f();
    } catch (e) {
      return closing(record.iterator, e);
    }
  };

  const helpers = create(iterators);
  const method = (on, name, f) => defineProperty(on, name, { value: f, writable: true, enumerable: false, configurable: true });
  method(helpers, 'next', { next() {
    return advance.call(lookUp(this, 'next').generator);
  } }.next);
  method(helpers, 'return', { return() {
    const h = lookUp(this, 'return');
    if (!h.started && !h.done) {
      h.done = true;
      finish.call(h.generator);
      close(h.record.iterator);
      return { value: undefined, done: true };
    }
    return finish.call(h.generator);
  } }.return);
  defineProperty(helpers, Symbol.toStringTag, { value: 'Iterator Helper', writable: false, enumerable: false, configurable: true });

  // helper is a lazy iterator over the values that each gives.
  const helper = (record, each) => {
    const h = { record, started: false, done: false };
    h.generator = (function* () {
      h.started = true;
      let open = true;
      try {
        yield* each(() => {
          open = false;
        });
        open = false;
      } catch (e) {
        open = false;
        throw e;
      } finally {
        if (open) close(record.iterator);
      }
    })();
    const o = create(helpers);
    set.call(generatorOf, o, h);
    return o;
  };

  const count = (iterator, limit) => {
    let n;
    try {
      n = Number(limit);
    } catch (e) {
      closing(iterator, e);
    }
    if (n !== n) closing(iterator, new RangeError(String(limit) + ' is not a number of values'));
    n = Math.trunc(n);
    if (n < 0) closing(iterator, new RangeError(String(limit) + ' must not be negative'));
    return n;
  };

  const iterable = (value, strings) => {
    if (!(typeof value === 'string' && strings)) objectOf(value, 'from');
    const f = value[Symbol.iterator];
    if (f === undefined || f === null) return direct(objectOf(value, 'from'));
    return direct(objectOf(f.call(value), 'from'));
  };

  const { map, filter, take, drop, flatMap, reduce, toArray, forEach, some, every, find } = {
    map(f) {
      callable(objectOf(this, 'map'), f);
      const record = direct(this);
      return helper(record, function* () {
        let i = 0;
        for (let r = step(record); !r.done; r = step(record)) {
          const { value } = r;
          const mapped = guarded(record, () => f(value, i));
          i += 1;
          yield mapped;
        }
      });
    },
    filter(f) {
      callable(objectOf(this, 'filter'), f);
      const record = direct(this);
      return helper(record, function* () {
        let i = 0;
        for (let r = step(record); !r.done; r = step(record)) {
          const { value } = r;
          const wanted = guarded(record, () => f(value, i));
          i += 1;
          if (wanted) yield value;
        }
      });
    },
    take(limit) {
      let left = count(objectOf(this, 'take'), limit);
      const record = direct(this);
      return helper(record, function* (closed) {
        for (;;) {
          if (left === 0) {
            closed();
            close(record.iterator);
            return;
          }
          left -= 1;
          const r = step(record);
          if (r.done) return;
          yield r.value;
        }
      });
    },
    drop(limit) {
      let left = count(objectOf(this, 'drop'), limit);
      const record = direct(this);
      return helper(record, function* () {
        for (let r = step(record); !r.done; r = step(record)) {
          if (left > 0) left -= 1;
          else yield r.value;
        }
      });
    },
    flatMap(f) {
      callable(objectOf(this, 'flatMap'), f);
      const record = direct(this);
      return helper(record, function* () {
        let i = 0;
        for (let r = step(record); !r.done; r = step(record)) {
          const { value } = r;
          const inner = guarded(record, () => iterable(f(value, i), false));
          i += 1;
          let open = true;
          try {
            for (;;) {
              open = false;
              const s = guarded(record, () => {
                const got = step(inner);
                return got.done ? null : { value: got.value };
              });
              if (s === null) break;
              open = true;
              yield s.value;
              open = false;
            }
          } finally {
            if (open) guarded(record, () => close(inner.iterator));
          }
        }
      });
    },
    reduce(f, ...initial) {
      callable(objectOf(this, 'reduce'), f);
      const record = direct(this);
      let i = 0;
      let sum;
      if (initial.length > 0) {
        [sum] = initial;
      } else {
        const r = step(record);
        if (r.done) throw new TypeError('reduce of no values without a first one');
        sum = r.value;
        i = 1;
      }
      for (let r = step(record); !r.done; r = step(record)) {
        const { value } = r;
        const before = sum;
        sum = guarded(record, () => f(before, value, i));
        i += 1;
      }
      return sum;
    },
    toArray() {
      const record = direct(objectOf(this, 'toArray'));
      const out = [];
      for (let r = step(record); !r.done; r = step(record)) out[out.length] = r.value;
      return out;
    },
    forEach(f) {
      callable(objectOf(this, 'forEach'), f);
      const record = direct(this);
      let i = 0;
      for (let r = step(record); !r.done; r = step(record)) {
        const { value } = r;
        guarded(record, () => f(value, i));
        i += 1;
      }
    },
    some(f) {
      callable(objectOf(this, 'some'), f);
      return search(direct(this), f, (found) => found, () => true, false);
    },
    every(f) {
      callable(objectOf(this, 'every'), f);
      return search(direct(this), f, (found) => !found, () => false, true);
    },
    find(f) {
      callable(objectOf(this, 'find'), f);
      return search(direct(this), f, (found) => found, (value) => value, undefined);
    },
  };

  function search(record, f, ends, result, otherwise) {
    let i = 0;
    for (let r = step(record); !r.done; r = step(record)) {
      const { value } = r;
      const found = guarded(record, () => f(value, i));
      i += 1;
      if (ends(found)) {
        close(record.iterator);
        return result(value);
      }
    }
    return otherwise;
  }

  const wrappers = create(iterators);
  const wrapped = new WeakMap();
  method(wrappers, 'next', { next() {
    const { iterator, next } = get.call(wrapped, this);
    return next.call(iterator);
  } }.next);
  method(wrappers, 'return', { return() {
    const { iterator } = get.call(wrapped, this);
    const f = iterator.return;
    return f === undefined ? { value: undefined, done: true } : f.call(iterator);
  } }.return);

  function Iterator() {
    if (new.target === undefined || new.target === Iterator) throw new TypeError('Iterator is abstract: extend it');
  }
  defineProperty(Iterator, 'prototype', { value: iterators, writable: false, enumerable: false, configurable: false });
  method(Iterator, 'from', { from(value) {
    const record = iterable(value, true);
    let proto = record.iterator;
    while (proto !== null && proto !== iterators) proto = getPrototypeOf(proto);
    if (proto === iterators) return record.iterator;
    const o = create(wrappers);
    set.call(wrapped, o, record);
    return o;
  } }.from);
  // An assignment to an iterator gives that a property of its own.
  const own = (key, value) => defineProperty(iterators, key, {
    get() {
      return value;
    },
    set(v) {
      if (this === iterators || (typeof this !== 'object' && typeof this !== 'function')) throw new TypeError('it cannot be changed');
      defineProperty(this, key, { value: v, writable: true, enumerable: true, configurable: true });
    },
    enumerable: false,
    configurable: true,
  });
  own(Symbol.toStringTag, 'Iterator');
  own('constructor', Iterator);

  const all = { map, filter, take, drop, flatMap, reduce, toArray, forEach, some, every, find };
  const out = { Iterator };
  for (const name of Object.keys(all)) out['%Iterator%.' + name] = all[name];
  defineProperty(reduce, 'length', { value: 1, writable: false, enumerable: false, configurable: true });
  return out;
}
