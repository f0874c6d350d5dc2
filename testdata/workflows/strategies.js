const designs = [
  'an index that is built ahead',
  'one long prompt',
  'search with tools',
  'summaries of summaries',
  'a fine-tuned model',
]

const question = `
Could this design answer questions about our repository?

Design: {{DESIGN}}

Check first whether a hard limit rules it out: an answer takes at most 30
seconds, costs at most ten cents and names files and lines.

End with exactly one line:
VERDICT: BLOCKED
or
VERDICT: PROCEED
`.trim()

const handles = await Promise.all(designs.map((design) => sa.run({ prompt: question.replace('{{DESIGN}}', design) })))
const results = await Promise.all(handles.map((h) => sa.join(h.id)))

const looked = results.map((r, i) => {
  const output = r.output || ''
  const verdict = output.match(/VERDICT:\s*(BLOCKED|PROCEED)\b/i)?.[1]?.toUpperCase() || 'BLOCKED'
  return { design: designs[i], verdict, output }
})
const blocked = looked.filter((l) => l.verdict === 'BLOCKED')
const alive = looked.filter((l) => l.verdict === 'PROCEED')

const last = await sa.run({ prompt: `
Rank the designs that survived, and say in a line each what ruled out the others.

Survived:
${alive.map((a) => `\n## ${a.design}\n${a.output}`).join('\n')}

Ruled out:
${blocked.map((b) => `\n## ${b.design}\n${b.output}`).join('\n')}
`.trim() })
const answer = await sa.join(last.id)

return answer.output
