// Functions of later editions of the language, and structuredClone.
(parts) => {
  'use strict';

  // classOf tells what the engine knows an object to be, whatever it claims.
  const { classOf } = parts;
  const define = (on, name, value) => {
    Object.defineProperty(on, name, { value, writable: true, enumerable: false, configurable: true });
  };

  function withResolvers() {
    let resolve;
    let reject;
    const promise = new this((yes, no) => {
      resolve = yes;
      reject = no;
    });
    return { promise, resolve, reject };
  }

  const grouped = (items, choose) => {
    if (typeof choose !== 'function') throw new TypeError(String(choose) + ' is not a function');
    const groups = new Map();
    let i = 0;
    for (const item of items) {
      const key = choose(item, i);
      i += 1;
      const group = groups.get(key);
      if (group) group.push(item);
      else groups.set(key, [item]);
    }
    return groups;
  };

  const groupMap = { groupBy(items, choose) {
    return grouped(items, choose);
  } }.groupBy;

  const groupObject = { groupBy(items, choose) {
    const groups = Object.create(null);
    const named = grouped(items, (item, i) => {
      const key = choose(item, i);
      return typeof key === 'symbol' ? key : String(key);
    });
    for (const [key, group] of named) groups[key] = group;
    return groups;
  } }.groupBy;

  async function fromAsync(items, map) {
    const out = [];
    if (items === null || items === undefined) throw new TypeError('Array.fromAsync wants something to go over');
    const steps = Symbol.asyncIterator !== undefined ? items[Symbol.asyncIterator] : undefined;
    if (typeof steps === 'function') {
      const it = steps.call(items);
      for (let r = await it.next(); !r.done; r = await it.next()) {
        out.push(map ? await map(r.value, out.length) : r.value);
      }
      return out;
    }
    for (const item of typeof items[Symbol.iterator] === 'function' ? items : Array.from(items)) {
      const value = await item;
      out.push(map ? await map(value, out.length) : value);
    }
    return out;
  }

  const { getTime } = Date.prototype;
  const { forEach: eachEntry, set: put } = Map.prototype;
  const { forEach: eachMember, add } = Set.prototype;
  const errors = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];

  const is = (method, ...given) => (value) => {
    try {
      method.call(value, ...given);
      return true;
    } catch {
      return false;
    }
  };
  const isMap = is(Map.prototype.has);
  const isSet = is(Set.prototype.has);
  const isWeak = [is(WeakMap.prototype.has), is(WeakSet.prototype.has)];
  const kindOf = (value) => {
    if (typeof value === 'function') return 'Function';
    if (isMap(value)) return 'Map';
    if (isSet(value)) return 'Set';
    if (value instanceof Promise) return 'Promise';
    if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return 'Bytes';
    return isWeak.some((f) => f(value)) ? 'Weak' : classOf(value);
  };

  const refuseClone = (what) => {
    const e = new Error(what + ' cannot be cloned');
    define(e, 'name', 'DataCloneError');
    throw e;
  };

  const cloneError = (value) => {
    const known = errors.find((c) => c.name === value.name) || Error;
    const copy = new known(String(value.message));
    define(copy, 'stack', value.stack);
    if ('cause' in value) define(copy, 'cause', value.cause);
    return copy;
  };

  // empty is a copy of an object without what it holds; members tells how that
  // comes into the copy.
  const empty = (value, kind) => {
    switch (kind) {
      case 'Function': return refuseClone('a function');
      case 'Promise': return refuseClone('a promise (an await is missing)');
      case 'Weak': return refuseClone('a weak collection');
      case 'Bytes': return value instanceof DataView ? refuseClone('a DataView') : value.slice(0);
      case 'Array': return new Array(value.length);
      case 'Date': return new Date(getTime.call(value));
      case 'RegExp': return new RegExp(value.source, value.flags);
      case 'Map': return new Map();
      case 'Set': return new Set();
      case 'Error': return cloneError(value);
      case 'Number': case 'String': case 'Boolean': return Object(value.valueOf());
      default: return {};
    }
  };

  const clone = (value, seen) => {
    if (typeof value === 'symbol') return refuseClone('a symbol');
    if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return value;
    if (seen.has(value)) return seen.get(value);
    const kind = kindOf(value);
    const copy = empty(value, kind);
    seen.set(value, copy);
    if (kind === 'Map') {
      eachEntry.call(value, (v, k) => put.call(copy, clone(k, seen), clone(v, seen)));
    } else if (kind === 'Set') {
      eachMember.call(value, (v) => add.call(copy, clone(v, seen)));
    } else if (kind === 'Array' || kind === 'Object') {
      for (const key of Object.keys(value)) {
        Object.defineProperty(copy, key, {
          value: clone(value[key], seen), writable: true, enumerable: true, configurable: true,
        });
      }
    }
    return copy;
  };

  function structuredClone(value) {
    if (arguments.length === 0) throw new TypeError('structuredClone wants a value');
    return clone(value, new Map());
  }

  return {
    'Promise.withResolvers': withResolvers,
    'Map.groupBy': groupMap,
    'Object.groupBy': groupObject,
    'Array.fromAsync': fromAsync,
    structuredClone,
  };
}
