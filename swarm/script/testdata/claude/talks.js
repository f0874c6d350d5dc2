// returns: 9
// logs: counts {"a":1} 2
// logs: [1,2]
// logs: odd
export const meta = { name: 'talks', description: 'Writes lines of many kinds' }

phase('Talk')
log('counts', { a: 1 }, 2)
console.log([1, 2])
console.error('odd', undefined, null)
console.warn(); console.info(true); console.debug(1.5)
phase(2)
return (await agent('hello')).length
