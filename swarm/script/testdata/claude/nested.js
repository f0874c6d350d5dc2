// returns: {"one":{"r":"did child of pay","given":{"path":"pay"}},"two":{"r":"did child of nothing","given":null},"none":null}
export const meta = { name: 'nested', description: 'Calls another workflow' }

phase('Child')
const one = await workflow('child', { path: 'pay' })
const [two, none] = await parallel([() => workflow('child'), () => workflow('nobody-saved-it')])
return { one, two, none }
