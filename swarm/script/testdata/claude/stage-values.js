// returns: {"out":[null,["undefined",1],null,["object",3],null,["number",5],null],"seen":["a1","a2","a3","a5","a6","b1","b3","b5"],"bare":[1,null,null,2]}
// logs: pipeline: item 4 is null: no
export const meta = { name: 'stage-values', description: 'Items and stages that give null, undefined and promises' }

// null skips the stages, also as an item. undefined goes on. A promise is
// waited for before the first stage, which has its value.
const seen = []
const late = Promise.reject(new Error('no'))
late.catch(() => {})
const out = await pipeline(
  [null, 1, 2, 3, late, Promise.resolve(5), 6],
  (v) => { seen.push('a' + v); return { 1: undefined, 2: null, 3: {}, 5: v, 6: null }[v] },
  async (v, item) => { seen.push('b' + await item); return [typeof v, await item] },
)
const bare = await pipeline([1, null, undefined, Promise.resolve(2)])
return { out, seen: seen.sort(), bare }
