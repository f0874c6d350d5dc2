// returns: {"all":300,"alive":257,"first":1}
export const meta = { name: 'wide', description: 'Three hundred at once' }

const out = await parallel(Array.from({ length: 300 }, (_, i) => () => agent(i % 7 === 0 ? `fail:killed ${i}` : `w${i}`, { label: `w${i}` })))
return { all: out.length, alive: out.filter(Boolean).length, first: out.findIndex(Boolean) }
