// Intl.Segmenter. Graphemes are the same in all languages. Words and sentences
// follow the rules of Unicode; where a language needs a dictionary or rules of its
// own, they are refused.
(kit) => {
  'use strict';

  const { option, optionsOf, canonicalList, resolvedTag, intlClass, segments } = kit;
  const { create, defineProperty } = Object;
  const dictionary = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;

  const setup = (locales, given) => {
    if (given !== undefined && typeof given !== 'object' && typeof given !== 'function') throw new TypeError('Incorrect options');
    const options = optionsOf(given);
    const locale = canonicalList(locales)[0] ?? 'en-US';
    const s = { locale, granularity: option(options, 'granularity', ['grapheme', 'word', 'sentence'], 'grapheme') };
    if (s.granularity !== 'grapheme' && !/^(?:en|de|fr|es|it|pt|nl|pl)\b/.test(locale)) {
      throw new RangeError(`Intl.Segmenter: granularity ${s.granularity} is not there for ${locale}: use en`);
    }
    return s;
  };

  // all lists the segments of a text once.
  const all = (state) => {
    if (state.list !== undefined) return state.list;
    const { input, granularity } = state;
    if (granularity === 'word' && dictionary.test(input)) {
      throw new RangeError('Intl.Segmenter: words of Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese are not there: they need a dictionary');
    }
    let index = 0;
    state.list = [];
    for (const length of segments(input, granularity)) {
      const end = index + Math.abs(length);
      const found = { segment: input.slice(index, end), index, input };
      if (granularity === 'word') found.isWordLike = length < 0;
      state.list.push(found);
      index = end;
    }
    return state.list;
  };

  const states = new WeakMap();
  const stateOf = (o) => {
    const s = states.get(o);
    if (s === undefined) throw new TypeError('a method of segments is called on another object');
    return s;
  };
  const iterators = create(Iterator.prototype);
  defineProperty(iterators, 'next', { value: { next() {
    const s = stateOf(this);
    const list = all(s.of);
    return s.at < list.length ? { value: { ...list[s.at++] }, done: false } : { value: undefined, done: true };
  } }.next, writable: true, enumerable: false, configurable: true });
  defineProperty(iterators, Symbol.toStringTag, { value: 'Segmenter String Iterator', configurable: true });
  const prototype = {};
  const methods = {
    containing(at) {
      const s = stateOf(this);
      const n = Math.trunc(Number(at)) || 0;
      const found = all(s).find(({ index, segment }) => n >= index && n < index + segment.length);
      return found === undefined ? undefined : { ...found };
    },
    [Symbol.iterator]() {
      const made = create(iterators);
      states.set(made, { of: stateOf(this), at: 0 });
      return made;
    },
  };
  for (const key of ['containing', Symbol.iterator]) {
    defineProperty(prototype, key, { value: methods[key], writable: true, enumerable: false, configurable: true });
  }

  const Segmenter = intlClass('Segmenter', setup, {
    segment: (s, text) => {
      const made = create(prototype);
      states.set(made, { input: `${text}`, granularity: s.granularity });
      return made;
    },
    resolvedOptions: (s) => ({ locale: resolvedTag(s.locale), granularity: s.granularity }),
  }, false);

  return { Segmenter };
}
