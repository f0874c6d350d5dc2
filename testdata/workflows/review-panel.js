export const meta = {
  name: 'review-panel',
  description: 'Review a part of the repository from several sides, judge the findings, and write one report',
  phases: [{ title: 'Review' }, { title: 'Judge' }, { title: 'Report' }],
  args: {
    type: 'object',
    properties: {
      path: { type: 'string' },
      sides: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 8 },
      best: { type: 'integer', minimum: 1 },
    },
    required: ['path'],
    additionalProperties: false,
  },
}

const { path, sides = ['correctness', 'security', 'speed', 'tests'], best = 3 } = args

const findings = {
  type: 'object',
  properties: {
    findings: {
      type: 'array',
      items: {
        type: 'object',
        properties: { where: { type: 'string' }, what: { type: 'string' } },
        required: ['where', 'what'],
        additionalProperties: false,
      },
    },
  },
  required: ['findings'],
  additionalProperties: false,
}

phase('Review')
const reviews = await parallel(Object.fromEntries(sides.map((side) => [side, () => agent(
  `Review ${path} for ${side} only. Name the file and line of each finding.`,
  { label: side, agentType: 'Explore', schema: findings },
)])))

const all = sides.flatMap((side) => (reviews[side]?.findings ?? []).map((f) => ({ side, ...f })))
const silent = sides.filter((side) => reviews[side] === null)
if (silent.length > 0) log(`no review of ${silent.join(', ')}`)
if (all.length === 0) return { report: '', findings: [], silent }

phase('Judge')
let ranked = all
if (all.length > 1) {
  const panel = await std.judge(all, { criteria: ['it is true', 'it matters to users'], phase: 'Judge' })
  if (panel.missing.length < panel.judges) ranked = panel.ranking.map((i) => all[i])
}

phase('Report')
const report = await agent(
  `Write a short report for the authors of ${path} from these findings, the gravest first.\n\n`
  + ranked.slice(0, best).map((f) => `${f.where} (${f.side}): ${f.what}`).join('\n'),
  { label: 'report' },
)
return { report, findings: ranked.slice(0, best).map((f) => f.where), silent }
