// returns: [{"claim":"two","alive":2}]
export const meta = { name: 'majority-vote', description: 'Three sceptics for each claim' }

const VERDICT = { type: 'object', properties: { refuted: { type: 'boolean' } }, required: ['refuted'] }
const claims = ['one', 'two']
const votes = { one: ['true', 'false', 'true'], two: ['false', null, 'false'] }
const judged = await pipeline(claims, async (claim) => {
  const answers = await parallel(votes[claim].map((v, i) => () =>
    agent(v === null ? 'fail:killed gone' : `refute ${claim} ${i} json:{"refuted":${v}}`, { schema: VERDICT, label: `${claim} ${i + 1}/3` })))
  const alive = answers.filter(Boolean)
  return { claim, alive: alive.length, survives: alive.filter((a) => !a.refuted).length > alive.length / 2 }
})
return judged.filter((j) => j.survives).map(({ claim, alive }) => ({ claim, alive }))
