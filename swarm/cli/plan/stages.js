export const meta = {
  name: 'stages',
  description: 'a planner, an implementer and a reviewer, each in a conversation of its own',
  phases: [{ title: 'planner' }, { title: 'implementer' }, { title: 'reviewer' }],
}

return std.stages(args.task, { rounds: ROUNDS })
