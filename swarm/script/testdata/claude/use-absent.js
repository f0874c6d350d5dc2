// returns: {"pages":[null,"did read it"],"home":"ReferenceError"}
// logs: parallel: item 0 is null: ReferenceError: fetch is not defined: a script has no network
export const meta = { name: 'use-absent', description: 'Uses what is not there, and goes on' }

const pages = await parallel([() => fetch('https://example.com').then((r) => r.text()), () => agent('read it')])
let home = 'none'
try { home = process.env.HOME } catch (e) { home = e.name }
return { pages, home }
