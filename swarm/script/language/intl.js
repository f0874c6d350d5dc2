// Intl, and the methods of the language that write numbers, dates and texts as
// people do. It has the languages of locales.json and refuses all others: a
// wrong word would look right. Without a locale that is en-US; without a time
// zone, UTC.
(parts) => {
  'use strict';

  const { localeText, compare, part } = parts;
  const { defineProperty, create } = Object;
  const names = JSON.parse(localeText(''));
  const loaded = create(null);
  const english = () => dataOf('en-US').english;

  const dataOf = (locale) => {
    loaded[locale] ??= JSON.parse(localeText(locale));
    return loaded[locale];
  };

  const canonical = (tag) => {
    if (typeof tag !== 'string' && (typeof tag !== 'object' || tag === null)) throw new TypeError('a locale is a text, not ' + typeof tag);
    const text = String(tag);
    if (!/^[a-z]{2,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?(?:-(?:[\da-z]{5,8}|\d[\da-z]{3}))*(?:-[\da-wy-z](?:-[\da-z]{2,8})+)*(?:-x(?:-[\da-z]{1,8})+)?$/i.test(text)) {
      throw new RangeError('Incorrect locale information provided: ' + text);
    }
    return text.split('-').map((s, i) => {
      if (i === 0) return s.toLowerCase();
      if (s.length === 4 && /^[a-z]+$/i.test(s)) return s[0].toUpperCase() + s.slice(1).toLowerCase();
      return s.length === 2 && i < 3 ? s.toUpperCase() : s.toLowerCase();
    }).join('-');
  };
  const canonicalList = (locales) => {
    if (locales === undefined) return [];
    const list = typeof locales === 'string' ? [locales] : Array.from(Object(locales));
    return [...new Set(list.map(canonical))];
  };
  // The region that a language is written for where none is named.
  const homes = { en: 'en-US', de: 'de-DE', fr: 'fr-FR', es: 'es-ES', it: 'it-IT', pt: 'pt-BR', nl: 'nl-NL', sv: 'sv-SE', pl: 'pl-PL', ja: 'ja-JP' };
  const find = (tag) => (names.includes(tag) ? tag : homes[tag]);

  // resolve gives the locale as it was named and the one whose data it has.
  const resolve = (locales, what, has) => {
    const list = canonicalList(locales);
    if (list.length === 0) return { locale: 'en-US', data: dataOf('en-US') };
    for (const locale of list) {
      const home = find(locale);
      if (home !== undefined && has(dataOf(home))) return { locale, data: dataOf(home) };
    }
    const known = names.filter((n) => has(dataOf(n)));
    throw new RangeError(`${what} does not know the locale ${list[0]}: use ${known.join(', ')}`);
  };

  const option = (options, name, allowed, otherwise) => {
    const v = options[name];
    if (v === undefined) return otherwise;
    const text = String(v);
    if (allowed !== undefined && !allowed.includes(text)) throw new RangeError(`Value ${text} out of range for Intl options property ${name}`);
    return text;
  };
  const numberOption = (v, name, low, high, otherwise) => {
    if (v === undefined) return otherwise;
    const n = Number(v);
    if (!(n >= low && n <= high)) throw new RangeError(name + ' value is out of range.');
    return Math.floor(n);
  };
  const optionsOf = (options) => {
    if (options === undefined) return create(null);
    if (options === null) throw new TypeError('Cannot convert undefined or null to object');
    return Object(options);
  };
  const refuseOptions = (what, options, ...unknown) => {
    for (const [name, fine] of unknown) {
      const v = options[name];
      if (v !== undefined && String(v) !== fine) throw new RangeError(`${what}: the option ${name} is not there, other than as '${fine}': leave it out`);
    }
  };

  // noRanges are the methods that write two values as one text.
  const noRanges = (what) => {
    const refuse = () => {
      throw new RangeError(`Intl.${what}: ranges are not there: format both ends, and put a dash between them`);
    };
    return { formatRange: refuse, formatRangeToParts: refuse };
  };

  // filled puts values into the places of a pattern, as parts.
  const filled = (pattern, place) => {
    const out = [];
    for (const piece of pattern.split(/(\{[^}]*\})/)) {
      if (piece === '') continue;
      const found = piece[0] === '{' ? place(piece.slice(1, -1)) : [{ type: 'literal', value: piece }];
      for (const p of Array.isArray(found) ? found : [found]) {
        if (p.type === 'literal' && out.length > 0 && out[out.length - 1].type === 'literal') out[out.length - 1].value += p.value;
        else if (p.value !== '') out.push({ ...p });
      }
    }
    return out;
  };
  const joined = (list) => {
    let text = '';
    for (const p of list) text += p.value;
    return text;
  };

  // classOf makes a class of Intl. setup gives the state of an object.
  const intlClass = (name, setup, methods, callable) => {
    const states = new WeakMap();
    const stateOf = (o) => {
      const s = states.get(o);
      if (s === undefined) throw new TypeError(`Method Intl.${name}.prototype is called on another object`);
      return s;
    };
    const made = function (locales, options) {
      if (new.target === undefined && !callable) throw new TypeError(`Constructor Intl.${name} requires 'new'`);
      const o = new.target === undefined ? create(made.prototype) : this;
      states.set(o, setup(locales, options));
      return o;
    };
    defineProperty(made, 'name', { value: name, configurable: true });
    defineProperty(made, 'length', { value: 0, configurable: true });
    defineProperty(made, 'supportedLocalesOf', { value: { supportedLocalesOf(locales) {
      return canonicalList(locales).filter((l) => find(l) !== undefined);
    } }.supportedLocalesOf, writable: true, enumerable: false, configurable: true });
    defineProperty(made.prototype, Symbol.toStringTag, { value: 'Intl.' + name, configurable: true });
    for (const key of Object.keys(methods)) {
      const f = methods[key];
      // format and compare are bound, so that they may be handed to map or sort.
      const bound = key === 'compare' || (key === 'format' && callable);
      defineProperty(made.prototype, key, bound ? {
        get() {
          const s = stateOf(this);
          s.bound ??= (...given) => f(s, ...given);
          return s.bound;
        },
        enumerable: false, configurable: true,
      } : {
        value: { [key](...given) {
          return f(stateOf(this), ...given);
        } }[key], writable: true, enumerable: false, configurable: true,
      });
    }
    defineProperty(made.prototype, 'constructor', { value: made, writable: true, enumerable: false, configurable: true });
    return made;
  };

  // Texts.
  const collatorSetup = (locales, given) => {
    const options = optionsOf(given);
    const list = canonicalList(locales);
    const locale = list[0] ?? 'en-US';
    const s = { locale, usage: option(options, 'usage', ['sort', 'search'], 'sort') };
    if (s.usage === 'search') throw new RangeError('Intl.Collator: the option usage is there as \'sort\' only');
    refuseOptions('Intl.Collator', options, ['collation', 'default']);
    s.sensitivity = option(options, 'sensitivity', ['base', 'accent', 'case', 'variant'], 'variant');
    s.ignorePunctuation = Boolean(options.ignorePunctuation);
    s.numeric = options.numeric === undefined ? /-u(?:-\w+)*-kn(?:-true|$|-\w{2}\b)/.test(locale) : Boolean(options.numeric);
    s.caseFirst = option(options, 'caseFirst', ['upper', 'lower', 'false'], 'false');
    return s;
  };
  const compared = (s, a, b) => compare(s.locale, String(a), String(b), s.sensitivity, s.numeric, s.caseFirst, s.ignorePunctuation);
  // V8 has tables of its own for few regions, and names the language for all others.
  const ownTables = 'en-US de-AT fr-CA nb-NO he-IL ar-SA id-ID zh-CN zh-TW zh-HK zh-SG zh-MO sr-RS sr-BA bs-BA'.split(' ');
  const resolvedTag = (tag) => (/^[a-z]{2,3}-[A-Z]{2}$/.test(tag) && !ownTables.includes(tag) ? tag.slice(0, tag.indexOf('-')) : tag);
  const Collator = intlClass('Collator', collatorSetup, {
    compare: compared,
    resolvedOptions: (s) => ({
      locale: resolvedTag(s.locale), usage: s.usage, sensitivity: s.sensitivity, ignorePunctuation: s.ignorePunctuation,
      collation: 'default', numeric: s.numeric, caseFirst: s.caseFirst,
    }),
  }, true);

  const kit = { noRanges, resolve, option, numberOption, optionsOf, refuseOptions, filled, joined, intlClass, english, localeText, zoneOffset: parts.zoneOffset, zoneName: parts.zoneName, canonicalList, resolvedTag, segments: parts.segments };
  const numbers = part('numberformat.js', kit);
  const { NumberFormat, numberSetup, numberParts } = numbers;
  const { DateTimeFormat, localeDate } = part('dateformat.js', kit);
  const { PluralRules, ListFormat, RelativeTimeFormat } = part('wordformat.js', Object.assign({}, kit, numbers));
  const { Segmenter } = part('segmenter.js', kit);

  const Intl = {};
  for (const [name, value] of Object.entries({ NumberFormat, DateTimeFormat, Collator, PluralRules, ListFormat, RelativeTimeFormat, Segmenter })) {
    defineProperty(Intl, name, { value, writable: true, enumerable: false, configurable: true });
  }
  defineProperty(Intl, 'getCanonicalLocales', { value: { getCanonicalLocales: (locales) => canonicalList(locales) }.getCanonicalLocales, writable: true, configurable: true });
  defineProperty(Intl, Symbol.toStringTag, { value: 'Intl', configurable: true });
  for (const [name, instead] of [['DisplayNames', 'a table of your own'], ['DurationFormat', 'Intl.NumberFormat'], ['Locale', 'the tag as a text']]) {
    defineProperty(Intl, name, {
      get() {
        throw new RangeError(`Intl.${name} is not there: use ${instead}`);
      },
      enumerable: false, configurable: true,
    });
  }

  const { valueOf: numberValue } = Number.prototype;
  const { valueOf: bigintValue } = BigInt.prototype;
  const numberText = (value, locales, options) => joined(numberParts(numberSetup(locales, options), value));
  return {
    Intl,
    'Number.prototype.toLocaleString': { toLocaleString(locales, options) {
      return numberText(numberValue.call(this), locales, options);
    } }.toLocaleString,
    'BigInt.prototype.toLocaleString': { toLocaleString(locales, options) {
      return numberText(bigintValue.call(this), locales, options);
    } }.toLocaleString,
    'Array.prototype.toLocaleString': { toLocaleString(locales, options) {
      let text = '';
      for (let i = 0; i < this.length; i += 1) {
        if (i > 0) text += ',';
        const v = this[i];
        if (v !== undefined && v !== null) text += String(v.toLocaleString(locales, options));
      }
      return text;
    } }.toLocaleString,
    'Date.prototype.toLocaleString': localeDate('any', 'all', 'toLocaleString'),
    'Date.prototype.toLocaleDateString': localeDate('date', 'date', 'toLocaleDateString'),
    'Date.prototype.toLocaleTimeString': localeDate('time', 'time', 'toLocaleTimeString'),
    'String.prototype.localeCompare': { localeCompare(that, locales, options) {
      if (this === undefined || this === null) throw new TypeError('String.prototype.localeCompare called on ' + this);
      const text = String(this);
      return compared(collatorSetup(locales, options), text, that);
    } }.localeCompare,
  };
}
