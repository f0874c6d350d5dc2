// returns: {"results":[{"file":"a.js","verdict":"did verify DID A.JS","length":19},null,{"file":"c.js","verdict":"did verify DID C.JS","length":19}],"ran":["verify 0","verify 2","fix 0","fix 2"]}
export const meta = { name: 'pipeline-verify', description: 'Find, verify, fix: each file on its own', phases: [{ title: 'Find' }, { title: 'Verify' }, { title: 'Fix' }] }

const files = ['a.js', 'fail:api_error overloaded', 'c.js']
const ran = []
const results = await pipeline(
  files,
  (file) => agent(file, { phase: 'Find', label: `find:${file}` }),
  (finding, file, i) => {
    ran.push(`verify ${i}`)
    return agent(`verify ${finding.toUpperCase()}`, { phase: 'Verify' })
  },
  (verdict, file, i) => {
    ran.push(`fix ${i}`)
    return { file, verdict, length: verdict.length }
  },
)
return { results, ran }
