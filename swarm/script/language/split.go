package language

import "github.com/dop251/goja"

// splitSource makes RegExp.prototype[Symbol.split]. That of the engine steps
// over halves of pairs where an expression with the flag v matches no text.
const splitSource = `(native) => {
	'use strict';
	const species = (rx) => {
		const c = rx.constructor;
		if (c === undefined) return RegExp;
		const s = c[Symbol.species];
		return s === undefined || s === null ? RegExp : s;
	};
	return { [Symbol.split](string, limit) {
		const flags = this !== null && typeof this === 'object' ? String(this.flags) : '';
		if (!flags.includes('v')) return native(this, string, limit);
		const s = String(string);
		const splitter = new (species(this))(this, flags.includes('y') ? flags : flags + 'y');
		const most = limit === undefined ? 2 ** 32 - 1 : limit >>> 0;
		if (most === 0) return [];
		const parts = [];
		if (s === '') return splitter.exec(s) === null ? [s] : parts;
		let begin = 0, at = 0;
		while (at < s.length) {
			splitter.lastIndex = at;
			const m = splitter.exec(s);
			const end = m === null ? at : Math.min(splitter.lastIndex, s.length);
			if (m === null || end === begin) {
				at += s.codePointAt(at) > 0xffff ? 2 : 1;
				continue;
			}
			parts.push(s.slice(begin, at));
			if (parts.length === most) return parts;
			for (let i = 1; i < m.length; i++) {
				parts.push(m[i]);
				if (parts.length === most) return parts;
			}
			begin = at = end;
		}
		parts.push(s.slice(begin));
		return parts;
	} }[Symbol.split];
}`

// split mends the splitting of texts by expressions with the flag v.
func (r *regexps) split() error {
	native, _ := goja.AssertFunction(r.proto.GetSymbol(goja.SymSplit))
	made, err := r.rt.RunString(splitSource)
	if err != nil {
		return err
	}
	f, _ := goja.AssertFunction(made)
	method, err := f(goja.Undefined(), r.rt.ToValue(func(call goja.FunctionCall) goja.Value {
		v, err := native(call.Argument(0), call.Argument(1), call.Argument(2))
		r.must(err)
		return v
	}))
	if err != nil {
		return err
	}
	return r.proto.DefineDataPropertySymbol(goja.SymSplit, method, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}
