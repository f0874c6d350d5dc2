// The types of workflow scripts: what `swarm run FILE.js` offers them.
//
// Put this file beside your scripts and begin them with
//   /// <reference path="./swarm.d.ts" />
// The whole of it is explained in docs/workflows.md.

/** What a script says of itself: the first statement, a pure literal. */
interface Meta {
  name: string;
  description: string;
  /** When it is of use, for whoever chooses among workflows. */
  whenToUse?: string;
  /** The phases it announces. A model named here is for people. */
  phases?: { title: string; detail?: string; model?: string }[];
  /** A JSON Schema of `args`; they are checked before anything starts. */
  args?: JSONSchema;
}

/** A JSON Schema, draft 2020-12. */
type JSONSchema = { [keyword: string]: unknown };

/** What has a JSON of its own. */
type JSONValue = null | boolean | number | string | JSONValue[] | { [key: string]: JSONValue };

// results.

/** How an agent ended, or that it has not. Told apart by `status`. */
type Result = Completed | Failed | Cancelled;
type Status = Result | Running;

interface Ended {
  /** a1, a2, … in the order of the calls. */
  id: string;
  label?: string;
  phase?: string;
  /** What it changed; absent where it changed nothing. */
  patch?: Patch;
  usage?: Usage;
}
interface Completed extends Ended {
  status: 'completed';
  /** The whole answer. */
  output?: string;
  /** The answer to a schema. */
  structured?: any;
  /** How the check of its work went; absent where none ran. */
  verified?: boolean;
  /** Present where another agent can go on with its conversation: `fork`. */
  forkable?: true;
  error?: undefined;
}
interface Failed extends Ended {
  status: 'failed';
  error: Failure;
  output?: undefined;
}
interface Cancelled extends Ended {
  status: 'cancelled';
  error: Failure;
  output?: undefined;
}
interface Running {
  id: string;
  status: 'running';
  label?: string;
  phase?: string;
  output?: undefined;
  error?: undefined;
}

/** Why an agent did not complete. */
interface Failure {
  kind: 'no_result' | 'timeout' | 'idle_timeout' | 'output_limit' | 'start_failed' | 'killed' | 'lost'
    | 'capture_failed' | 'schema' | 'refused' | 'invalid' | 'rate_limit' | 'overloaded' | 'quota' | 'auth'
    | 'budget' | 'dependency' | 'conflict' | 'cancelled' | 'stopped' | 'other';
  message: string;
}

/** What an agent changed, as a value. */
interface Patch {
  /** The commit. */
  id: string;
  /** The commit it is a change of. */
  base: string;
  files: string[];
  stat: { files: number; added: number; deleted: number };
  /** The patch as git prints it. */
  text(): string;
}

interface Usage {
  input: number;
  /** Output and reasoning: what a budget counts. */
  output: number;
  cacheRead: number;
  cacheWrite: number;
  costUsd: number;
}

/** What most errors of this API carry beside `name` and `message`. */
interface SwarmError extends Error {
  code?: 'option' | 'unknown' | 'timeout' | 'budget' | 'limit' | 'schema' | 'policy';
}

// agents.

/** The options of agent() and run(). An unknown one is passed over with a warning. */
interface AgentOptions {
  /** What the agent is called in lists; it is no part of what tells calls apart. */
  label?: string | number | false;
  /** The group it is shown in. Default: the current phase(). */
  phase?: string | number | false;
  /** What the answer has to match; agent() then gives the value. */
  schema?: JSONSchema;
  /** The configured kind of agent. Default: that of the run. */
  agent?: string;
  /** The role that finds its model: 'default', 'smol', 'slow', 'plan', 'commit', or one of [roles]. */
  role?: string;
  /** The model, as the agent's program calls it. A kind that has no such option refuses it, as it does the next four. */
  model?: string | false;
  /** How much the model thinks, as the agent's program calls it: 'low', 'high'. */
  effort?: string;
  /** How many tokens the model may think for each answer. A kind that cannot be told so refuses it. */
  maxThinkingTokens?: number;
  /** What it is for: `default`, `smol`, `slow`, `plan`, `commit`, or one of your own; it says which model it uses. */
  role?: string;
  /**
   * The only tools it has: read, grep, find, ls, edit, write, bash, names of Claude Code such as Read or
   * WebSearch, a part such as 'Bash(git log *)', mcp__SERVER__TOOL, or '*' for all. A run warns of
   * each entry that the kind of agent cannot be given.
   */
  tools?: string | string[];
  /** The tools that it does not have, written in the same way. */
  disallowedTools?: string | string[];
  /** true: it has only the first four of those. */
  readOnly?: boolean;
  /** Goes on with the conversation of an agent that completed, from what `base` says. */
  fork?: Handle;
  /** A type: a file of `.swarm/agents` or `.claude/agents`, or Explore, Plan, general-purpose. */
  agentType?: string;
  /**
   * A workspace of its own, or the one that all shared calls of the run work
   * in. Default: worktree; shared for scripts of `.claude/workflows`.
   */
  isolation?: 'worktree' | 'shared' | false | '';
  /** What it starts from: a commit, a patch, a result or a merge. Default: the base of the run. */
  base?: Base;
  /** Globs of what its patch may touch. */
  paths?: string[];
  /** It is ended where it reaches one of them. */
  limits?: { turns?: number; tokens?: number; usd?: number; ms?: number; idleMs?: number };
  /** Asked after each turn; true ends the agent. Closed: it may name nothing but its argument. */
  stopWhen?: (snapshot: Snapshot) => boolean;
  /** Asked before each action that the agent raises. Closed; it may only narrow. A string is a reason to deny. */
  onTool?: (call: ToolCall) => 'allow' | 'deny' | string;
  /** What it may do without asking, by the grammar of AGENTS.md: 'push to feature/* branches'. */
  allow?: string[];
  /** How often it is tried again where it fails. */
  retries?: number;
  /** false: it is run again on every resume. */
  cache?: boolean;
  /** Tells this call apart from equal ones, instead of what it says. */
  id?: string;
  /** Which part of a pipeline it is. What a stage that only reads changes is no work of the run. */
  stage?: {
    name: string;
    roster?: string[];
    words?: string;
    reads?: boolean;
    /** What is too long for the prompt: a file of its workspace that the prompt names, and no part of its work. */
    brief?: string;
  };
}

/** What a tree or a commit may be given as. */
type Base = string | Patch | Result | Merged;

/** What stopWhen sees of an attempt. */
interface Snapshot {
  turns: number;
  tools: number;
  /** Output and reasoning. */
  tokens: number;
  usd: number;
  ms: number;
  /** The end of the last it said. */
  text: string;
}

/** What onTool sees: an action as the agent asked about it. */
interface ToolCall { id: string; action?: any }

/** The promise of an agent that was started. */
interface Started<T> extends Promise<T> {
  /** Absent where it was refused. */
  readonly id?: string;
  cancel(reason?: string): Promise<Result | null>;
}

/**
 * Starts an agent and waits for its answer: its text, the value that matches
 * `schema`, or null where it did not complete; failures() then has the cause.
 * With `full` it gives the result.
 * Throws: code `schema` where no answer matched, `budget`, `limit`, `option`.
 */
declare function agent(prompt: string, options: AgentOptions & { full: true }): Started<Result>;
declare function agent<T = any>(prompt: string, options: AgentOptions & { schema: JSONSchema; full?: false }): Started<T | null>;
declare function agent(prompt: string, options?: AgentOptions & { full?: false }): Started<string | null>;
declare function agent(spec: Spec & { full?: boolean }): Started<any>;

/** The options of run(), with the prompt among them. */
interface Spec extends AgentOptions { prompt: string }

/** What names an agent: its id, its handle, its result or its promise. */
type Handle = string | { readonly id?: string };

/** Agents by their handles. */
declare const sa: {
  /** Starts an agent and does not wait. */
  run(spec: Spec): Started<{ id: string }>;
  run(prompt: string, options?: AgentOptions): Started<{ id: string }>;
  /** Waits for an agent. A time-out, in ms, rejects with code `timeout`; the agent goes on. */
  join(id: Handle, options?: { timeout?: number }): Promise<Result>;
  /** Ends an agent and waits until it has ended. One that has ended stays as it is. */
  cancel(id: Handle, reason?: string): Promise<Result>;
  /** How an agent stands now. */
  status(id: Handle): Status;
  /** All agents of the script, in the order of their calls. */
  list(): Status[];
  /** Says something to an agent at work. */
  send(id: Handle, text: string): Promise<{ delivered: boolean }>;
  /** What is known of the work of an agent that ended, for a reviewer: which files changed, from `since` on, and what was run. */
  evidence(id: Handle, options?: { since?: Base }): Promise<Evidence>;
  /** Keeps what a reviewer found of the work of agents that ended. A work that did not pass is merged by name only. */
  appraise(id: Handle | Handle[], verdict: { pass: boolean; problems?: string[]; by?: Handle }): void;
};
declare const run: typeof sa.run;
declare const join: typeof sa.join;
declare const cancel: typeof sa.cancel;

/** What the harness knows of a work. It holds nothing of any file. */
interface Evidence {
  /** All of it, in few words. */
  text: string;
  /** How its check went; absent where none ran. */
  verified?: boolean;
  files: { path: string; status: 'added' | 'deleted' | 'changed' | 'retyped'; added: number; deleted: number; binary?: boolean; lines?: string[] }[];
  steps: { name: string; command: string; ok: boolean; code: number; tail?: string }[];
}

// combinators.

type Job<T> = (() => T | Promise<T>) | Promise<T>;

/**
 * Runs all and waits for all, in the order given; a slot that failed is null.
 * What must not become a null is thrown: budget, limit, option, and mistakes
 * in the script. Each error is a line of the log and in failures(). At most
 * 4096 items.
 */
declare function parallel<T>(jobs: Job<T>[], options?: { concurrency?: number }): Promise<(T | null)[]>;
declare function parallel<K extends string, T>(jobs: Record<K, Job<T>>, options?: { concurrency?: number }): Promise<Record<K, T | null>>;

/**
 * Sends each item through all stages on its own; nobody waits for others. An
 * item whose stage throws or gives null is null, and its other stages are left
 * out.
 */
declare function pipeline<T>(items: T[], ...stages: ((prev: any, item: T, index: number) => any)[]): Promise<any[]>;

/**
 * The first result that is acceptable wins, or the first `n` (then a list);
 * every other branch is ended, with all agents it started. null where nobody
 * won. Default of accept: anything that is not null, and of results the
 * completed ones.
 */
declare function race<T>(jobs: Job<T>[] | Record<string, Job<T>>, options?: { accept?: (value: T) => boolean | Promise<boolean>; n?: 1 }): Promise<T | null>;
declare function race<T>(jobs: Job<T>[] | Record<string, Job<T>>, options: { accept?: (value: T) => boolean | Promise<boolean>; n: number }): Promise<T[]>;

/** Runs another workflow within this one, by name or by file, with args of its own. */
declare function workflow(which: string | { scriptPath: string } | { name: string }, args?: JSONValue): Promise<any>;

// the run.

/** What the run was given; undefined where it was given nothing. */
declare var args: any;

/** Begins a group of what follows. */
declare function phase(title: string): void;

/** A line for people. */
declare function log(...values: unknown[]): void;
declare const console: Record<'log' | 'info' | 'warn' | 'error' | 'debug', typeof log>;

/** What the run may spend, in tokens of output and reasoning. */
declare const budget: {
  /** null: there is no budget. */
  readonly total: number | null;
  spent(): number;
  /** At least 0; Infinity where there is no budget. */
  remaining(): number;
};

/** Why something is null so far, in the order in which it happened. */
declare function failures(): { id?: string; label?: string; phase?: string; kind: string; message: string }[];

// hands.

/** Runs a command that is configured under [checks], in a fresh workspace of a tree. */
declare function check(command: string | string[], options?: { on?: Base | 'base'; timeout?: number }): Promise<{
  ok: boolean; exitCode: number; stdout: string; stderr: string;
}>;

type Patches = (string | Patch | Result | null | undefined)[] | string | Patch | Result;

interface Conflict {
  /** The patch that was left out. */
  patch: string;
  /** The patches it conflicts with; empty: what they were merged onto. */
  with: string[];
  paths: string[];
}

interface Merged {
  /** A base for further agents, checks and merges. */
  tree: string;
  applied: string[];
  conflicts: Conflict[];
}

/** Merges patches in memory, in this order; one that conflicts is left out. */
declare function merge(patches: Patches, options?: { onto?: Base }): Promise<Merged>;

/** Moves a branch to the merge of patches. */
declare function land(patches: Patches, options?: { into?: string; verify?: string }): Promise<{
  landed: boolean; ref: string; commit?: string; applied: string[]; conflicts: Conflict[];
  verified?: boolean;
  /** Why it did not land. */
  reason?: string;
}>;

/** Asks a person, without holding a slot. `timeout` is in ms; then the default holds, or it rejects. */
declare function ask(question: string, options?: { choices?: string[]; default?: string; timeout?: number }): Promise<string>;

/** What the base of the run holds. */
declare const repo: {
  files(glob?: string): Promise<string[]>;
  read(path: string): Promise<string>;
  grep(pattern: string, glob?: string): Promise<{ path: string; line: number; text: string }[]>;
  log(options?: { path?: string; max?: number }): Promise<{ commit: string; author: string; date: string; subject: string }[]>;
};

// std.

/** What a strategy hands on to the agents it starts. */
type HandedOn = Omit<AgentOptions, 'id' | 'schema'>;

/** A strategy that knows how many agents it starts at most. */
type Worst<O> = { worst(options?: O): number };

interface VerifyOptions extends HandedOn {
  /** 1 to 99, default 3. */
  voters?: number;
  /** The share of the living voters that refutes, default 0.5. */
  threshold?: number;
  /** How many voters must live, default more than half of them. */
  quorum?: number;
  /** Stands before the claim instead of our own words. */
  prompt?: string;
  /** Of a vote; it needs the property `refuted`. */
  schema?: JSONSchema;
}
interface JudgeOptions extends HandedOn {
  /** 1 to 99, default 3. */
  judges?: number;
  /** What is judged; required. */
  criteria?: string | string[];
  prompt?: string;
}
interface UntilDryOptions {
  /** That many rounds in a row without anything new end it, default 2. */
  dry?: number;
  /** At most that many rounds, default 50. */
  max?: number;
  /** What makes two items the same, default all that they hold. */
  key?: string | ((item: any) => unknown);
  /** For worst(). */
  agentsPerRound?: number;
}
interface CriticOptions extends HandedOn {
  /** How many times the critic looks, default 2. */
  rounds?: number;
  /** What the draft is to cover. */
  task?: string;
  prompt?: string;
  /** Of a draft that is no text. */
  schema?: JSONSchema;
}

interface StagesOptions extends HandedOn {
  /** How often work goes back that failed its check or its review, 0 to 99, default 2. */
  rounds?: number;
  /** Options of one stage only. */
  planner?: HandedOn;
  implementer?: HandedOn;
  reviewer?: HandedOn;
}

/** Strategies, each with its worst-case number of agents as `worst(options)`. */
declare const std: {
  /** Voters try to refute a claim. */
  verify: ((claim: JSONValue, options?: VerifyOptions) => Promise<{
    verdict: 'held' | 'refuted' | 'unknown'; held: boolean; refuted: number; upheld: number; missing: number;
    voters: number; quorum: number; threshold: number; votes: any[];
  }>) & Worst<VerifyOptions>;
  /** Judges score candidates, each in another order. */
  judge: (<T extends JSONValue>(candidates: T[], options: JudgeOptions) => Promise<{
    winner: number | null; best: T | null; ranking: number[]; judges: number; missing: number[];
    scores: { index: number; mean: number | null; scores: (number | null)[]; reasons: (string | null)[] }[];
  }>) & Worst<JudgeOptions>;
  /** Calls a round until nothing new comes. An error it throws carries `found` and `rounds`. */
  untilDry: (<T>(round: (n: number, seen: T[]) => T[] | null | Promise<T[] | null>, options?: UntilDryOptions) => Promise<{
    found: T[]; rounds: number; dry: boolean; failed: number;
  }>) & Worst<UntilDryOptions>;
  /** Works through items in batches and says which were missed. An error it throws carries `results` and `missed`. */
  sweep: (<T, R>(items: T[], worker: (batch: T[], index: number) => R | null | Promise<R | null>, options?: {
    /** Items of a batch, default 1. */
    batch?: number;
    concurrency?: number;
  }) => Promise<{ results: (R | null)[]; missed: T[]; batches: number }>)
    & Worst<{ items?: number; batch?: number; concurrency?: number; agentsPerBatch?: number }>;
  /** Asks what is missing, has it put in, and asks again. */
  critic: (<T extends JSONValue>(draft: T, options?: CriticOptions) => Promise<{
    draft: T; complete: boolean | null; missing: string[]; rounds: number;
  }>) & Worst<CriticOptions>;
  /** Tries until a value is accepted; null where none was. */
  retry: (<T>(attempt: (n: number, last?: { value?: T; error?: unknown }) => T | Promise<T>, options?: {
    /** 1 to 1000, default 3. */
    times?: number;
    /** Default: not null and not undefined. */
    accept?: (value: T) => boolean | Promise<boolean>;
  }) => Promise<T | null>) & Worst<{ times?: number; accept?: (value: any) => unknown; agentsPerTry?: number }>;
  /** A planner, an implementer and a reviewer, each in a conversation of its own; what runs in between the harness runs. */
  stages: ((task: string, options?: StagesOptions) => Promise<{
    /** null: nobody could say. */
    pass: boolean | null;
    /** How often the work went back. */
    rounds: number;
    problems: string[];
    plan?: string;
    answer?: string;
    /** The stage that did not complete. */
    failed?: 'planner' | 'implementer' | 'reviewer';
    /** Of the implementer, oldest first: each is a change of the one before. */
    patches?: string[];
  }>) & Worst<StagesOptions>;
};

/** What the files of `.swarm/lib` export, by its name. */
declare const lib: Record<string, any>;

// what JavaScript has.

/**
 * Calls f after ms milliseconds, and gives the number of the timer. The run
 * records the end of a timer, so that a resume goes the same way.
 */
declare function setTimeout<A extends any[]>(f: (...args: A) => any, ms?: number, ...args: A): number;

/** Ends a timer that has not fired. */
declare function clearTimeout(timer?: number): void;

/** A copy that shares nothing with the value. */
declare function structuredClone<T>(value: T): T;

declare class URLSearchParams {
  constructor(init?: string | Record<string, string> | [string, string][]);
  append(name: string, value: string): void;
  delete(name: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string): boolean;
  set(name: string, value: string): void;
  toString(): string;
}

/** The parts of an address. It fetches nothing. */
declare class URL {
  constructor(url: string, base?: string);
  href: string;
  readonly origin: string;
  protocol: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  hash: string;
  readonly searchParams: URLSearchParams;
  toString(): string;
}
