// Intl.DateTimeFormat, and how dates write themselves.
(kit) => {
  'use strict';

  const { noRanges, resolve, option, numberOption, optionsOf, refuseOptions, filled, joined, intlClass, zoneOffset, zoneName } = kit;
  const { getTime } = Date.prototype;

  const dateFields = ['weekday', 'year', 'month', 'day'];
  const timeFields = ['hour', 'minute', 'second', 'fractionalSecondDigits'];
  const dateSetup = (locales, given, required = 'any', defaults = 'date') => {
    const options = optionsOf(given);
    const { locale, data } = resolve(locales, 'Intl.DateTimeFormat', (d) => d.dates !== undefined);
    refuseOptions('Intl.DateTimeFormat', options, ['calendar', 'gregory'], ['numberingSystem', 'latn'], ['era', 'undefined'], ['dayPeriod', 'undefined']);
    const s = { locale, dates: data.dates };
    const styles = ['full', 'long', 'medium', 'short'];
    s.timeZone = options.timeZone === undefined ? 'UTC' : zoneName(String(options.timeZone));
    s.weekday = option(options, 'weekday', ['narrow', 'short', 'long']);
    s.year = option(options, 'year', ['2-digit', 'numeric']);
    s.month = option(options, 'month', ['2-digit', 'numeric', 'narrow', 'short', 'long']);
    s.day = option(options, 'day', ['2-digit', 'numeric']);
    for (const f of ['hour', 'minute', 'second']) s[f] = option(options, f, ['2-digit', 'numeric']);
    s.fractionalSecondDigits = numberOption(options.fractionalSecondDigits, 'fractionalSecondDigits', 1, 3);
    s.timeZoneName = option(options, 'timeZoneName', ['short', 'long', 'shortOffset', 'longOffset', 'shortGeneric', 'longGeneric']);
    if (s.timeZoneName !== undefined && !/^short$|Offset$/.test(s.timeZoneName)) throw new RangeError('Intl.DateTimeFormat: the option timeZoneName is there as short, shortOffset and longOffset only');
    s.dateStyle = option(options, 'dateStyle', styles);
    s.timeStyle = option(options, 'timeStyle', styles);
    const cycle = option(options, 'hourCycle', ['h11', 'h12', 'h23', 'h24']);
    const { hour12 } = options;
    s.cycle = hour12 !== undefined ? (hour12 ? 'h12' : 'h23') : cycle ?? (s.dates.hour12 ? 'h12' : 'h23');
    const has = (list) => list.some((f) => s[f] !== undefined);
    if (s.dateStyle !== undefined || s.timeStyle !== undefined) {
      for (const f of [...dateFields, ...timeFields, 'timeZoneName']) {
        if (s[f] !== undefined) throw new TypeError(`Can't set option ${f} when ${s.dateStyle === undefined ? 'timeStyle' : 'dateStyle'} is used`);
      }
      if ((required === 'date' && s.timeStyle !== undefined) || (required === 'time' && s.dateStyle !== undefined)) {
        throw new TypeError('Invalid option : ' + (required === 'date' ? 'timeStyle' : 'dateStyle'));
      }
      if (s.timeStyle === 'full' && !(s.timeZone === 'UTC' && /^en/.test(locale))) throw new RangeError('Intl.DateTimeFormat: timeStyle full is there in English and UTC only: use long');
      return s;
    }
    const given2 = (required !== 'time' && has(dateFields)) || (required !== 'date' && has(timeFields));
    if (!given2 && defaults !== 'time') s.year = s.month = s.day = 'numeric';
    if (!given2 && defaults !== 'date') s.hour = s.minute = s.second = 'numeric';
    return s;
  };

  const shortOf = (v) => (v === undefined ? '-' : v === 'narrow' ? 'w' : v[0]);
  const datePattern = (s) => {
    if (s.dateStyle !== undefined) return s.dates.styles['d' + s.dateStyle];
    return s.dates.patterns[dateFields.map((f) => shortOf(s[f])).join('')];
  };
  const timePattern = (s) => {
    const half = s.cycle === 'h11' || s.cycle === 'h12';
    const key = half ? 'h12' : 'h23';
    if (s.timeStyle !== undefined) {
      if (half === s.dates.hour12) return s.dates.styles['t' + s.timeStyle];
      return s.dates.times[key + { short: 'n2-', medium: 'n22', long: 'n22z', full: 'n22z' }[s.timeStyle]];
    }
    const fields = [s.hour, s.minute, s.second ?? (s.fractionalSecondDigits === undefined ? undefined : 'numeric')];
    if (fields.every((f) => f === undefined)) return undefined;
    return s.dates.times[key + fields.map(shortOf).join('') + (s.timeZoneName === undefined ? '' : 'z')];
  };
  const glueOf = (s) => {
    if (s.dateStyle !== undefined) return s.dates.styles[s.dateStyle + s.timeStyle];
    const { glues } = s.dates;
    if (s.month === 'long') return s.weekday === undefined ? glues.long : glues.full;
    return s.month === 'short' ? glues.short : glues.number;
  };
  const patternOf = (s) => {
    const date = datePattern(s);
    const time = timePattern(s);
    if (date !== undefined && time !== undefined && s.dateStyle === undefined && s.day === undefined) {
      throw new RangeError('Intl.DateTimeFormat: a date beside an hour wants a day');
    }
    if (date !== undefined && time !== undefined) return glueOf(s).replace('{0}', () => date).replace('{1}', () => time);
    if (time === undefined && s.timeZoneName !== undefined) throw new RangeError('Intl.DateTimeFormat: timeZoneName is there beside an hour only');
    return date ?? time;
  };

  const two = (n) => String(n).padStart(2, '0');
  // offsetText is how far a zone is ahead: GMT+1, or GMT+01:00. Local mean times
  // have seconds.
  const offsetText = (s, offset, long) => {
    const [seconds, language] = [Math.abs(offset), s.locale.slice(0, 2)];
    const [h, m, sec] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
    const minus = language === 'fr' || language === 'sv' ? '\u2212' : '-';
    return (language === 'fr' ? 'UTC' : 'GMT') + (offset < 0 ? minus : '+') + (long ? two(h) : h) + (long || m > 0 || sec > 0 ? ':' + two(m) : '') + (sec > 0 ? ':' + two(sec) : '');
  };
  const zoneText = (s, offset) => {
    if (s.timeZoneName !== undefined && s.timeZoneName !== 'short') return offsetText(s, offset, s.timeZoneName === 'longOffset');
    if (s.timeZone === 'UTC') return s.timeStyle === 'full' ? 'Coordinated Universal Time' : 'UTC';
    if (!/^(?:[+-]|Etc\/)/.test(s.timeZone)) throw new RangeError('Intl.DateTimeFormat: the name of a zone is there for UTC and for offsets only: use shortOffset');
    return offset === 0 && !/^(?:de|fr|it|pt)/.test(s.locale) ? 'GMT' : offsetText(s, offset, false);
  };
  const timeOf = (value) => {
    if (value === undefined) return new Date().getTime(); // the clock is closed: it throws
    let ms;
    try {
      ms = getTime.call(value);
    } catch {
      ms = Number(value);
    }
    if (!(Math.abs(ms) <= 8.64e15)) throw new RangeError('Invalid time value');
    return Math.trunc(ms);
  };
  const dateParts = (s, value) => {
    const ms = timeOf(value);
    const offset = zoneOffset(s.timeZone, ms);
    const d = new Date(ms + offset * 1000);
    const year = d.getUTCFullYear();
    const [month, day, weekday, hour] = [d.getUTCMonth(), d.getUTCDate(), d.getUTCDay(), d.getUTCHours()];
    if (year < 1) throw new RangeError('Intl.DateTimeFormat: years before 1 are not there: use toISOString()');
    const hours = { h11: hour % 12, h12: hour % 12 || 12, h23: hour, h24: hour || 24 }[s.cycle];
    const numbers = {
      y: ['year', String(year)], yy: ['year', two(year % 100)], M: ['month', String(month + 1)], MM: ['month', two(month + 1)],
      d: ['day', String(day)], dd: ['day', two(day)], h: ['hour', String(hours)], hh: ['hour', two(hours)],
      m: ['minute', String(d.getUTCMinutes())], mm: ['minute', two(d.getUTCMinutes())],
      s: ['second', String(d.getUTCSeconds())], ss: ['second', two(d.getUTCSeconds())],
    };
    return filled(patternOf(s), (name) => {
      if (name === 'a') return { type: 'dayPeriod', value: s.dates.halves[hour < 12 ? 0 : 1] };
      if (name === 'z') return { type: 'timeZoneName', value: zoneText(s, offset) };
      if (numbers[name] === undefined) {
        const list = s.dates.names[name];
        return list.length === 12 ? { type: 'month', value: list[month] } : { type: 'weekday', value: list[weekday] };
      }
      const [type, text] = numbers[name];
      if (type !== 'second' || s.fractionalSecondDigits === undefined) return { type, value: text };
      const fraction = String(d.getUTCMilliseconds()).padStart(3, '0').slice(0, s.fractionalSecondDigits);
      return [{ type, value: text }, { type: 'literal', value: s.dates.point }, { type: 'fractionalSecond', value: fraction }];
    });
  };
  // In a whole text browsers and node write the narrow space as a plain one.
  const dateText = (s, value) => joined(dateParts(s, value)).replaceAll('\u202f', ' ');
  const resolvedDate = (s) => {
    const out = { locale: s.locale, calendar: 'gregory', numberingSystem: 'latn', timeZone: s.timeZone };
    if (timePattern(s) !== undefined && (s.hour !== undefined || s.timeStyle !== undefined)) {
      out.hourCycle = s.cycle;
      out.hour12 = s.cycle === 'h11' || s.cycle === 'h12';
    }
    for (const f of [...dateFields, ...timeFields, 'timeZoneName', 'dateStyle', 'timeStyle']) if (s[f] !== undefined) out[f] = s[f];
    return out;
  };
  const DateTimeFormat = intlClass('DateTimeFormat', (l, o) => dateSetup(l, o), {
    format: dateText,
    formatToParts: (s, value) => dateParts(s, value),
    ...noRanges('DateTimeFormat'),
    resolvedOptions: resolvedDate,
  }, true);
  const localeDate = (required, defaults, name) => ({ [name](locales, options) {
    const ms = getTime.call(this);
    const s = dateSetup(locales, options, required, defaults);
    return ms !== ms ? 'Invalid Date' : dateText(s, ms);
  } }[name]);

  return { DateTimeFormat, localeDate };
}
