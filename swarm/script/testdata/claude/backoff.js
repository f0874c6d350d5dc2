// returns: {"r":"did third","i":2}
export const meta = { name: 'backoff', description: 'Tries again after a while' }

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const tries = ['fail:api_error busy', 'fail:api_error busy', 'third']
async function withRetry(attempts) {
  for (let i = 0; i < attempts; i++) {
    const r = await agent(tries[i], { label: `try ${i + 1}` })
    if (r !== null) return { r, i }
    log(`waiting ${2 ** i * 1000} ms`)
    await sleep(2 ** i * 1000)
  }
  throw new Error('all tries failed')
}
return await withRetry(3)
