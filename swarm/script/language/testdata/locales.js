// Writes locales.json, how some languages write numbers, dates and lists, from
// what node knows of them:
//
//	node testdata/locales.js > locales.json
//
// Patterns hold the names of parts in braces.
'use strict';

const locales = ['en-US', 'en-GB', 'en-CA', 'en-AU', 'en-IN', 'de-DE', 'de-AT', 'de-CH', 'fr-FR', 'es-ES', 'it-IT', 'pt-BR', 'nl-NL', 'sv-SE', 'pl-PL', 'ja-JP'];
const dated = locales.filter((l) => !['pl-PL', 'ja-JP'].includes(l));
const listed = dated.filter((l) => l !== 'es-ES');
const units = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];
const widths = ['long', 'short', 'narrow'];

// template replaces the digits of a number by {#}.
const template = (parts) => {
  let out = '';
  for (const { type, value } of parts) {
    if (['integer', 'group', 'decimal', 'fraction'].includes(type)) {
      if (!out.endsWith('{#}')) out += '{#}';
    } else if (type === 'minusSign') out += '{-}';
    else if (type === 'currency') out += '{c}';
    else if (type === 'percentSign') out += '{%}';
    else out += value;
  }
  return out;
};

const numbers = (l) => {
  const part = (type, n, o) => new Intl.NumberFormat(l, o).formatToParts(n).find((p) => p.type === type)?.value;
  const money = (n, o) => template(new Intl.NumberFormat(l, { style: 'currency', currency: 'EUR', ...o }).formatToParts(n));
  const percent = (n) => template(new Intl.NumberFormat(l, { style: 'percent' }).formatToParts(n));
  const symbols = {};
  for (const c of Intl.supportedValuesOf('currency')) {
    const s = part('currency', 1, { style: 'currency', currency: c });
    const n = part('currency', 1, { style: 'currency', currency: c, currencyDisplay: 'narrowSymbol' });
    if (s !== c || n !== c) symbols[c] = s === n ? [s] : [s, n];
  }
  return {
    decimal: part('decimal', 1.5), group: part('group', 1e7), minus: part('minusSign', -1), percentSign: part('percentSign', 1, { style: 'percent' }),
    least: new Intl.NumberFormat(l).format(1234).length > 4 ? 1 : 2, second: new Intl.NumberFormat(l).format(12345678).replace(/\d/g, '0').startsWith('0' + part('group', 1e7) + '00' + part('group', 1e7)) ? 2 : 3,
    percent: [percent(1), percent(-1)],
    currency: [money(1), money(-1), money(-1, { currencySign: 'accounting' })],
    symbols,
  };
};

const months = (l, style, o) => Array.from({ length: 12 }, (_, i) => new Intl.DateTimeFormat(l, { timeZone: 'UTC', month: style, ...o })
  .formatToParts(Date.UTC(2003, i, 5)).find((p) => p.type === 'month').value);

const dates = (l) => {
  const names = {
    MMMM: months(l, 'long', { day: 'numeric' }), LLLL: months(l, 'long'),
    MMM: months(l, 'short', { day: 'numeric' }), LLL: months(l, 'short'), MMMMM: months(l, 'narrow'),
  };
  const days = (style, o) => Array.from({ length: 7 }, (_, i) => new Intl.DateTimeFormat(l, { timeZone: 'UTC', weekday: style, ...o })
    .formatToParts(Date.UTC(2003, 5, 1 + i)).find((p) => p.type === 'weekday').value);
  const full = { day: 'numeric', month: 'long' };
  names.EEEE = days('long', full);
  names.cccc = days('long');
  names.EEE = days('short', full);
  names.ccc = days('short');
  names.EEEEE = days('narrow');
  const halves = [6, 18].map((h) => new Intl.DateTimeFormat(l, { timeZone: 'UTC', hour: 'numeric', hour12: true })
    .formatToParts(Date.UTC(2003, 3, 5, h)).find((p) => p.type === 'dayPeriod').value);

  // The month of the samples tells names beside a day from names alone.
  const month = Math.max(3, names.MMM.findIndex((n, i) => n !== names.LLL[i]));
  const first = new Date(Date.UTC(2003, month, 1)).getUTCDay();
  const at = Date.UTC(2003, month, 7 - first, 6, 7, 8, 9); // a Saturday
  const pattern = (o) => {
    let out = '';
    for (const { type, value } of new Intl.DateTimeFormat(l, { timeZone: 'UTC', ...o }).formatToParts(at)) {
      const two = value.length === 2 && value[0] === '0';
      if (type === 'literal') out += value;
      else if (type === 'year') out += value === '03' ? '{yy}' : '{y}';
      else if (type === 'month' && Number(value) === month + 1) out += two ? '{MM}' : '{M}';
      else if (type === 'month') out += '{' + Object.keys(names).find((k) => /^[ML]/.test(k) && names[k][month] === value) + '}';
      else if (type === 'day') out += two ? '{dd}' : '{d}';
      else if (type === 'weekday') out += '{' + Object.keys(names).find((k) => /^[Ec]/.test(k) && names[k][6] === value) + '}';
      else if (type === 'hour') out += (two ? '{hh}' : '{h}');
      else if (type === 'minute') out += two ? '{mm}' : '{m}';
      else if (type === 'second') out += two ? '{ss}' : '{s}';
      else if (type === 'dayPeriod') out += '{a}';
      else if (type === 'timeZoneName') out += '{z}';
      else throw new Error(l + ' ' + type);
    }
    return out;
  };

  for (const [with_, alone] of [['MMMM', 'LLLL'], ['MMM', 'LLL'], ['EEEE', 'cccc'], ['EEE', 'ccc']]) {
    if (names[with_].join() !== names[alone].join() && names[with_][/^M/.test(with_) ? month : 6] === names[alone][/^M/.test(with_) ? month : 6]) throw new Error(l + ' ' + alone);
  }
  const patterns = {};
  for (const weekday of [undefined, 'long', 'short', 'narrow']) {
    for (const year of [undefined, 'numeric', '2-digit']) {
      for (const month of [undefined, 'numeric', '2-digit', 'long', 'short', 'narrow']) {
        for (const day of [undefined, 'numeric', '2-digit']) {
          if (!weekday && !year && !month && !day) continue;
          patterns[[weekday, year, month, day].map((v) => (v === 'narrow' ? 'w' : v?.[0] ?? '-')).join('')] = pattern({ weekday, year, month, day });
        }
      }
    }
  }
  const times = {};
  for (const cycle of ['h12', 'h23']) {
    for (const hour of [undefined, 'numeric', '2-digit']) {
      for (const minute of [undefined, 'numeric', '2-digit']) {
        for (const second of [undefined, 'numeric', '2-digit']) {
          for (const timeZoneName of [undefined, 'short']) {
            if (!hour && !minute && !second) continue;
            const o = { hour, minute, second, timeZoneName };
            if (hour) o.hourCycle = cycle;
            times[cycle + [hour, minute, second].map((v) => v?.[0] ?? '-').join('') + (timeZoneName ? 'z' : '')] = pattern(o);
          }
        }
      }
    }
  }
  const styles = {};
  for (const s of ['full', 'long', 'medium', 'short']) {
    styles['d' + s] = pattern({ dateStyle: s });
    styles['t' + s] = pattern({ timeStyle: s });
    for (const t of ['full', 'long', 'medium', 'short']) {
      const both = pattern({ dateStyle: s, timeStyle: t });
      styles[s + t] = both.replace(pattern({ dateStyle: s }), '{0}').replace(pattern({ timeStyle: t }), '{1}');
      if (!/\{0\}.*\{1\}/.test(styles[s + t])) throw new Error(l + ' ' + both);
    }
  }
  const glue = (date) => {
    const time = { hour: 'numeric', minute: '2-digit' };
    return pattern({ ...date, ...time }).replace(pattern(date), '{0}').replace(pattern(time), '{1}');
  };
  const glues = {
    number: glue({ year: 'numeric', month: 'numeric', day: 'numeric' }),
    short: glue({ year: 'numeric', month: 'short', day: 'numeric' }),
    long: glue({ year: 'numeric', month: 'long', day: 'numeric' }),
    full: glue({ weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }),
  };
  for (const g of Object.values(glues)) if (!/\{0\}.*\{1\}/.test(g)) throw new Error(l + ' ' + g);
  const hour12 = new Intl.DateTimeFormat(l, { hour: 'numeric' }).resolvedOptions().hour12;
  return { names, halves, patterns, times, styles, glues, hour12, point: new Intl.NumberFormat(l).formatToParts(1.5)[1].value };
};

const lists = (l) => {
  const out = {};
  for (const type of ['conjunction', 'disjunction', 'unit']) {
    for (const style of widths) {
      const f = new Intl.ListFormat(l, { type, style });
      const between = (list) => f.formatToParts(list).filter((p) => p.type === 'literal').map((p) => p.value);
      const [first, , last] = between(['A', 'B', 'C', 'D']);
      out[type + style] = [between(['A', 'B'])[0], first, last];
    }
  }
  return out;
};

const relative = (l) => {
  const out = {};
  for (const style of widths) {
    for (const unit of units) {
      const f = new Intl.RelativeTimeFormat(l, { style });
      const auto = new Intl.RelativeTimeFormat(l, { style, numeric: 'auto' });
      const t = (n) => f.formatToParts(n, unit).map((p) => (p.type === 'literal' ? p.value : '{#}')).join('');
      const words = {};
      for (const n of [-2, -1, 0, 1, 2]) {
        const parts = auto.formatToParts(n, unit);
        if (parts.length === 1 && parts[0].type === 'literal') words[n] = parts[0].value;
      }
      out[style + unit] = [t(1), t(2), t(-1), t(-2), words];
    }
  }
  return out;
};

const english = () => {
  const out = { names: {}, units: {} };
  for (const c of Intl.supportedValuesOf('currency')) {
    out.names[c] = [1, 2].map((n) => new Intl.NumberFormat('en-US', { style: 'currency', currency: c, currencyDisplay: 'name' })
      .formatToParts(n).find((p) => p.type === 'currency').value);
  }
  for (const unit of [...Intl.supportedValuesOf('unit'), 'kilometer-per-hour', 'mile-per-hour', 'meter-per-second', 'megabyte-per-second', 'kilobyte-per-second', 'mile-per-gallon', 'liter-per-kilometer']) {
    for (const unitDisplay of widths) {
      out.units[unit + ' ' + unitDisplay] = [1, 2].map((n) => template(new Intl.NumberFormat('en-US', { style: 'unit', unit, unitDisplay }).formatToParts(n)));
    }
  }
  return out;
};

const digits = {};
for (const c of Intl.supportedValuesOf('currency')) {
  const d = new Intl.NumberFormat('en', { style: 'currency', currency: c }).resolvedOptions().maximumFractionDigits;
  if (d !== 2) digits[c] = d;
}
console.log('{');
for (const l of locales) {
  const all = { numbers: numbers(l) };
  if (dated.includes(l)) all.dates = dates(l);
  if (listed.includes(l)) all.lists = lists(l);
  if (dated.includes(l)) all.relative = relative(l);
  if (l === 'en-US') all.english = english();
  console.log(JSON.stringify(l) + ': ' + JSON.stringify(all) + ',');
}
console.log('"digits": ' + JSON.stringify(digits) + '\n}');
