// returns: {"size":3,"lines":2,"last":"b-c","big":1000000,"named":"did"}
export const meta = { name: 'helpers', description: 'Has helpers of many kinds' }

'use strict'
class Ledger {
  #rows = []
  static of(...rows) { const l = new Ledger(); rows.forEach((r) => l.add(r)); return l }
  add(row) { this.#rows.push(row); return this }
  get size() { return this.#rows.length }
  *[Symbol.iterator]() { yield* this.#rows }
}
const dedent = (s, ...v) => String.raw({ raw: s.map((x) => x.replace(/\n\s+/g, '\n')) }, ...v).trim()
function* pairs(list) { for (let i = 0; i + 1 < list.length; i++) yield [list[i], list[i + 1]] }
const ledger = Ledger.of('a', 'b').add('c')
const edges = [...pairs([...ledger])].map(([a, b]) => `${a}-${b}`)
outer: for (const e of edges) { for (const c of e) if (c === 'b') break outer }
const text = await agent(dedent`
    look at
    ${edges.join(', ')}`)
return { size: ledger.size, lines: text.split('\n').length, last: edges.at(-1), big: 1_000 ** 2, named: text.match(/^(?<verb>\w+)/)?.groups.verb }
