export const meta = {
  name: 'migration',
  description: 'Migrate a few files first, let a person look, then migrate the rest from what the first wave left',
  phases: [{ title: 'First wave' }, { title: 'Gate' }, { title: 'Second wave' }],
  args: {
    type: 'object',
    properties: {
      glob: { type: 'string' },
      guide: { type: 'string' },
      first: { type: 'integer', minimum: 1 },
    },
    required: ['glob', 'guide'],
    additionalProperties: false,
  },
}

const { glob, guide, first = 3 } = args
const files = await repo.files(glob)

const migrate = (wave, base) => std.sweep(wave, async ([file]) => {
  const work = await agent(`Migrate ${file}.\n\n${guide}`, { label: file, paths: [file], full: true, ...(base ? { base } : {}) })
  return work.status === 'completed' ? work : null
})

phase('First wave')
const pilot = await migrate(files.slice(0, first))
const trunk = await merge(pilot.results)
const tests = await check('test', { on: trunk })

phase('Gate')
const answer = await ask(
  `${trunk.applied.length} of ${Math.min(first, files.length)} files are migrated and the tests ${tests.ok ? 'pass' : 'FAIL'}. `
  + `Go on with the other ${Math.max(files.length - first, 0)}?`,
  { choices: ['go on', 'land these', 'stop'], default: 'stop', timeout: 24 * 60 * 60 * 1000 },
)
log(`the gate says: ${answer}`)
if (answer === 'stop') return { answer, landed: false, missed: pilot.missed }

let all = pilot.results
let missed = pilot.missed
if (answer === 'go on') {
  phase('Second wave')
  // The second wave sees the first one's work.
  const rest = await migrate(files.slice(first), trunk)
  all = [...all, ...rest.results]
  missed = [...missed, ...rest.missed]
}
const patches = all.filter((work) => work?.patch)
if (patches.length === 0) return { answer, landed: false, patches: 0, missed }
const landing = await land(patches, { verify: 'test' })
return { answer, landed: landing.landed, patches: patches.length, missed }
