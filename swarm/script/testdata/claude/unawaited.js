// returns: "did second @50"
// logs: nowhere is not defined
export const meta = { name: 'unawaited', description: 'Leaves a promise alone that fails' }

;(async () => { await agent('first'); nowhere() })()
const r = await agent('second @50')
return r
