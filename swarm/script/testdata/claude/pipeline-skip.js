// returns: {"out":[{"id":1,"prev":"did commit 1"},null,{"id":3,"prev":"did commit 3"}],"triaged":2,"kept":2}
export const meta = { name: 'pipeline-skip', description: 'A stage drops what needs no work by null' }

const items = [{ id: 1, commit: true }, { id: 2, commit: false }, { id: 3, commit: true }]
let triaged = 0
const out = await pipeline(
  items,
  (item) => (item.commit ? agent(`commit ${item.id}`) : Promise.resolve(null)),
  (prev, item) => {
    triaged++
    return { id: item.id, prev }
  },
)
return { out, triaged, kept: out.filter(Boolean).length }
