// returns: undefined
export const meta = { name: 'no-return', description: 'Works and returns nothing' }

phase('Work')
await agent('do it')
log('done')
