// What swarm adds to pi: it asks before a tool is used, and what cannot be asked
// may not be. It says how long a server wants to be left alone, and does so.
import { spawn } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const reads = ["read", "grep", "find", "ls"];

export default function (pi) {
  if (options.bin) {
    process.env.PATH = `${process.env.PATH ?? ""}:${options.bin}`;
  }
  pi.on("tool_call", async (event, ctx) => {
    if (options.tools && !options.tools.includes(event.toolName)) {
      return refusal(`swarm: this agent has no tool ${event.toolName}`);
    }
    if (!options.hook || options.hook.length === 0 || reads.includes(event.toolName)) {
      return undefined;
    }
    const reason = await ask(action(event, ctx.cwd), ctx);
    return reason === undefined ? undefined : refusal(reason);
  });
  watch(pi);
}

// mostPatience is how long a request waits here. A longer wait is not for one
// process: the request is made, and whoever reads its end knows how long.
const mostPatience = 60_000;

// watch looks at what servers answer: pi tells of it only where all is well.
function watch(pi) {
  let ui;
  let earliest = 0;
  pi.on("turn_start", (_event, ctx) => {
    ui = ctx.ui;
  });
  pi.on("before_provider_request", async (_event, ctx) => {
    const left = earliest - Date.now();
    if (left > 0 && left <= mostPatience) {
      await pause(left, ctx.signal);
    }
    return undefined;
  });
  // Pi says of it only that there was a connection error.
  subscribe("undici:client:connectError", ({ connectParams, error }) => {
    if (error?.code === "ECONNREFUSED" && connectParams?.host) {
      ui?.setStatus("swarm", JSON.stringify({ refused_by: `${connectParams.protocol}//${connectParams.host}` }));
    }
  });
  subscribe("undici:request:headers", ({ request, response }) => {
    if (request?.method !== "POST") {
      return;
    }
    if (!(response?.statusCode >= 400)) {
      const limits = Object.entries(named(response?.headers)).filter(([name]) => /^(x|anthropic)-ratelimit-/.test(name));
      if (limits.length > 0) {
        ui?.setStatus("swarm", JSON.stringify({ limits: Object.fromEntries(limits) }));
      }
      return;
    }
    const retryAfterMs = delay(named(response.headers));
    earliest = Date.now() + retryAfterMs;
    ui?.setStatus("swarm", JSON.stringify({ status: response.statusCode, retryAfterMs }));
  });
}

function pause(ms, signal) {
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      done();
    }, { once: true });
  });
}

// named are the headers of a list of names and values.
function named(list) {
  const headers = {};
  for (let i = 0; i + 1 < (list?.length ?? 0); i += 2) {
    headers[String(list[i]).toLowerCase()] = String(list[i + 1]);
  }
  return headers;
}

const refusal = (reason) => ({ block: true, reason });

// action is what a tool would do, as the hook takes it.
function action(event, cwd) {
  const input = event.input ?? {};
  switch (event.toolName) {
    case "bash":
    case "powershell":
      return { command: String(input.command ?? ""), cwd };
    case "edit":
    case "write":
      input.path = exact(input.path);
      return { write: resolve(cwd, input.path), cwd };
    default:
      return { tool: event.toolName, cwd };
  }
}

// exact is the file that pi would take a name for, so that what is asked about
// is what is written.
function exact(path) {
  if (typeof path !== "string" || path === "") {
    throw new Error("swarm: it names no file");
  }
  let name = path.replace(/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g, " ").replace(/^@/, "");
  if (name === "~") {
    return homedir();
  }
  if (name.startsWith("~/")) {
    return join(homedir(), name.slice(2));
  }
  if (name.startsWith("file://")) {
    return fileURLToPath(name);
  }
  // Pi would strip and expand again what is left at the beginning.
  return /^[@~]/.test(name) ? `./${name}` : name;
}

// ask runs the hook, and answers why the action may not be.
function ask(what, ctx) {
  return new Promise((done) => {
    const child = spawn(options.hook[0], options.hook.slice(1), {
      cwd: ctx.cwd,
      signal: ctx.signal,
      stdio: ["pipe", "ignore", "pipe"],
    });
    let said = "";
    child.stderr.setEncoding("utf8");
    child.stderr.on("data", (text) => {
      said = (said + text).slice(0, 10_000);
    });
    child.stdin.on("error", () => {}); // it says what it means by how it ends
    child.on("error", (error) => done(`swarm: nobody could be asked: ${error.message}`));
    child.on("close", (code) => {
      if (code === 0) {
        done(undefined);
        return;
      }
      done(said.trim() || "swarm: the hook refused it and did not say why");
    });
    child.stdin.end(JSON.stringify(what));
  });
}

// delay is how long a server asks to wait, in milliseconds.
function delay(headers) {
  const exactly = Number.parseFloat(headers["retry-after-ms"] ?? "");
  if (exactly > 0) {
    return Math.round(exactly);
  }
  const after = headers["retry-after"];
  const seconds = Number.parseFloat(after ?? "");
  const ms = Number.isNaN(seconds) ? Date.parse(after ?? "") - Date.now() : seconds * 1000;
  return ms > 0 ? Math.round(ms) : 0;
}
