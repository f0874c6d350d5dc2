export const meta = {
  name: 'race-fixers',
  description: 'Three agents fix a failing test in three ways; the first patch that passes wins, the others are stopped',
  phases: [{ title: 'Fix' }, { title: 'Land' }],
  args: {
    type: 'object',
    properties: { failure: { type: 'string' }, check: { type: 'string' } },
    required: ['failure'],
    additionalProperties: false,
  },
}

const command = args.check ?? 'test'
const now = await check(command)
if (now.ok) return { fixed: false, why: 'nothing fails' }

phase('Fix')
const ways = {
  smallest: 'with the smallest change that is right',
  cause: 'by finding the cause first; say what it is before you change anything',
  test: 'by writing a smaller failing test first',
}
const winner = await race(Object.fromEntries(Object.entries(ways).map(([name, how]) => [name, () => agent(
  `Fix this failure ${how}.\n\n${args.failure}\n\n${now.stdout}${now.stderr}`,
  { label: name, full: true, limits: { ms: 30 * 60 * 1000 } },
)])), {
  // Nobody pays a model to say whether the tests pass.
  accept: async (result) => result.patch !== undefined && (await check(command, { on: result })).ok,
})
if (winner === null) return { fixed: false, why: failures().at(-1)?.message }

phase('Land')
const landing = await land([winner], { verify: command })
return {
  fixed: landing.landed,
  by: winner.label,
  lines: winner.patch.stat.added + winner.patch.stat.deleted,
  stopped: sa.list().filter((a) => a.status === 'cancelled').map((a) => a.label),
}
