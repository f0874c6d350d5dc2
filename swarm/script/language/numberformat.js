// Intl.NumberFormat.
(kit) => {
  'use strict';

  const { noRanges, resolve, option, numberOption, optionsOf, refuseOptions, filled, joined, intlClass, english, localeText } = kit;

  // A decimal has its digits without leading zeros, and how many of
  // them stand before the point, which may be negative.
  const decimalOf = (value) => {
    const text = typeof value === 'number' ? Math.abs(value).toExponential() : String(value).replace('-', '');
    const [, whole, fraction = '', power = '0'] = /^(\d*)(?:\.(\d*))?(?:e([+-]\d+))?$/i.exec(text);
    const all = (whole + fraction).replace(/^0+/, '');
    const zeros = whole.length + fraction.length - all.length;
    return {
      negative: typeof value === 'number' ? value < 0 || Object.is(value, -0) : String(value)[0] === '-',
      digits: all.replace(/0+$/, ''), point: all === '' ? 0 : whole.length - zeros + Number(power),
    };
  };
  // rounded keeps some digits.
  const rounded = (d, keep, mode) => {
    if (keep >= d.digits.length) return d;
    const kept = keep > 0 ? d.digits.slice(0, keep) : '';
    const rest = keep >= 0 ? d.digits.slice(keep) : '0'.repeat(-keep) + d.digits;
    const half = rest[0] > '5' || (rest[0] === '5' && /[1-9]/.test(rest.slice(1))) ? 1 : rest[0] === '5' ? 0 : -1;
    const odd = Number(kept.at(-1) ?? '0') % 2 === 1;
    const up = {
      halfExpand: half >= 0, halfTrunc: half > 0, halfEven: half > 0 || (half === 0 && odd),
      halfCeil: half > 0 || (half === 0 && !d.negative), halfFloor: half > 0 || (half === 0 && d.negative),
      expand: true, trunc: false, ceil: !d.negative, floor: d.negative,
    }[mode];
    if (!up) {
      const digits = kept.replace(/0+$/, '');
      return { ...d, digits, point: digits === '' ? 0 : d.point };
    }
    if (keep <= 0) return { ...d, digits: '1', point: d.point - keep + 1 };
    const sum = String(BigInt(kept) + 1n);
    return { ...d, digits: sum.replace(/0+$/, ''), point: d.point + sum.length - kept.length };
  };

  const numberSetup = (locales, given) => {
    const options = optionsOf(given);
    const { locale, data } = resolve(locales, 'Intl.NumberFormat', () => true);
    refuseOptions('Intl.NumberFormat', options, ['numberingSystem', 'latn'], ['roundingIncrement', '1'], ['roundingPriority', 'auto']);
    const s = { locale, data, numbers: data.numbers };
    s.style = option(options, 'style', ['decimal', 'percent', 'currency', 'unit'], 'decimal');
    s.currency = option(options, 'currency');
    if (s.currency !== undefined && !/^[a-z]{3}$/i.test(s.currency)) throw new RangeError('Invalid currency code : ' + s.currency);
    if (s.style === 'currency' && s.currency === undefined) throw new TypeError('Currency code is required with currency style.');
    s.currency = s.style === 'currency' ? s.currency.toUpperCase() : undefined;
    s.currencyDisplay = option(options, 'currencyDisplay', ['code', 'symbol', 'narrowSymbol', 'name'], 'symbol');
    s.currencySign = option(options, 'currencySign', ['standard', 'accounting'], 'standard');
    s.unit = option(options, 'unit');
    if (s.style === 'unit' && s.unit === undefined) throw new TypeError('Required unit must not be undefined');
    s.unitDisplay = option(options, 'unitDisplay', ['short', 'narrow', 'long'], 'short');
    s.notation = option(options, 'notation', ['standard', 'scientific', 'engineering', 'compact'], 'standard');
    s.compactDisplay = option(options, 'compactDisplay', ['short', 'long'], 'short');
    const onlyEnglish = (what) => {
      if (!/^en(-|$)/.test(locale)) throw new RangeError(`Intl.NumberFormat: ${what} is there in English only: use en-US`);
    };
    if (s.notation === 'compact') onlyEnglish('compact notation');
    if (locale === 'sv-SE' && (s.notation === 'scientific' || s.notation === 'engineering')) {
      throw new RangeError('Intl.NumberFormat: scientific notation is not there for sv-SE: use en-US');
    }
    if (locale === 'en-IN' && s.notation === 'compact') throw new RangeError('Intl.NumberFormat: compact notation is not there for en-IN: use en-US');
    if (s.style === 'unit') onlyEnglish('a unit');
    if (s.style === 'currency' && s.currencyDisplay === 'name') onlyEnglish('the name of a currency');
    if (s.style === 'unit' && english().units[s.unit + ' short'] === undefined) throw new RangeError('Invalid unit argument for Intl.NumberFormat() \'' + s.unit + '\'');
    numberDigits(s, options);
    const grouping = options.useGrouping;
    s.grouping = grouping === undefined ? (s.notation === 'compact' ? 'min2' : 'auto')
      : grouping === true || grouping === 'true' || grouping === 'false' ? (grouping === true ? 'always' : 'auto')
        : grouping === false || grouping === null ? false : option(options, 'useGrouping', ['min2', 'auto', 'always'], 'auto');
    s.signDisplay = option(options, 'signDisplay', ['auto', 'never', 'always', 'exceptZero', 'negative'], 'auto');
    return s;
  };

  const numberDigits = (s, options) => {
    const own = s.style === 'currency' && s.notation === 'standard' ? JSON.parse(localeText('digits'))[s.currency] ?? 2 : undefined;
    s.minimumIntegerDigits = numberOption(options.minimumIntegerDigits, 'minimumIntegerDigits', 1, 21, 1);
    s.roundingMode = option(options, 'roundingMode', ['ceil', 'floor', 'expand', 'trunc', 'halfCeil', 'halfFloor', 'halfExpand', 'halfTrunc', 'halfEven'], 'halfExpand');
    s.trailingZeroDisplay = option(options, 'trailingZeroDisplay', ['auto', 'stripIfInteger'], 'auto');
    const { minimumFractionDigits: low, maximumFractionDigits: high, minimumSignificantDigits: least, maximumSignificantDigits: most } = options;
    if (least !== undefined || most !== undefined) {
      s.minimumSignificantDigits = numberOption(least, 'minimumSignificantDigits', 1, 21, 1);
      s.maximumSignificantDigits = numberOption(most, 'maximumSignificantDigits', s.minimumSignificantDigits, 21, 21);
      return;
    }
    if (low === undefined && high === undefined && s.notation === 'compact') {
      s.compact = true;
      return;
    }
    const lowest = own ?? 0;
    const highest = own ?? (s.style === 'percent' ? 0 : 3);
    let min = numberOption(low, 'minimumFractionDigits', 0, 100);
    let max = numberOption(high, 'maximumFractionDigits', 0, 100);
    if (min === undefined && max === undefined) [min, max] = [lowest, highest];
    else if (min === undefined) min = Math.min(lowest, max);
    else if (max === undefined) max = Math.max(highest, min);
    else if (min > max) throw new RangeError('maximumFractionDigits value is out of range.');
    s.minimumFractionDigits = min;
    s.maximumFractionDigits = max;
  };

  // limited rounds a decimal as the options say.
  const limited = (s, d) => {
    if (s.maximumSignificantDigits !== undefined) return rounded(d, s.maximumSignificantDigits, s.roundingMode);
    if (s.compact) return rounded(d, Math.max(2, d.point), s.roundingMode);
    return rounded(d, d.point + s.maximumFractionDigits, s.roundingMode);
  };

  // written gives the parts of a decimal without its sign.
  const written = (s, d) => {
    let whole = d.point > 0 ? d.digits.padEnd(d.point, '0').slice(0, d.point) : '';
    let fraction = d.point >= 0 ? d.digits.slice(d.point) : '0'.repeat(-d.point) + d.digits;
    whole = whole.padStart(s.minimumIntegerDigits, '0');
    if (s.minimumFractionDigits !== undefined) fraction = fraction.padEnd(s.minimumFractionDigits, '0');
    else if (s.minimumSignificantDigits !== undefined) {
      const used = d.digits === '' ? 1 : d.point > 0 ? Math.max(d.point, d.digits.length) : d.digits.length;
      fraction += '0'.repeat(Math.max(0, s.minimumSignificantDigits - used));
    }
    if (s.trailingZeroDisplay === 'stripIfInteger' && !/[1-9]/.test(fraction)) fraction = '';
    const out = [];
    const { numbers } = s;
    const least = { min2: 2, always: 1, auto: numbers.least }[s.grouping];
    if (least === undefined || whole.length < 3 + least) {
      out.push({ type: 'integer', value: whole });
    } else {
      const groups = [whole.slice(-3)];
      for (let rest = whole.slice(0, -3); rest !== ''; rest = rest.slice(0, -numbers.second)) groups.unshift(rest.slice(-numbers.second));
      groups.forEach((g, i) => {
        if (i > 0) out.push({ type: 'group', value: s.style === 'currency' && s.locale === 'de-AT' ? '\u00a0' : numbers.group });
        out.push({ type: 'integer', value: g });
      });
    }
    if (fraction !== '') {
      out.push({ type: 'decimal', value: s.style === 'currency' && /^de-CH/.test(s.locale) ? '.' : numbers.decimal });
      out.push({ type: 'fraction', value: fraction });
    }
    return out;
  };

  const scaled = (s, d) => {
    if (s.notation === 'standard') {
      const r = limited(s, d);
      return { d: r, parts: written(s, r) };
    }
    const step = s.notation === 'scientific' ? 1 : 3;
    const powerOf = (x) => {
      if (x.digits === '') return 0;
      const p = Math.floor((x.point - 1) / step) * step;
      return s.notation === 'compact' ? Math.min(12, Math.max(0, p)) : p;
    };
    let power = powerOf(d);
    let r = limited(s, { ...d, point: d.point - power });
    const again = powerOf({ ...r, point: r.point + power });
    if (again !== power) {
      power = again;
      r = limited(s, { ...d, point: d.point - power });
    }
    const list = written(s, r);
    if (s.notation === 'compact') {
      const word = { 3: ['K', 'thousand', 'k'], 6: ['M', 'million', 'm'], 9: ['B', 'billion', 'bn'], 12: ['T', 'trillion', 'tn'] }[power];
      if (word !== undefined && s.compactDisplay === 'short') list.push({ type: 'compact', value: word[s.locale === 'en-GB' ? 2 : 0] });
      else if (word !== undefined) list.push({ type: 'literal', value: ' ' }, { type: 'compact', value: word[1] });
    } else {
      list.push({ type: 'exponentSeparator', value: 'E' });
      if (power < 0) list.push({ type: 'exponentMinusSign', value: s.numbers.minus });
      list.push({ type: 'exponentInteger', value: String(Math.abs(power)) });
    }
    return { d: r, parts: list };
  };

  const currencyText = (s) => {
    const known = s.numbers.symbols[s.currency];
    if (s.currencyDisplay === 'code' || known === undefined) return s.currency;
    return s.currencyDisplay === 'narrowSymbol' ? known[known.length - 1] : known[0];
  };

  const numeric = (value) => {
    if (typeof value === 'bigint' || typeof value === 'number') return value;
    if (typeof value === 'string' && /^\s*[+-]?\d+(?:\.\d+)?\s*$/.test(value)) return value.trim().replace('+', '');
    if (typeof value === 'object' && value !== null) return numeric(value.valueOf() === value ? String(value) : value.valueOf());
    return Number(value);
  };

  const numberParts = (s, given) => {
    const value = numeric(given);
    let d;
    let list;
    if (value !== value || value === Infinity || value === -Infinity) {
      d = { negative: value < 0, digits: value !== value ? '' : '1' };
      list = [value !== value ? { type: 'nan', value: 'NaN' } : { type: 'infinity', value: '∞' }];
    } else {
      d = decimalOf(value);
      if (s.style === 'percent' && d.digits !== '') d.point += 2;
      ({ d, parts: list } = scaled(s, d));
    }
    const zero = d.digits === '';
    const minus = d.negative && (s.signDisplay === 'auto' || s.signDisplay === 'always' || !zero) && s.signDisplay !== 'never' && !(value !== value);
    const plus = !minus && (s.signDisplay === 'always' || (s.signDisplay === 'exceptZero' && !zero));
    return dressed(s, list, minus, plus, d);
  };

  // dressed adds the sign, and the currency, percent sign or unit.
  const dressed = (s, list, minus, plus, d) => {
    const { numbers } = s;
    const sign = { type: plus ? 'plusSign' : 'minusSign', value: plus ? '+' : numbers.minus };
    const one = joined(list) === '1';
    let pattern = minus || plus ? '{-}{#}' : '{#}';
    if (s.style === 'percent') pattern = numbers.percent[minus || plus ? 1 : 0];
    else if (s.style === 'unit') pattern = (minus || plus ? '{-}' : '') + english().units[s.unit + ' ' + s.unitDisplay][one ? 0 : 1];
    else if (s.style === 'currency' && s.currencyDisplay === 'name') pattern += ' {c}';
    else if (s.style === 'currency') {
      pattern = numbers.currency[plus ? 1 : !minus ? 0 : s.currencySign === 'accounting' ? 2 : 1];
      if (/\{c\}\{#\}/.test(pattern) && /[\p{L}]$/u.test(currencyText(s))) pattern = pattern.replace('{c}', '{c}\u00a0');
    }
    return filled(pattern, (name) => {
      if (name === '#') return list;
      if (name === '-') return sign;
      if (name === '%') return { type: 'percentSign', value: numbers.percentSign };
      if (name === 'c') return { type: 'currency', value: s.currencyDisplay === 'name' ? (english().names[s.currency] ?? [s.currency, s.currency])[one ? 0 : 1] : currencyText(s) };
      return [];
    }).map((p) => (s.style === 'unit' && p.type === 'literal' ? unitPart(p) : [p])).flat();
  };
  const unitPart = ({ value }) => value.split(/(\s+)/).filter(Boolean).map((v) => ({ type: /\s/.test(v) ? 'literal' : 'unit', value: v }));

  const resolvedNumber = (s) => {
    const out = { locale: s.locale, numberingSystem: 'latn', style: s.style };
    if (s.style === 'currency') Object.assign(out, { currency: s.currency, currencyDisplay: s.currencyDisplay, currencySign: s.currencySign });
    if (s.style === 'unit') Object.assign(out, { unit: s.unit, unitDisplay: s.unitDisplay });
    out.minimumIntegerDigits = s.minimumIntegerDigits;
    for (const k of ['minimumFractionDigits', 'maximumFractionDigits', 'minimumSignificantDigits', 'maximumSignificantDigits']) if (s[k] !== undefined) out[k] = s[k];
    if (s.compact) Object.assign(out, { minimumFractionDigits: 0, maximumFractionDigits: 0, minimumSignificantDigits: 1, maximumSignificantDigits: 2 });
    out.useGrouping = s.grouping;
    out.notation = s.notation;
    if (s.notation === 'compact') out.compactDisplay = s.compactDisplay;
    return Object.assign(out, {
      signDisplay: s.signDisplay, roundingIncrement: 1, roundingMode: s.roundingMode,
      roundingPriority: s.compact ? 'morePrecision' : 'auto', trailingZeroDisplay: s.trailingZeroDisplay,
    });
  };
  const NumberFormat = intlClass('NumberFormat', numberSetup, {
    format: (s, value) => joined(numberParts(s, value)),
    formatToParts: (s, value) => numberParts(s, value),
    ...noRanges('NumberFormat'),
    resolvedOptions: resolvedNumber,
  }, true);

  return { NumberFormat, numberSetup, numberParts, decimalOf, limited, written };
}
