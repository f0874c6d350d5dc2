// returns: {"out":["did part 0","did part 1"],"total":null,"spent":0,"left":"Infinity"}
export const meta = { name: 'no-budget', description: 'Scales with the budget, of which there is none' }

const fleet = budget.total ? Math.floor(budget.total / 100_000) : 2
const out = []
while (budget.total && budget.remaining() > 50_000) out.push(await agent('more'))
for (let i = 0; i < fleet; i++) out.push(await agent(`part ${i}`))
return { out, total: budget.total, spent: budget.spent(), left: String(budget.remaining()) }
