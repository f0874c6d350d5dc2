// returns: {"stamp":1767323045000,"dice":0.5,"times":[null,null,"2026-01-02"]}
// args: {"now": "2026-01-02T03:04:05Z"}
export const meta = { name: 'clock', description: 'Falls back where the clock is closed' }

const stamp = () => { try { return Date.now() } catch { return new Date(args.now).getTime() } }
const dice = () => { try { return Math.random() } catch { return 0.5 } }
const times = await parallel([() => Date.now(), () => new Date().toISOString(), () => new Date(args.now).toISOString().slice(0, 10)])
return { stamp: stamp(), dice: dice(), times }
