export const meta = {
  name: 'bug-hunt',
  description: 'Look for bugs round after round until nothing new comes, and keep what survives an attempt to refute it',
  phases: [{ title: 'Hunt' }, { title: 'Verify' }],
  args: {
    type: 'object',
    properties: {
      paths: { type: 'array', items: { type: 'string' }, minItems: 1 },
      rounds: { type: 'integer', minimum: 1 },
    },
    required: ['paths'],
    additionalProperties: false,
  },
}

const { paths, rounds = 10 } = args

const bugs = {
  type: 'object',
  properties: {
    bugs: {
      type: 'array',
      items: {
        type: 'object',
        properties: { where: { type: 'string' }, what: { type: 'string' } },
        required: ['where', 'what'],
        additionalProperties: false,
      },
    },
  },
  required: ['bugs'],
  additionalProperties: false,
}

phase('Hunt')
let hunt
try {
  hunt = await std.untilDry(async (n, seen) => {
    const found = await parallel(paths.map((path) => () => agent(
      `Round ${n}: find bugs in ${path} that are not known yet.\n\nKnown:\n${seen.map((b) => `- ${b.where}: ${b.what}`).join('\n')}`,
      { label: `${path} ${n}`, schema: bugs },
    )))
    // A round in which nobody answered says nothing of the bugs.
    if (found.every((f) => f === null)) return null
    return found.flatMap((f) => f?.bugs ?? [])
  }, { dry: 2, max: rounds, key: 'where', agentsPerRound: paths.length })
} catch (e) {
  if (e.code !== 'budget') throw e
  log(`the budget ended the hunt after ${e.rounds} rounds`)
  return { confirmed: [], unsure: e.found.map((b) => b.where), dry: false }
}
log(`${hunt.found.length} candidates after ${hunt.rounds} rounds`)

phase('Verify')
const checked = await pipeline(
  hunt.found,
  (bug) => std.verify(`${bug.where}: ${bug.what}`, { voters: 3, phase: 'Verify', label: bug.where }),
)
const those = (verdict) => hunt.found.filter((_, i) => (checked[i]?.verdict ?? 'unknown') === verdict).map((b) => b.where)
return { confirmed: those('held'), refuted: those('refuted'), unsure: those('unknown'), dry: hunt.dry }
