// returns: {"include":["**"],"rest":{"depth":2},"twice":["did scan **"]}
// args: null
export const meta = { name: 'default-args', description: 'Gives args a default', }

args = args ?? {}
const cfg = { depth: 2, ...args }
const { include = ['**'], ...rest } = cfg
return { include, rest, twice: await Promise.all(include.map((g) => agent(`scan ${g}`))) }
