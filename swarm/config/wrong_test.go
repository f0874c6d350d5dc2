package config

import (
	"errors"
	"reflect"
	"testing"
)

// wrongTest is a file with a single mistake.
type wrongTest struct{ name, give, want string }

func wrongTests() []wrongTest {
	const ok = "[agents.a]\ncommand = ['x']\n"
	return []wrongTest{
		{"typo", "\nverfy = 'x'", `2: verfy: unknown key; did you mean "workspace.verify"?`},
		{"swap", "limits.jobs = 3\nsteup = 'x'", `2: steup: unknown key; did you mean "workspace.setup"?`},
		{"hyphen", "max-agents = 3", `1: max-agents: unknown key; did you mean "limits.max_agents"?`},
		{"nothing near", "colour = 3", `1: colour: unknown key`},
		{"quoted key", `"a b" = 3`, `1: "a b": unknown key`},
		{"unknown table", "[palette]\na = 1", `1: palette: unknown key`},
		{"provider: nowhere", "[providers.mine]\nkey_env = 'K'", `1: providers.mine: needs base_url, such as base_url = "http://127.0.0.1:8080/v1"`},
		{"provider: near name", "[providers.opanai]", `1: providers.opanai: needs base_url, such as base_url = "http://127.0.0.1:8080/v1"; did you mean "openai"?`},
		{"provider: no address", "[providers.mine]\nbase_url = 'h/v1'", `2: providers.mine.base_url: "h/v1" is not an http or https URL`},
		{"provider: a password in the address", "[providers.mine]\nbase_url = 'http://me:secret@h'", `2: providers.mine.base_url: a URL holds no password: name the variable of the key instead`},
		{"provider: a key for its variable", "[providers.openai]\nkey_env = 'sk-secret'", `2: providers.openai.key_env: is not the name of a variable that agents can get, such as MY_API_KEY; a file must not hold the key itself`},
		{"provider: a variable that agents do not get", "[providers.openai]\nkey_env = 'GIT_TOKEN'", `2: providers.openai.key_env: is not the name of a variable that agents can get, such as MY_API_KEY; a file must not hold the key itself`},
		{"provider: API", "[providers.openai]\napi = 'gemini'", `2: providers.openai.api: unknown API "gemini": want chat, responses or anthropic`},
		{"provider: key", "[providers.openai]\nkey = 'x'", `2: providers.openai.key: unknown key`},
		{"provider: slash", "[providers.'a/b']\nbase_url = 'http://h'", `1: providers."a/b": a name holds letters, digits, - _ and ., and does not start with - or .: a slash ends it in PROVIDER/MODEL`},
		{"model: window", "[providers.openai.models.m]\ncontext_window = 0", `2: providers.openai.models.m.context_window: expected a whole number of at least 1, got the number 0`},
		{"model: half a price", "[providers.openai.models.m]\ninput = 1", `1: providers.openai.models.m: has a price of some tokens: it needs input and output, in dollars per million tokens`},
		{"near table", "[agent.x]\ncommand = ['x']", `1: agent: unknown key; did you mean "agents"?`},
		{"array of tables", "[[agents]]\na = 1", `1: agents: expected a table, got an array of tables`},
		{"agents scalar", "agents = 3", `1: agents: expected a table, got the number 3`},
		{"agent scalar", "agents.x = true", `1: agents.x: expected a table, got true`},
		{"key of an agent", "command = ['x']", `1: command: unknown key here; it belongs in a table [agents.NAME]`},
		{"key of the top", ok + "verify = 'x'", `3: agents.a.verify: unknown key here; it belongs in the table [workspace]`},
		{"agent typo", ok + "fromat = 'text'", `3: agents.a.fromat: unknown key; did you mean "format"?`},
		{"checks scalar", "checks = 3", `1: checks: expected a table, got the number 3`},
		{"checks array", "[[checks]]\na = 'x'", `1: checks: expected a table, got an array of tables`},
		{"check number", "[checks]\n\ntest = 3", `3: checks.test: expected a string, got the number 3`},
		{"check words", "[checks]\ntest = ['go', 'test']", `2: checks.test: expected a string, got an array`},
		{"check table", "[checks.test]\ncommand = 'x'", `1: checks.test: expected a string, got a table`},
		{"check name", "[checks]\n'a b' = 'x'", `2: checks."a b": a name holds letters, digits, - and _, and does not start with -`},
		{"check name option", "[checks]\n-a = 'x'", `2: checks.-a: a name holds letters, digits, - and _, and does not start with -`},
		{"check NUL", `checks.a = "a\u0000b"`, `1: checks.a: holds a NUL character, which no program can be given`},
		{"near checks", "[check]\ntest = 'x'", `1: check: unknown key; did you mean "checks"?`},

		{"roles scalar", "roles = 3", `1: roles: expected a table, got the number 3`},
		{"role number", "[roles]\n\nsmol = 3", `3: roles.smol: expected a model, such as "openai/gpt-5", or a table, got the number 3`},
		{"role list", "[roles]\nsmol = ['a/b']", `2: roles.smol: expected a model, such as "openai/gpt-5", or a table, got an array`},
		{"role name", "[roles]\n'a b' = 'x'", `2: roles."a b": the name of a role holds letters, digits, - and _, at most 64, and begins with a letter or a digit`},
		{"role provider alone", "[roles]\nsmol = 'openai/'", `2: roles.smol: model "openai/": want provider/model or provider/model:effort`},
		{"role without provider", "[roles]\nsmol = '/gpt'", `2: roles.smol: model "/gpt": want provider/model or provider/model:effort`},
		{"role effort alone", "[roles]\nsmol = 'openai/:high'", `2: roles.smol: model "openai/:high": want provider/model or provider/model:effort`},
		{"role flag", "[roles]\nsmol = '-x'", `2: roles.smol: "-x": expected a word without spaces, of at most 256 characters, that does not begin with -`},
		{"role key", "[roles.smol]\nmodle = 'a/b'", `2: roles.smol.modle: unknown key; did you mean "model"?`},
		{"role empty", "[roles]\n[roles.smol]", `2: roles.smol: says nothing; want a model, such as model = "openai/gpt-5"`},
		{"role fallbacks alone", "[roles.smol]\nkind = 'pi'\nfallbacks = ['a/b']", `3: roles.smol.fallbacks: needs a model that they stand in for; give one as model`},
		{"role fallback", "[roles.smol]\nmodel = 'a/b'\nfallbacks = ['a/b',\n'c/']", `4: roles.smol.fallbacks[1]: model "c/": want provider/model or provider/model:effort`},
		{"role fallback text", "[roles.smol]\nmodel = 'a/b'\nfallbacks = 'c/d'", `3: roles.smol.fallbacks: expected an array of models, such as ["openai/gpt-5"], got "c/d"`},
		{"role limit", "[roles.smol]\nmodel = 'a/b'\nlimits.turn = 3", `3: roles.smol.limits.turn: unknown key; did you mean "turns"?`},
		{"role limit negative", "[roles.smol]\nmodel = 'a/b'\nlimits = { usd = -1 }", `3: roles.smol.limits.usd: expected a number that is not negative, such as 2.50, got the number -1`},

		{"string", "workspace.setup = 3", `1: workspace.setup: expected a string, got the number 3`},
		{"string table", "[setup]\nrun = 'x'", `1: setup: is now workspace.setup: write it in the table [workspace]`},
		{"string array", "workspace.verify = ['x']", `1: workspace.verify: expected a string, got an array`},
		{"string date", "workspace.verify = 2024-01-01", `1: workspace.verify: expected a string, got a date or time`},
		{"string bool", "run.default_agent = false", `1: run.default_agent: expected a string, got false`},
		{"string NUL", `workspace.setup = "a\u0000b"`, `1: workspace.setup: holds a NUL character, which no program can be given`},
		{"name", "run.default_agent = 'a b'", `1: run.default_agent: "a b": a name holds letters, digits, - and _, and does not start with -`},
		{"name empty", "run.default_agent = ''", `1: run.default_agent: "": a name holds letters, digits, - and _, and does not start with -`},
		{"name kind", "run.default_agent = 'command'", `1: run.default_agent: "command": is the name of a kind; choose another name for the agent`},
		{"jobs low", "limits.jobs = 0", `1: limits.jobs: expected a whole number from 1 to 100, got the number 0`},
		{"jobs high", "limits.jobs = 101", `1: limits.jobs: expected a whole number from 1 to 100, got the number 101`},
		{"jobs string", "limits.jobs = '7'", `1: limits.jobs: expected a whole number from 1 to 100, got "7"`},
		{"jobs float", "limits.jobs = 7.0", `1: limits.jobs: expected a whole number from 1 to 100, got the number 7.0`},
		{"jobs table", "limits.jobs.a = 1", `1: limits.jobs: expected a whole number from 1 to 100, got a table`},
		{"max_agents", "limits.max_agents = -1", `1: limits.max_agents: expected a whole number of at least 1, got the number -1`},
		{"max_agents zero", "limits.max_agents = 0", `1: limits.max_agents: expected a whole number of at least 1, got the number 0`},
		{"retries", "limits.retries = -1", `1: limits.retries: expected a whole number from 0 to 100, got the number -1`},
		{"retries high", "limits.retries = 101", `1: limits.retries: expected a whole number from 0 to 100, got the number 101`},
		{"questions", "run.questions = 'yes'", `1: run.questions: expected "wait" or "deny", got "yes"`},
		{"questions bool", "run.questions = true", `1: run.questions: expected a string, got true`},
		{"overlap", "run.overlap = 'warm'", `1: run.overlap: expected "warn", "serialize" or "refuse", got "warm"; did you mean "warn"?`},
		{"notify", "run.notify = ['beep']", `1: run.notify: expected a string, got an array`},
		{"pty at the top", "pty = true", `1: pty: unknown key here; it belongs in a table [agents.NAME]`},
		{"retries of an agent", ok + "retries = 1", `3: agents.a.retries: unknown key here; it belongs in the table [limits]`},
		{"timeout number", "limits.timeout = 30", `1: limits.timeout: expected a duration such as "90s" or "1h30m", got the number 30`},
		{"timeout unit", "limits.idle_timeout = '30'", `1: limits.idle_timeout: expected a duration such as "90s" or "1h30m", got "30"`},
		{"budget_tokens", "limits.budget_tokens = -1", `1: limits.budget_tokens: expected a whole number of at least 0, got the number -1`},
		{"budget_usd negative", "limits.budget_usd = -0.5", `1: limits.budget_usd: expected a number that is not negative, such as 2.50, got the number -0.5`},
		{"budget_usd string", "limits.budget_usd = '2'", `1: limits.budget_usd: expected a number that is not negative, such as 2.50, got "2"`},
		{"budget_usd nan", "limits.budget_usd = nan", `1: limits.budget_usd: expected a number that is not negative, such as 2.50, got the number nan`},
		{"budget_usd inf", "limits.budget_usd = inf", `1: limits.budget_usd: expected a number that is not negative, such as 2.50, got the number inf`},
		{"budget_usd next to nothing", "limits.budget_usd = 1e-400", `1: limits.budget_usd: expected a number that is not negative, such as 2.50, got the number 1e-400`},
		{"role limit next to nothing", "[roles.smol]\nmodel = 'a/b'\nlimits = { usd = 0.1e-400 }", `3: roles.smol.limits.usd: expected a number that is not negative, such as 2.50, got the number 0.1e-400`},
		{"budget_time", "limits.budget_time = 30", `1: limits.budget_time: expected a duration such as "90s" or "1h30m", got the number 30`},
		{"timeout negative", "limits.run_timeout = '-1s'", `1: limits.run_timeout: expected a duration that is not negative ("0s": no limit), got "-1s"`},

		{"agent name", "[agents.'a b']\ncommand = ['x']", `1: agents."a b": a name holds letters, digits, - and _, and does not start with -`},
		{"agent name option", "[agents.-a]\ncommand = ['x']", `1: agents.-a: a name holds letters, digits, - and _, and does not start with -`},
		{"agent name command", "[agents]\ncommand = ['x']", `2: agents.command: is the name of a kind; choose another name for the agent`},
		{"no command", "\n[agents.a]\ninput = 'none'", `2: agents.a: needs a command, such as command = ["program", "argument"]`},
		{"blank screen", "landing.screen = ' '", `1: landing.screen: expected a command, or "" for none, got " "`},
		{"no slots", "landing.slots = 0", `1: landing.slots: expected a whole number of at least 1, got the number 0`},
		{"order", "landing.order = 'first'", `1: landing.order: expected "fewest" or "plan", got "first"`},
		{"empty command", "[agents.a]\ncommand = []", `2: agents.a.command: needs a command, such as command = ["program", "argument"]`},
		{"empty program", "[agents.a]\ncommand = ['', 'x']", `2: agents.a.command: its first word, the program, is empty`},
		{"command string", "[agents.a]\ncommand = 'x y'", `2: agents.a.command: expected an array of strings, such as ["program", "argument"], got "x y"`},
		{"command number", "[agents.a]\ncommand = [\n'x',\n1]", `4: agents.a.command[1]: expected a string, got the number 1`},
		{"command NUL", "[agents.a]\ncommand = [\"x\\u0000\"]", `2: agents.a.command[0]: holds a NUL character, which no program can be given`},
		{"kind of another", "[agents.codex]\nkind = 'pi'", `2: agents.codex.kind: "codex" is the name of a kind, and its table configures that; choose another name for an agent of kind "pi"`},
		{"command by the name of a kind", "[agents.pi]\ncommand = ['x']\nkind = 'command'", `3: agents.pi.kind: "pi" is the name of a kind, and its table configures that; choose another name for an agent of kind "command"`},
		{"input of a kind", "[agents.pi]\ninput = 'arg'", `2: agents.pi.input: is for kind = "command" only: swarm knows it of "pi"`},
		{"format of a kind", "[agents.a]\nkind = 'codex'\nformat = 'jsonl'", `3: agents.a.format: is for kind = "command" only: swarm knows it of "codex"`},
		{"success of a kind", "[agents.pi]\nsuccess = 'exit'", `2: agents.pi.success: is for kind = "command" only: swarm knows it of "pi"`},
		{"pty of a kind", "[agents.pi]\npty = false", `2: agents.pi.pty: is for kind = "command" only: swarm knows it of "pi"`},
		{"empty command of a kind", "[agents.pi]\ncommand = []", `2: agents.pi.command: its first word, the program, is empty; leave it out for the one on your PATH`},
		{"prompt in the command of a kind", "[agents.pi]\ncommand = ['pi', '{prompt}']", `2: agents.pi.command: holds the prompt, which swarm hands to "pi" itself; take it out`},
		{"command of builtin", "[agents.builtin]\ncommand = ['x']", `2: agents.builtin.command: is not for kind = "builtin", which is swarm itself`},
		{"command of a builtin", "[agents.a]\nkind = 'builtin'\ncommand = ['x']", `3: agents.a.command: is not for kind = "builtin", which is swarm itself`},
		{"model of a command", ok + "model = 'm'", `3: agents.a.model: is not for kind = "command"; put it into the command`},
		{"effort of a command", ok + "effort = 'low'", `3: agents.a.effort: is not for kind = "command"; put it into the command`},
		{"tools of a command", ok + "tools = ['read']", `3: agents.a.tools: is not for kind = "command"; put it into the command`},
		{"read_only of a command", ok + "read_only = false", `3: agents.a.read_only: is not for kind = "command"; put it into the command`},
		{"max_turns of a command", ok + "max_turns = 3", `3: agents.a.max_turns: is not for kind = "command"; put it into the command`},
		{"model that is a flag", "[agents.pi]\nmodel = '--danger'", `2: agents.pi.model: "--danger": expected a word without spaces, of at most 256 characters, that does not begin with -`},
		{"model with a blank", "[agents.pi]\nmodel = 'a b'", `2: agents.pi.model: "a b": expected a word without spaces, of at most 256 characters, that does not begin with -`},
		{"effort empty", "[agents.pi]\neffort = ''", `2: agents.pi.effort: "": expected a word without spaces, of at most 256 characters, that does not begin with -`},
		{"tool unknown", "[agents.pi]\ntools = ['read', 'fnd']", `2: agents.pi.tools: expected names of tools, "read", "grep", "find", "ls", "edit", "write" and "bash", got "fnd"; did you mean "find"?`},
		{"tool twice", "[agents.pi]\ntools = ['read', 'read']", `2: agents.pi.tools: "read" appears twice`},
		{"no tools", "[agents.pi]\ntools = []", `2: agents.pi.tools: expected at least one of "read", "grep", "find", "ls", "edit", "write" and "bash", got an array`},
		{"tools that write", "[agents.pi]\nread_only = true\ntools = ['read', 'bash']", `3: agents.pi.tools: holds more than "read", "grep", "find" and "ls", and read_only = true allows no more`},
		{"max_turns", "[agents.pi]\nmax_turns = -1", `2: agents.pi.max_turns: expected a whole number of at least 0, got the number -1`},
		{"kind", ok + "kind = 'comand'", `3: agents.a.kind: expected "command", "pi", "codex", "claude", "opencode", "gemini", "qwen", "copilot" or "builtin", got "comand"; did you mean "command"?`},
		{"input", ok + "input = 'stdim'", `3: agents.a.input: expected "stdin", "arg", "none" or "jsonl", got "stdim"; did you mean "stdin"?`},
		{"input unset", ok + "input = 'unset'", `3: agents.a.input: expected "stdin", "arg", "none" or "jsonl", got "unset"`},
		{"format", ok + "format = 'xml'", `3: agents.a.format: expected "text" or "jsonl", got "xml"`},
		{"success", ok + "success = true", `3: agents.a.success: expected a string, got true`},
		{"success word", ok + "success = 'answers'", `3: agents.a.success: expected "exit" or "answer", got "answers"; did you mean "answer"?`},
		{"pty word", ok + "pty = 'yes'", `3: agents.a.pty: expected true or false, got "yes"`},
		{"pty with stdin", ok + "pty = true\ninput = 'stdin'", `4: agents.a.input: "stdin" is not for an agent with pty = true, whose input is its terminal; use "arg" with {prompt} or {prompt_file} in the command, or "none"`},
		{"pty with jsonl", ok + "pty = true\ninput = 'jsonl'\nformat = 'jsonl'", `4: agents.a.input: "jsonl" is not for an agent with pty = true, whose input is its terminal; use "arg" with {prompt} or {prompt_file} in the command, or "none"`},
		{"pty with events", ok + "pty = true\nformat = 'jsonl'", `4: agents.a.format: "jsonl" is not for an agent with pty = true, which writes for a person; use "text"`},
		{"pty with answer", ok + "success = 'answer'\npty = true", `3: agents.a.success: "answer" is not for an agent with pty = true, which gives no answer; use "exit"`},
		{"pty without prompt", ok + "input = 'arg'\npty = true", `3: agents.a.input: "arg" needs {prompt} or {prompt_file} in the command`},
		{"pty with a prompt unused", "[agents.a]\npty = true\ninput = 'none'\ncommand = ['x', '{prompt}']", `4: agents.a.command: holds {prompt}, but input is "none"; set input = "arg" or take it out`},
		{"write", ok + "write = '/tmp'", `3: agents.a.write: expected an array of paths, such as ["~/.cache/tool"], got "/tmp"`},
		{"key of the sandbox", "hide = ['/x']", `1: hide: unknown key here; it belongs in the table [sandbox]`},
		{"key of two tables", "write = ['/x']", `1: write: unknown key here; it belongs in the table [sandbox] or in a table [agents.NAME]`},
		{"mode at the top", "mode = 'off'", `1: mode: unknown key here; it belongs in the table [sandbox]`},
		{"mode of an agent", ok + "mode = 'off'", `3: agents.a.mode: unknown key here; it belongs in the table [sandbox]`},
		{"top below the sandbox", "[sandbox]\nbackend = 'auto'", `2: sandbox.backend: unknown key here; it belongs in the table [workspace]`},
		{"agent below the sandbox", "[sandbox]\npty = true", `2: sandbox.pty: unknown key here; it belongs in a table [agents.NAME]`},
		{"sandbox word", "sandbox = 'require'", `1: sandbox: expected a table, such as { mode = "auto" }, got "require"`},
		{"sandbox tables", "[[sandbox]]\nmode = 'auto'", `1: sandbox: expected a table, such as { mode = "auto" }, got an array of tables`},
		{"near sandbox", "[sandbx]\nmode = 'auto'", `1: sandbx: unknown key; did you mean "sandbox"?`},
		{"sandbox typo", "[sandbox]\nhides = ['/x']", `2: sandbox.hides: unknown key; did you mean "hide"?`},
		{"mode", "[sandbox]\n\nmode = 'of'", `3: sandbox.mode: expected "auto", "require" or "off", got "of"; did you mean "off"?`},
		{"confined", "[risk]\n\nconfined = 'snapshots'", `3: risk.confined: expected "ask" or "snapshot", got "snapshots"; did you mean "snapshot"?`},
		{"confined bool", "risk.confined = true", `1: risk.confined: expected a string, got true`},
		{"confined unset", "risk.confined = 'unset'", `1: risk.confined: expected "ask" or "snapshot", got "unset"`},
		{"confined at the top", "confined = 'ask'", `1: confined: unknown key here; it belongs in the table [risk]`},
		{"confined in the sandbox", "[sandbox]\nconfined = 'ask'", `2: sandbox.confined: unknown key here; it belongs in the table [risk]`},
		{"confined in an agent", "[agents.a]\ncommand = ['x']\nconfined = 'ask'", `3: agents.a.confined: unknown key here; it belongs in the table [risk]`},
		{"question_timeout", "[risk]\nquestion_timeout = 'soon'", `2: risk.question_timeout: expected a duration above zero such as "90s" or "1h30m", got "soon"`},
		{"question_timeout number", "risk.question_timeout = 5", `1: risk.question_timeout: expected a duration above zero such as "90s" or "1h30m", got the number 5`},
		{"question_timeout never", "risk.question_timeout = '0s'", `1: risk.question_timeout: expected a duration above zero such as "90s" or "1h30m", got "0s"`},
		{"question_timeout zeros", "risk.question_timeout = '0h0.0m'", `1: risk.question_timeout: expected a duration above zero such as "90s" or "1h30m", got "0h0.0m"`},
		{"question_timeout negative", "risk.question_timeout = '-3s'", `1: risk.question_timeout: expected a duration above zero such as "90s" or "1h30m", got "-3s"`},
		{"variants off", "[variants]\noff = ['clod/x']", `2: variants.off: "clod/x" names no variants; want FAMILY or FAMILY/MODE, such as claude/safety-asides; swarm variants lists them`},
		{"variants off no list", "variants.off = 'gpt'", `1: variants.off: expected an array of strings, such as ["program", "argument"], got "gpt"`},
		{"variants enabled", "variants.enabled = 'no'", `1: variants.enabled: expected true or false, got "no"`},
		{"variants as a word", "variants = 'off'", `1: variants: expected a table, such as { off = ["claude/safety-asides"] }, got "off"`},
		{"confined in variants", "[variants]\nconfined = 'ask'", `2: variants.confined: unknown key here; it belongs in the table [risk]`},
		{"question_timeout at the top", "question_timeout = '1m'", `1: question_timeout: unknown key here; it belongs in the table [risk]`},
		{"top in risk", "[risk]\njobs = 2", `2: risk.jobs: unknown key here; it belongs in the table [limits]`},
		{"sandbox in risk", "[risk]\nmode = 'off'", `2: risk.mode: unknown key here; it belongs in the table [sandbox]`},
		{"risk a word", "risk = 'ask'", `1: risk: expected a table, such as { confined = "ask" }, got "ask"`},
		{"mode bool", "sandbox.mode = false", `1: sandbox.mode: expected a string, got false`},
		{"mode unset", "sandbox.mode = 'unset'", `1: sandbox.mode: expected "auto", "require" or "off", got "unset"`},
		{"backend", "workspace.backend = 'overlayfs'", `1: workspace.backend: expected "auto", "overlay", "reflink", "copy" or "worktree", got "overlayfs"; did you mean "overlay"?`},
		{"backend list", "workspace.backend = ['overlay']", `1: workspace.backend: expected a string, got an array`},
		{"agent timeout", ok + "timeout = '-3s'", `3: agents.a.timeout: expected a duration that is not negative ("0s": no limit), got "-3s"`},
		{"agent idle_timeout", ok + "idle_timeout = 5", `3: agents.a.idle_timeout: expected a duration such as "90s" or "1h30m", got the number 5`},
		{"lane", ok + "lane = 'a b'", `3: agents.a.lane: "a b": a lane is up to 100 letters, digits and _ . : / @ + -, such as "openai/gpt-5"`},
		{"lane number", ok + "lane = 4", `3: agents.a.lane: expected a string, got the number 4`},
		{"env", ok + "env = ['A=b']", `3: agents.a.env: expected a table of strings, such as { NAME = "value" }, got an array`},
		{"env name", ok + "env = { 'A=B' = 'x' }", `3: agents.a.env."A=B": is not the name of a variable: letters, digits and _, not starting with a digit`},
		{"env value", ok + "[agents.a.env]\nA = 1", `4: agents.a.env.A: expected a string, got the number 1`},
		{"env NUL", ok + `env.A = "\u0000"`, `3: agents.a.env.A: holds a NUL character, which no program can be given`},
		{"env ours", ok + "env.SWARM_RUN = 'x'", `3: agents.a.env.SWARM_RUN: variables that start with SWARM_ are set by swarm alone`},
		{"later header", "[agents.a.env]\nA = 'b'\n[agents.a]\ninput = 'none'", `3: agents.a: needs a command, such as command = ["program", "argument"]`},

		{"arg without prompt", ok + "input = 'arg'", `3: agents.a.input: "arg" needs {prompt} or {prompt_file} in the command`},
		{"prompt without arg", "[agents.a]\ncommand = ['x', '-p={prompt}']", `2: agents.a.command: holds {prompt}, but input is "stdin"; set input = "arg" or take it out`},
		{"file without arg", "[agents.a]\ninput = 'none'\ncommand = ['x', '{prompt_file}']", `3: agents.a.command: holds {prompt_file}, but input is "none"; set input = "arg" or take it out`},
		{"prompt as program", "[agents.a]\ninput = 'arg'\ncommand = ['{prompt}']", `3: agents.a.command: its first word is the program and cannot hold the prompt`},
		{"jsonl with text", ok + "input = 'jsonl'", `3: agents.a.input: "jsonl" needs format = "jsonl": a turn ends with an event`},
		{"prompt in a script", "[agents.a]\ninput = 'arg'\ncommand = ['sh', '-c', 'x {prompt}']", `3: agents.a.command: the shell would run the prompt as a part of its script; pass it as an argument: ["sh", "-c", "program \"$1\"", "sh", "{prompt}"]`},

		{"prices scalar", "prices = 3", `1: prices: expected a table, got the number 3`},
		{"price scalar", "prices.m = 3", `1: prices.m: expected a table, got the number 3`},
		{"price without output", "[prices.m]\ninput = 1", `1: prices.m: needs output, in dollars per million tokens, such as output = 2.50`},
		{"price negative", "[prices.'a/b']\ninput = -1\noutput = 1", `2: prices."a/b".input: expected a number that is not negative, such as 2.50, got the number -1`},
		{"price string", "[prices.m]\ninput = 1\noutput = '2'", `3: prices.m.output: expected a number that is not negative, such as 2.50, got "2"`},
		{"price typo", "[prices.m]\ninput = 1\noutput = 2\ncache_reads = 1", `4: prices.m.cache_reads: unknown key; did you mean "cache_read"?`},

		{"syntax", "limits.jobs = 3\nworkspace.setup = \n", `2: unexpected character U+000A at start of value`},
		{"twice", "limits.jobs = 3\n\nlimits.jobs = 4", `3: key jobs is already defined`},
		{"table twice", ok + ok, `3: table a already exists`},
		{"value and table", "limits.jobs = 3\n[limits.jobs.x]", `2: key jobs already exists as a value`},
	}
}

// TestLoadWrong shows each mistake with its line, its key and the advice.
func TestLoadWrong(t *testing.T) {
	t.Parallel()
	for _, tt := range wrongTests() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Load(project(tt.give))
			want := ".swarm/config.toml:" + tt.want
			if err == nil || err.Error() != want {
				t.Fatalf("Load(%q) =\n%v, want\n%s", tt.give, err, want)
			}
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Errorf("Load(%q) = %T, want *Error", tt.give, err)
			}
		})
	}
}

// TestCheck: a mistake does not hide the next.
func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, give string
		want       []string
	}{
		{"none", "limits.jobs = 3", nil},
		{"empty", "", nil},
		{
			"several", "jbos = 3\n[agents.a]\ncommand = 3\nfromat = 'x'\n[agents.codex]\npty = true\n[agents.b]\ncommand = ['x']\ninput = 'arg'\n",
			[]string{
				`c:1: jbos: unknown key; did you mean "limits.jobs"?`,
				`c:3: agents.a.command: expected an array of strings, such as ["program", "argument"], got the number 3`,
				`c:4: agents.a.fromat: unknown key; did you mean "format"?`,
				`c:6: agents.codex.pty: is for kind = "command" only: swarm knows it of "codex"`,
				`c:9: agents.b.input: "arg" needs {prompt} or {prompt_file} in the command`,
			},
		},
		{
			"in the order of lines", "[agents.a.env]\n'A=B' = ''\n[agents.b]\ncommand = ['']\n[agents.a]\npty = 1",
			[]string{
				`c:2: agents.a.env."A=B": is not the name of a variable: letters, digits and _, not starting with a digit`,
				`c:4: agents.b.command: its first word, the program, is empty`,
				`c:6: agents.a.pty: expected true or false, got the number 1`,
			},
		},
		{"syntax hides", "limits.jobs = 0\nsetup =", []string{`c:2: expected value, not end of input`}},
	}
	for _, tt := range tests {
		var got []string
		for _, e := range Check(Source{Layer: Project, Name: "c", Text: []byte(tt.give)}) {
			got = append(got, e.Error())
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: Check = %q, want %q", tt.name, got, tt.want)
		}
	}
}
