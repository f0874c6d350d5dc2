// returns: ["did look at src 1","did look at lib 1"]
// args: "{\"paths\": [\"src\", \"lib\"]}"
export const meta = { name: 'args-text', description: 'Takes args as text too', whenToUse: 'When paths are to be looked at' }

let input = args
if (typeof input === 'string') {
  try { input = JSON.parse(input) } catch { input = { paths: input.split(',') } }
}
const { paths = ['.'], depth = 1 } = input ?? {}
return await parallel(paths.map((p) => () => agent(`look at ${p} ${depth}`)))
