// returns: {"best":"users first","rest":[5,3]}
export const meta = { name: 'judge-panel', description: 'Drafts, scores, the best one' }

const SCORE = { type: 'object', properties: { score: { type: 'number' } }, required: ['score'] }
const angles = ['risk first', 'users first', 'smallest change']
const drafts = (await parallel(angles.map((a) => () => agent(`draft ${a}`)))).map((text, i) => ({ text, angle: angles[i] }))
const scored = await Promise.all(drafts.map(async (d, i) => ({ ...d, ...(await agent(`score json:{"score":${[3, 9, 5][i]}}`, { schema: SCORE })) })))
scored.sort((a, b) => b.score - a.score)
const [best, ...rest] = scored
return { best: best.angle, rest: rest.map((r) => r.score) }
