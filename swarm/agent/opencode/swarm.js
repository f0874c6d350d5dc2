// What goes between opencode and its agent: a hook is asked before each tool,
// commands get back the variables that were set for opencode alone, and a
// provider that keeps failing ends the process instead of being waited for.
import { spawn } from "node:child_process";
import { readdirSync, writeSync } from "node:fs";

const given = null;

const say = (line) => writeSync(1, JSON.stringify(line) + "\n");

const end = (name, message) => {
  say({ type: "error", error: { name, data: { message } } });
  process.exit(1);
};

// refusal is why the hook is against an action; undefined where it is not.
const refusal = (action) =>
  new Promise((resolve) => {
    const [program, ...args] = given.hook;
    const hook = spawn(program, args, { stdio: ["pipe", "ignore", "pipe"] });
    let reason = "";
    hook.stderr.on("data", (text) => (reason += text));
    hook.on("error", (e) => resolve("no person can be asked: " + e.message));
    hook.on("close", (code) => resolve(code === 0 ? undefined : reason.trim() || "it was refused"));
    hook.stdin.on("error", () => {});
    hook.stdin.end(JSON.stringify(action));
  });

export const Swarm = async ({ directory }) => {
  // A conversation belongs to its folder: in another one opencode would go on in
  // the folder of the parent, which is none of this agent's business.
  if (readdirSync(given.places).length > 1) {
    end("ForkError", "the conversation was had in another folder, and opencode can go on with it only there");
  }
  return {
    "tool.execute.before": async (input, output) => {
      if (!given.hook) return;
      const reason = await refusal({
        hook_event_name: "PreToolUse", tool_name: input.tool, tool_input: output.args ?? {}, cwd: directory,
      });
      if (reason !== undefined) throw new Error(reason);
    },
    "shell.env": async (_, output) => {
      for (const [name, value] of Object.entries(given.variables)) output.env[name] = value ?? undefined;
    },
    event: async ({ event }) => {
      const status = event.type === "session.status" ? event.properties.status : undefined;
      if (status?.type !== "retry") return;
      if (status.attempt > given.retries) end("RetryError", status.message);
      const delayMs = Math.max(0, Math.round(status.next - Date.now())) || 0;
      say({ type: "retry", sessionID: event.properties.sessionID, message: status.message, delayMs });
    },
  };
};
