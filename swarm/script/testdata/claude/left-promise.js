// returns: {"details":["did details"],"summary":{},"count":1}
// logs: warning: the return value.summary is a promise: an await is missing
export const meta = { name: 'left-promise', description: 'Forgets an await' }

const details = await parallel([() => agent('details')])
const summary = agent('summary')
return { details, summary, count: details.length }
