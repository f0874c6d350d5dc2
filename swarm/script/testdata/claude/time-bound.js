// returns: {"fast":"did fast @10","slow":"late"}
export const meta = { name: 'time-bound', description: 'Does not wait for the slow one' }

function withTimeout(promise, ms, fallback) {
  let timer
  const late = new Promise((resolve) => { timer = setTimeout(() => resolve(fallback), ms) })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
const [fast, slow] = await Promise.all([withTimeout(agent('fast @10'), 100, 'late'), withTimeout(agent('slow @500'), 100, 'late')])
return { fast, slow }
