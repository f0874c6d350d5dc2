// returns: {"first":"did quick @20","none":[1,2]}
export const meta = { name: 'race-providers', description: 'Takes the first answer of several' }

const first = await Promise.any([agent('slow @90').then((r) => r ?? Promise.reject(new Error('none'))), agent('fail:killed x').then((r) => r ?? Promise.reject(new Error('none'))), agent('quick @20')])
const none = await Promise.any([Promise.reject(1), Promise.reject(2)]).catch((e) => e.errors)
return { first, none }
