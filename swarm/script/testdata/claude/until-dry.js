// returns: {"bugs":["a","b","c"],"round":4,"dry":2}
export const meta = { name: 'until-dry', description: 'Look until two rounds bring nothing new' }

const BUGS = { type: 'object', required: ['bugs'], properties: { bugs: { type: 'array', items: { type: 'string' } } } }
const rounds = [['a', 'b'], ['b', 'c'], ['c'], ['a']]
const seen = new Set()
let dry = 0
let round = 0
while (dry < 2 && round < rounds.length) {
  const r = await agent(`round ${round}: json:${JSON.stringify({ bugs: rounds[round] })}`, { schema: BUGS, label: `round ${++round}` })
  const fresh = (r?.bugs ?? []).filter((b) => !seen.has(b))
  fresh.forEach((b) => seen.add(b))
  dry = fresh.length === 0 ? dry + 1 : 0
}
return { bugs: [...seen].sort(), round, dry }
