const scouts = await Promise.all([
  run({ prompt: 'Look for risks in how we handle money' }),
  run({ prompt: 'Look for risks in how we store data' }),
  run({ prompt: 'Look for risks in what users see' }),
])

try {
  // All of it within 15 seconds, or none.
  return (await Promise.all(scouts.map((s) => join(s.id, { timeout: 15000 })))).map((r) => r.output)
} catch (late) {
  if (late.code !== 'timeout') throw late
  await Promise.all(scouts.map((s) => cancel(s.id)))
  throw new Error(`The scan took too long: ${sa.list().map((s) => s.status).join(', ')}.`)
}
