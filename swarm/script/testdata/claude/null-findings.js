// returns: {"lists":[2,null,0],"sum":2}
// logs: parallel: item 1 is null: TypeError
export const meta = { name: 'null-findings', description: 'Reads a property of an answer that is null' }

const LIST = { type: 'object', properties: { findings: { type: 'array' } } }
const lists = await parallel([
  async () => (await agent('one json:{"findings":[1,2]}', { schema: LIST })).findings.length,
  async () => (await agent('fail:killed gone', { schema: LIST })).findings.length,
  async () => (await agent('three json:{"findings":[]}', { schema: LIST })).findings.length,
])
return { lists, sum: lists.filter((n) => n !== null).reduce((a, b) => a + b, 0) }
