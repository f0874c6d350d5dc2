// returns: {"parsed":[{"a":1},null,{"error":true}],"strict":[null,null,null]}
export const meta = { name: 'parse-text', description: 'Digs JSON out of text' }

const texts = await parallel(['answer {"a": 1} end', 'no object here', 'broken {"a": end}'].map((p) => () => agent(p)))
const parsed = texts.map((t) => {
  const m = t && t.match(/\{[\s\S]*\}/)
  if (!m) return null
  try { return JSON.parse(m[0]) } catch (e) { return { error: e instanceof SyntaxError } }
})
const strict = await parallel(texts.map((t) => async () => JSON.parse(t)))
return { parsed, strict }
