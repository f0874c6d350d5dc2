// returns: {"error":"topic is missing","given":"undefined"}
export const meta = { name: 'args-missing', description: 'Stops without args' }

if (!args || typeof args !== 'object' || !args.topic) {
  log('usage: {topic}')
  return { error: 'topic is missing', given: typeof args }
}
return agent(args.topic)
