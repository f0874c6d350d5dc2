// returns: {"has":{"process":"no","require":"no","fetch":"no","crypto":"no","performance":"no","interval":"undefined","timeout":"function","module":"undefined","own":false},"cwd":".","answer":"did in ."}
export const meta = { name: 'runtime-probe', description: 'Asks what the runtime has before it uses it' }

const has = {
  process: typeof process !== 'undefined' && process.env ? 'yes' : 'no',
  require: typeof require === 'function' ? 'yes' : 'no',
  fetch: typeof fetch === 'undefined' ? 'no' : 'yes',
  crypto: globalThis.crypto?.randomUUID ? 'yes' : 'no',
  performance: typeof performance !== 'undefined' ? performance.now() : 'no',
  interval: typeof setInterval,
  timeout: typeof setTimeout,
  module: typeof module,
  own: 'process' in globalThis,
}
const cwd = typeof process === 'object' ? process.cwd() : args?.cwd ?? '.'
return { has, cwd, answer: await agent(`in ${cwd}`) }
