// Package modeltest is a model server for tests and benchmarks: it speaks
// Anthropic's Messages, OpenAI's Chat Completions and Responses, and Gemini's
// generateContent, streamed and not, and answers with the turns of a script,
// errors and cut connections among them. It knows nothing of swarm, and no
// product code imports it.
//
//	script, err := modeltest.Parse([]byte(`{"rules": [
//		{"when": {"since": 0, "user": "write (\\S+)"}, "calls": [{"name": "{write}", "args": {"path": "{1}", "text": "hi\n"}}]},
//		{"text": "Done.", "usage": {"input": 50, "output": 3}}
//	]}`))
//	s := modeltest.Start(t, script)
//	… an agent with s.URL() …
//	s.Requests(), s.Stats()
//
// The answer follows from the request alone (match.go): the number of tool
// results in it and its last message. Only "tries" and "serial" look at earlier
// requests: at those of the same conversation, and at all.
//
// # Needs of the CLIs
//
// Every CLI has tools of its own; a script names roles, and tools.go finds what
// the request offers. The scripts in testdata work with all of these, at the
// versions that .ci/agents installs:
//
//	CLI       API                     base URL  notes for scripts
//	pi        all but Gemini's        URL, for  edit takes a list of edits
//	                                  OpenAI
//	                                  URL/v1
//	codex     Responses               URL/v1    no read, write or edit: a shell (exec_command), where
//	                                            apply_patch is a heredoc; gpt-5.5 has apply_patch as a
//	                                            tool that takes text; gpt-5.6-sol, gpt-6-sol and others
//	                                            only exec, in a namespace, which takes JavaScript. An edit
//	                                            is of whole lines. The folder and AGENTS.md are words of
//	                                            the user
//	claude    Messages                URL       absolute paths. Where it works stands in a message of the
//	                                            role "system" that follows the prompt. An answer by
//	                                            schema is the tool StructuredOutput, whose call ends the
//	                                            run
//	opencode  all but Gemini's        URL/v1    a prompt with spaces that is an argument comes in
//	                                            quotation marks
//	gemini    generateContent         URL       edit is "replace" and wants an instruction beside
//	copilot   Chat Completions,       URL/v1    the tools view, edit and create; edit takes old_str and new_str.
//	          Responses, Messages               It masks its key in its output
//	qwen      Chat Completions        URL/v1    absolute paths, and an edit of a file wants that a read
//	                                            came before it. An answer by schema is the tool
//	                                            structured_output, whose call ends the run
//
// A read-only agent is not offered tools that write: pi and claude answer
// a call of such a tool that they do not have it. Codex, whose shell stays,
// answers that its sandbox forbids it.
package modeltest
