// Functions of ES2024 and ES2025, and one of V8.
() => {
  'use strict';

  const units = (text, f) => {
    let out = '';
    for (const c of text) {
      const at = c.codePointAt(0);
      out += f(c, at, c.length === 1 && at >= 0xd800 && at <= 0xdfff);
    }
    return out;
  };
  const textOf = (value, name) => {
    if (value === null || value === undefined) throw new TypeError('String.prototype.' + name + ' called on ' + value);
    return String(value);
  };
  const hex = (n, width) => n.toString(16).padStart(width, '0');

  const escapes = { '\t': '\\t', '\n': '\\n', '\v': '\\v', '\f': '\\f', '\r': '\\r' };
  const escape = (c, at, alone) => {
    if ('^$\\.*+?()[]{}|/'.includes(c)) return '\\' + c;
    if (c in escapes) return escapes[c];
    if (',-=<>#&!%:;@~\'`"'.includes(c) || c === ' ') return '\\x' + hex(at, 2);
    if (alone || (c.trim() === '' && c !== '')) return at < 256 ? '\\x' + hex(at, 2) : '\\u' + hex(at, 4);
    return c;
  };

  return {
    'Promise.try': { try(f, ...args) {
      return new this((resolve) => resolve(f(...args)));
    } }.try,
    'RegExp.escape': { escape(text) {
      if (typeof text !== 'string') throw new TypeError('RegExp.escape wants a string');
      const first = text.charAt(0);
      if (/^[0-9A-Za-z]/.test(first)) return '\\x' + hex(first.charCodeAt(0), 2) + units(text.slice(1), escape);
      return units(text, escape);
    } }.escape,
    'Error.captureStackTrace': { captureStackTrace(target) {
      const { stack } = new Error();
      const value = Error.prototype.toString.call(target) + stack.slice(stack.indexOf('\n'));
      Object.defineProperty(target, 'stack', { value, writable: true, enumerable: false, configurable: true });
    } }.captureStackTrace,
    'String.prototype.isWellFormed': { isWellFormed() {
      for (const c of textOf(this, 'isWellFormed')) {
        if (c.length === 1 && c >= '\ud800' && c <= '\udfff') return false;
      }
      return true;
    } }.isWellFormed,
    'String.prototype.toWellFormed': { toWellFormed() {
      return units(textOf(this, 'toWellFormed'), (c, at, alone) => (alone ? '\ufffd' : c));
    } }.toWellFormed,
  };
}
