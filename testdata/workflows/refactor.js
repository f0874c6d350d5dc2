export const meta = {
  name: 'refactor',
  description: 'Replace a call everywhere, a package at a time, check each, and land what passes',
  whenToUse: 'A mechanical change that touches many packages and has tests',
  phases: [{ title: 'Refactor' }, { title: 'Land' }],
  args: {
    type: 'object',
    properties: {
      from: { type: 'string', minLength: 1 },
      to: { type: 'string', minLength: 1 },
      tries: { type: 'integer', minimum: 1, maximum: 5 },
    },
    required: ['from', 'to'],
    additionalProperties: false,
  },
}

const { from, to, tries = 2 } = args
const folder = (path) => path.slice(0, Math.max(path.lastIndexOf('/'), 0)) || '.'

const hits = await repo.grep(from, '**/*.go')
const packages = [...new Set(hits.map((hit) => folder(hit.path)))]
if (packages.length === 0) return { packages: 0, landed: false, why: `nothing calls ${from}` }
log(`${hits.length} lines in ${packages.length} packages call ${from}`)

phase('Refactor')
const done = await parallel(packages.map((dir) => async () => {
  // A patch is a change of what its agent began from: all of them land.
  const patches = []
  let said = ''
  for (let n = 1; n <= tries; n++) {
    const lines = hits.filter((hit) => folder(hit.path) === dir)
    const work = await agent(
      `Replace ${from} by ${to} in ${dir}. Keep what it does.\n`
      + lines.map((hit) => `${hit.path}:${hit.line}: ${hit.text.trim()}`).join('\n')
      + (said ? `\n\nThe tests failed:\n${said}` : ''),
      { label: n === 1 ? dir : `${dir} again`, base: patches.at(-1), paths: [`${dir}/**`], full: true },
    )
    if (work.status !== 'completed' || !work.patch) return { dir, ok: false, why: work.error?.message ?? 'changed nothing' }
    patches.push(work.patch)
    const tests = await check('test', { on: work })
    if (tests.ok) return { dir, ok: true, patches }
    said = tests.stdout + tests.stderr
  }
  return { dir, ok: false, why: 'the tests still fail' }
}))

phase('Land')
const good = done.filter((d) => d?.ok)
const left = packages.flatMap((dir, i) => (done[i]?.ok ? [] : [{ dir, why: done[i]?.why ?? 'failed' }]))
if (good.length === 0) return { packages: packages.length, landed: false, left }
const landing = await land(good.flatMap((d) => d.patches), { verify: 'test' })
return {
  packages: packages.length,
  landed: landing.landed,
  done: good.map((d) => d.dir),
  left,
  conflicts: landing.conflicts.flatMap((c) => c.paths),
  why: landing.reason,
}
