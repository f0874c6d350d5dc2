// returns: [null,null,null,"did fine",null]
// logs: parallel: item 0 is null: not today
// logs: parallel: item 1 is null: plain text
// logs: parallel: item 2 is null: {"code":7}
export const meta = { name: 'thrown-values', description: 'Throws what it likes' }

const out = await parallel([
  () => { throw new Error('not today') },
  async () => { throw 'plain text' },
  () => Promise.reject({ code: 7 }),
  () => agent('fine'),
  () => undefined,
])
return out
