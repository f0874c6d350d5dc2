// returns: ["x1","x2","y1","y2"]
export const meta = { name: 'nested-fanout', description: 'A stage that fans out by itself' }

const dims = ['x', 'y']
const verified = await pipeline(
  dims,
  (d) => agent(`list ${d} json:{"items":["${d}1","${d}2"]}`, { schema: { type: 'object', properties: { items: { type: 'array' } } } }),
  (list, d) => parallel(list.items.map((item) => () => agent(`check ${item}`, { label: `${d}/${item}` }).then((v) => ({ item, v })))),
  (checked) => checked.filter(Boolean).map((c) => c.item),
)
return verified.flat()
