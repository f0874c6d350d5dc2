// Intl.PluralRules, Intl.ListFormat and Intl.RelativeTimeFormat.
(kit) => {
  'use strict';

  const { resolve, option, optionsOf, filled, joined, intlClass, numberSetup, numberParts, decimalOf, limited, written } = kit;

  const pluralSetup = (locales, given) => {
    const options = optionsOf(given);
    const { locale, data } = resolve(locales, 'Intl.PluralRules', (d) => d.relative !== undefined);
    const s = { ...numberSetup(locales, { ...options, style: 'decimal' }), locale, data };
    s.type = option(options, 'type', ['cardinal', 'ordinal'], 'cardinal');
    if (s.type === 'ordinal' && !/^en/.test(locale)) throw new RangeError('Intl.PluralRules: ordinals are there in English only');
    s.language = locale.slice(0, 2);
    return s;
  };
  const plural = (s, given) => {
    const n = Math.abs(Number(given));
    if (n !== n || n === Infinity) return 'other';
    const text = joined(written({ ...s, grouping: false }, limited(s, decimalOf(n)))).replace(s.numbers.decimal, '.');
    const whole = !text.includes('.');
    const v = Number(text);
    if (s.type === 'ordinal') {
      const tens = v % 100;
      if (v % 10 === 1 && tens !== 11) return 'one';
      if (v % 10 === 2 && tens !== 12) return 'two';
      return v % 10 === 3 && tens !== 13 ? 'few' : 'other';
    }
    if (/^(fr|es|it|pt)$/.test(s.language) && whole && v !== 0 && v % 1e6 === 0) return 'many';
    if (s.language === 'fr' || s.language === 'pt') return v < 2 ? 'one' : 'other';
    if (s.language === 'es') return v === 1 ? 'one' : 'other';
    return whole && v === 1 ? 'one' : 'other';
  };
  const PluralRules = intlClass('PluralRules', pluralSetup, {
    select: plural,
    resolvedOptions: (s) => ({
      locale: s.locale === 'pt-PT' ? s.locale : s.language, type: s.type, notation: s.notation, minimumIntegerDigits: s.minimumIntegerDigits,
      minimumFractionDigits: s.minimumFractionDigits, maximumFractionDigits: s.maximumFractionDigits,
      pluralCategories: s.type === 'ordinal' ? ['few', 'one', 'two', 'other']
        : /^(fr|es|it|pt)$/.test(s.language) ? ['one', 'many', 'other'] : ['one', 'other'],
      roundingIncrement: 1, roundingMode: s.roundingMode, roundingPriority: 'auto', trailingZeroDisplay: s.trailingZeroDisplay,
    }),
  }, false);

  const listSetup = (locales, given) => {
    if (given !== undefined && (typeof given !== 'object' || given === null)) throw new TypeError('Incorrect ListFormat options');
    const options = optionsOf(given);
    const { locale, data } = resolve(locales, 'Intl.ListFormat', (d) => d.lists !== undefined);
    const s = { locale, type: option(options, 'type', ['conjunction', 'disjunction', 'unit'], 'conjunction'), style: option(options, 'style', ['long', 'short', 'narrow'], 'long') };
    s.between = data.lists[s.type + s.style];
    return s;
  };
  const listParts = (s, given) => {
    const list = given === undefined ? [] : [...given];
    for (const v of list) if (typeof v !== 'string') throw new TypeError('Iterable yielded ' + String(v) + ' which is not a string');
    const out = [];
    list.forEach((value, i) => {
      const [pair, middle, last] = s.between;
      if (i > 0) out.push({ type: 'literal', value: list.length === 2 ? pair : i === list.length - 1 ? last : middle });
      out.push({ type: 'element', value });
    });
    return out;
  };
  const ListFormat = intlClass('ListFormat', listSetup, {
    format: (s, list) => joined(listParts(s, list)),
    formatToParts: listParts,
    resolvedOptions: ({ locale, type, style }) => ({ locale, type, style }),
  }, false);

  const units = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];
  const relativeSetup = (locales, given) => {
    const options = optionsOf(given);
    const { locale, data } = resolve(locales, 'Intl.RelativeTimeFormat', (d) => d.relative !== undefined);
    return {
      locale, data, style: option(options, 'style', ['long', 'short', 'narrow'], 'long'),
      numeric: option(options, 'numeric', ['always', 'auto'], 'always'),
      number: numberSetup(locales), plural: pluralSetup(locales),
    };
  };
  const relativeParts = (s, given, named) => {
    const value = Number(given);
    if (!Number.isFinite(value)) throw new RangeError('Invalid time value');
    const unit = String(named).replace(/s$/, '');
    if (!units.includes(unit)) throw new RangeError('Invalid unit argument for format() \'' + named + '\'');
    const patterns = s.data.relative[s.style + unit];
    const past = value < 0 || Object.is(value, -0);
    const word = s.numeric === 'auto' ? patterns[4][Object.is(value, -0) ? 0 : value] : undefined;
    if (word !== undefined) return [{ type: 'literal', value: word }];
    const pattern = patterns[(past ? 2 : 0) + (plural(s.plural, value) === 'one' ? 0 : 1)];
    return filled(pattern, () => numberParts(s.number, Math.abs(value)).map((p) => ({ ...p, unit })));
  };
  const RelativeTimeFormat = intlClass('RelativeTimeFormat', relativeSetup, {
    format: (s, value, unit) => joined(relativeParts(s, value, unit)),
    formatToParts: relativeParts,
    resolvedOptions: ({ locale, style, numeric }) => ({ locale, style, numeric, numberingSystem: 'latn' }),
  }, false);

  return { PluralRules, ListFormat, RelativeTimeFormat };
}
