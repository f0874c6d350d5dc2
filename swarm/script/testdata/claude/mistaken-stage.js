// returns: ["a: did a",null,null]
// logs: pipeline: item 1 is null: ReferenceError: normalise is not defined
// logs: pipeline: item 2 is null: TypeError
export const meta = { name: 'mistaken-stage', description: 'Has mistakes that only some items meet' }

const out = await pipeline(
  [{ name: 'a' }, { name: 'b', odd: true }, { bad: true }],
  (item) => (item.odd ? normalise(item) : agent(item.name.trim())),
  (text, item) => `${item.name}: ${text}`,
)
return out
