// URL and URLSearchParams of the WHATWG standard, over a parser in Go.
(parts) => {
  'use strict';

  const { parseURL, changeURL, formDecode } = parts;
  const { toWellFormed } = String.prototype;
  const textOf = (value) => toWellFormed.call(`${value}`);
  const formEncode = (text) => encodeURIComponent(text)
    .replace(/[!'()~]/g, (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase()).replace(/%20/g, '+');

  const need = (given, count, what) => {
    if (given.length < count) throw new TypeError(`${what} wants ${count} argument${count === 1 ? '' : 's'}`);
  };
  const invalid = (text) => Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL', input: text });

  let bind, refill; // methods of URLSearchParams that only URL calls

  class URLSearchParams {
    #pairs = [];
    #changed = () => {};

    static {
      bind = (params, changed) => { params.#changed = changed; };
      refill = (params, query) => { params.#pairs = URLSearchParams.#parse(query); };
    }

    static #parse(query) {
      return query.split('&').filter((part) => part !== '').map((part) => {
        const at = part.indexOf('=');
        return at < 0 ? [formDecode(part), ''] : [formDecode(part.slice(0, at)), formDecode(part.slice(at + 1))];
      });
    }

    static #fromObject(init) {
      const iterate = init[Symbol.iterator];
      if (iterate === null || iterate === undefined) {
        return Reflect.ownKeys(init).filter((key) => Object.prototype.propertyIsEnumerable.call(init, key))
          .map((key) => [textOf(key), textOf(init[key])]);
      }
      if (typeof iterate !== 'function') throw new TypeError('Query pairs must be iterable');
      return Array.from(init, (pair) => {
        const known = pair !== null && (typeof pair === 'object' || typeof pair === 'function');
        if (!known || typeof pair[Symbol.iterator] !== 'function') throw new TypeError('Each query pair must be an iterable [name, value] tuple');
        const both = [...pair];
        if (both.length !== 2) throw new TypeError('Each query pair must be an iterable [name, value] tuple');
        return both.map(textOf);
      });
    }

    constructor(init = undefined) {
      if (init === undefined) return;
      if ((typeof init === 'object' && init !== null) || typeof init === 'function') {
        this.#pairs = URLSearchParams.#fromObject(init);
        // A name that comes again in a record takes the later value.
        if (!init[Symbol.iterator]) this.#pairs = [...new Map(this.#pairs)];
        return;
      }
      this.#pairs = URLSearchParams.#parse(textOf(init).replace(/^\?/, ''));
    }

    get size() { return this.#pairs.length; }

    append(name, value) {
      need(arguments, 2, 'append');
      this.#pairs.push([textOf(name), textOf(value)]);
      this.#changed(this);
    }

    delete(name, value = undefined) {
      need(arguments, 1, 'delete');
      const key = textOf(name);
      const only = value === undefined ? undefined : textOf(value);
      this.#pairs = this.#pairs.filter(([k, v]) => k !== key || (only !== undefined && v !== only));
      this.#changed(this);
    }

    get(name) {
      need(arguments, 1, 'get');
      const key = textOf(name);
      return this.#pairs.find(([k]) => k === key)?.[1] ?? null;
    }

    getAll(name) {
      need(arguments, 1, 'getAll');
      const key = textOf(name);
      return this.#pairs.filter(([k]) => k === key).map(([, v]) => v);
    }

    has(name, value = undefined) {
      need(arguments, 1, 'has');
      const key = textOf(name);
      const only = value === undefined ? undefined : textOf(value);
      return this.#pairs.some(([k, v]) => k === key && (only === undefined || v === only));
    }

    set(name, value) {
      need(arguments, 2, 'set');
      const key = textOf(name);
      const text = textOf(value);
      const at = this.#pairs.findIndex(([k]) => k === key);
      if (at < 0) this.#pairs.push([key, text]);
      else this.#pairs = this.#pairs.filter(([k], i) => k !== key || i <= at).with(at, [key, text]);
      this.#changed(this);
    }

    sort() {
      this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      this.#changed(this);
    }

    forEach(callback, thisArg = undefined) {
      if (typeof callback !== 'function') throw new TypeError('forEach wants a function');
      for (let i = 0; i < this.#pairs.length; i++) callback.call(thisArg, this.#pairs[i][1], this.#pairs[i][0], this);
    }

    *entries() { for (let i = 0; i < this.#pairs.length; i++) yield [...this.#pairs[i]]; }
    *keys() { for (let i = 0; i < this.#pairs.length; i++) yield this.#pairs[i][0]; }
    *values() { for (let i = 0; i < this.#pairs.length; i++) yield this.#pairs[i][1]; }

    toString() { return this.#pairs.map(([k, v]) => formEncode(k) + '=' + formEncode(v)).join('&'); }
  }

  class URL {
    #parts;
    #params;

    static canParse(url, base = undefined) {
      need(arguments, 1, 'canParse');
      return parseURL(textOf(url), base === undefined ? base : textOf(base)) !== null;
    }

    static parse(url, base = undefined) {
      need(arguments, 1, 'parse');
      return URL.canParse(url, base) ? new URL(url, base) : null;
    }

    constructor(url, base = undefined) {
      need(arguments, 1, 'URL');
      const text = textOf(url);
      this.#parts = parseURL(text, base === undefined ? base : textOf(base));
      if (this.#parts === null) throw invalid(text);
    }

    #change(name, value) {
      this.#parts = changeURL(this.#parts.href, name, value);
    }

    get href() { return this.#parts.href; }
    set href(value) {
      const text = textOf(value);
      const next = parseURL(text);
      if (next === null) throw invalid(text);
      this.#parts = next;
      if (this.#params) refill(this.#params, next.search.slice(1));
    }

    get origin() { return this.#parts.origin; }
    get protocol() { return this.#parts.protocol; }
    set protocol(value) { this.#change('protocol', textOf(value)); }
    get username() { return this.#parts.username; }
    set username(value) { this.#change('username', textOf(value)); }
    get password() { return this.#parts.password; }
    set password(value) { this.#change('password', textOf(value)); }
    get host() { return this.#parts.host; }
    set host(value) { this.#change('host', textOf(value)); }
    get hostname() { return this.#parts.hostname; }
    set hostname(value) { this.#change('hostname', textOf(value)); }
    get port() { return this.#parts.port; }
    set port(value) { this.#change('port', textOf(value)); }
    get pathname() { return this.#parts.pathname; }
    set pathname(value) { this.#change('pathname', textOf(value)); }
    get search() { return this.#parts.search; }
    set search(value) {
      this.#change('search', textOf(value));
      if (this.#params) refill(this.#params, this.#parts.search.slice(1));
    }

    get searchParams() {
      if (!this.#params) {
        this.#params = new URLSearchParams();
        refill(this.#params, this.#parts.search.slice(1));
        bind(this.#params, (params) => this.#change('search', params.toString()));
      }
      return this.#params;
    }

    get hash() { return this.#parts.hash; }
    set hash(value) { this.#change('hash', textOf(value)); }

    toString() { return this.#parts.href; }
    toJSON() { return this.#parts.href; }
  }

  for (const made of [URL, URLSearchParams]) {
    Object.defineProperty(made.prototype, Symbol.toStringTag, { value: made.name, configurable: true });
  }
  Object.defineProperty(URLSearchParams.prototype, Symbol.iterator, {
    value: URLSearchParams.prototype.entries, writable: true, configurable: true,
  });
  return { URL, URLSearchParams };
}
