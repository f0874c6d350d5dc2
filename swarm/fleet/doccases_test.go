package fleet

// exampleCases are the cases for the examples of docs/workflows.md that need
// more than [anything], with their expected results, by a part of the example.
func exampleCases() map[string]string {
	return map[string]string{
		"How many files are there?": `
agent = [{ match = "How many", structured = { files = 3 } }, { reply = "It starts." }]
expect = { agents = 2, result = ["It starts.", 3] }
`,
		"agent('Read everything')": `
agent = [{ match = "everything", reply = "", delay = 1000 }, { reply = "It is a parser." }]
expect = { result_json = '["It is a parser.", null]' }
`,
		"Find risks:": `
agent = [{ match = "money", reply = "none", delay = 20000 }]
expect = { result = "cancelled" }
`,
		"std.verify(": `
agent = [{ label = "verify 1/3", structured = { refuted = true, reason = "it is 64 bits" } },
  { label = "verify 2/3", structured = { refuted = false, reason = "the cast is to 32" } },
  { fail = { kind = "quota", message = "none left" } }]
expect = { agents = 3, result = ["refuted", 3, 3] }
`,
		"std.judge(": `
agent = [{ label = "judge 1/2", structured = { scores = [
  { candidate = 1, score = 2, reason = "long" }, { candidate = 2, score = 8, reason = "short" }] } },
  { reply = "I like both" }]
expect = { result = ["patch it", [2]] }
`,
		"std.untilDry(": `
agent = [{ match = "Round 1", reply = "off by one" }, { reply = "none" }]
expect = { agents = 3, result = ["off by one"] }
`,
		"std.critic(": `
agent = [{ label = "critic 1/2", structured = { complete = false, missing = ["Close"] } },
  { label = "critic 2/2", structured = { complete = true, missing = [] } }, { reply = "Open and Close." }]
expect = { agents = 4, result = [true, []] }
`,
		"std.stages(": `
agent = [{ label = "planner", reply = "1. write greeting" },
  { label = "implementer", reply = "done", files = { "greeting" = "hello" } },
  { label = "reviewer", structured = { pass = false, problems = [{ path = "greeting", problem = "no name" }] } },
  { label = "implementer 2", reply = "mended", files = { "greeting" = "hello you" } },
  { label = "reviewer 2", structured = { pass = true, problems = [] } }]
expect = { agents = 5, result = [true, []] }
`,
		"std.retry(": `
agent = [{ match = "Answer in JSON", reply = "sure" }, { reply = "[1, 2]" }]
expect = { agents = 2, result = [1, 2] }
`,
	}
}
