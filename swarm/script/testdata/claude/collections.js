// returns: {"byFile":{"b.js":[3,9],"a.js":[1]},"keys":["a.js:1","b.js:3","b.js:9"],"raw":{},"files":2}
export const meta = { name: 'collections', description: 'Groups by maps and sets' }

const FINDING = { type: 'object', properties: { file: { type: 'string' }, line: { type: 'number' } } }
const found = await parallel([['b.js', 3], ['a.js', 1], ['b.js', 9], ['a.js', 1]].map(([file, line]) => () =>
  agent(`find json:${JSON.stringify({ file, line })}`, { schema: FINDING })))
const unique = new Map(found.filter(Boolean).map((f) => [`${f.file}:${f.line}`, f]))
const byFile = {}
for (const f of unique.values()) (byFile[f.file] ??= []).push(f.line)
return { byFile, keys: [...unique.keys()].sort(), raw: unique, files: new Set(Object.keys(byFile)).size }
