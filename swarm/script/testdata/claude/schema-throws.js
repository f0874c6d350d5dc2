// returns: {"first":{"ok":null},"inside":[null,{"ok":true}]}
export const meta = { name: 'schema-throws', description: 'Catches an answer that never matched' }

const S = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] }
let first
try {
  first = await agent('fail:schema ok is missing', { schema: S })
} catch (e) {
  log(`no structured answer: ${e.message}`)
  first = { ok: null }
}
const inside = await parallel([() => agent('fail:schema ok is missing', { schema: S }), () => agent('json:{"ok":true}', { schema: S })])
return { first, inside }
