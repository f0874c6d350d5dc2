// returns: ["did first","did second","did third"]
// logs: meta has no key "version"
// logs: meta has no key "tags"
// logs: unknown option "temperature"; it is passed over
// logs: unknown option "lable"; did you mean "label"?
export const meta = { name: 'Loose options: as models write them', description: 'Keys that nobody knows',
   version: '1.0', tags: ['x'], phases: [{ title: 'Only', goal: 'something' }] }

const cheap = false
const a = await agent('first', { label: 1, model: '', effort: undefined, isolation: false, schema: null, temperature: 0.2, maxTokens: 100 })
const b = await agent('second', { lable: 'x', model: cheap && 'haiku', phase: 2, agentType: '', tools: ['Read', 'Grep'].join(), timeout: 5000 })
const c = await agent('third', { label: ['a', 'b'], description: 'a third one', subagent_type: 'general-purpose', run_in_background: true })
return [a, b, c]
