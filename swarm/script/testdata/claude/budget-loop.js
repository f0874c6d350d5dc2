// returns: {"n":2,"spent":60}
// budget: 100
export const meta = { name: 'budget-loop', description: 'Works while tokens are left' }

const out = []
while (budget.remaining() > 40) {
  out.push(await agent(`spend:30 ${out.length}`))
  log(`${Math.round(budget.remaining() / budget.total * 100)}% left`)
}
return { n: out.length, spent: budget.spent() }
