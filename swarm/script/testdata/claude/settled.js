// returns: ["did good","rejected: true",null]
export const meta = { name: 'settled', description: 'Looks at each promise on its own' }

const jobs = await Promise.allSettled([agent('good'), agent('fail:schema no answer matched', { schema: { type: 'object' } }), agent('fail:killed gone')])
return jobs.map((j) => (j.status === 'fulfilled' ? j.value : `rejected: ${j.reason instanceof Error}`))
