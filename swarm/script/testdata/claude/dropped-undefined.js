// returns: {"out":[{"prev":true,"item":1},{"prev":true,"item":2}],"seen":[1,2],"hole":[null,null]}
export const meta = { name: 'dropped-undefined', description: 'A stage that only does something' }

const seen = []
const out = await pipeline([1, 2], (n) => { seen.push(n) }, (prev, item) => ({ prev: prev === undefined, item }))
return { out, seen, missing: undefined, hole: [undefined, null] }
