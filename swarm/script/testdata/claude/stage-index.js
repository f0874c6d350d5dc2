// returns: {"list":["DID P0 OF P0","DID Q1 OF Q1","DID R2 OF R2"],"empty":[],"plain":[1,null,0],"chained":[{"a":4,"b":2,"item":2,"i":0}]}
export const meta = { name: 'stage-index', description: 'Stages with the item and its index' }

const list = await pipeline(['p', 'q', 'r'], (v, item, i) => `${v}${i}`, async (v, item, i) => (await agent(`${v} of ${item}`)) + i, (v) => v.toUpperCase())
const empty = await pipeline([], (x) => x)
const plain = await pipeline([1, undefined, 0], (x) => x)
const chained = await pipeline([2], (x) => x * 2, (x, item) => [x, item], ([a, b], item, i) => ({ a, b, item, i }))
return { list, empty, plain, chained }
