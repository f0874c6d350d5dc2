// returns: {"f0.ts":true,"f1.ts":true,"f2.ts":true,"f3.ts":true,"f4.ts":true,"f5.ts":true,"f6.ts":true}
export const meta = { name: 'batches', description: 'Works through a list in batches' }

const files = Array.from({ length: 7 }, (_, i) => `f${i}.ts`)
const BATCH = 3
const done = []
for (let i = 0; i < files.length; i += BATCH) {
  const batch = files.slice(i, i + BATCH)
  phase(`Batch ${i / BATCH + 1}`)
  const r = await parallel(batch.map((f, j) => () => agent(`migrate ${f}`, { label: i + j, phase: `Batch ${i / BATCH + 1}` })))
  done.push(...r.map((x, j) => [batch[j], x !== null]))
}
return Object.fromEntries(done)
