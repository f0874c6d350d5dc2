// returns: {"reviews":["did find bugs",null,"did find style faults"],"report":"did sum up 2"}
export const meta = {
  name: 'review-fanout',
  description: 'Review each dimension, then put the findings together',
  phases: [{ title: 'Review', detail: 'one agent per dimension' }, { title: 'Report' }],
}

const DIMENSIONS = [
  { key: 'bugs', prompt: 'find bugs' },
  { key: 'perf', prompt: 'fail:killed out of memory' },
  { key: 'style', prompt: 'find style faults' },
]

phase('Review')
const reviews = await parallel(DIMENSIONS.map((d) => () => agent(d.prompt, { label: `review:${d.key}`, phase: 'Review' })))
const found = reviews.filter(Boolean)
log(`${found.length}/${DIMENSIONS.length} reviewers answered`)
phase('Report')
const report = await agent(`sum up ${found.length}`, { label: 'report' })
return { reviews, report }
