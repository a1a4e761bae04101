import { spawn } from "node:child_process";
import { open, readFile, rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { sameProcess } from "./table.ts";

/** What is started, and how one knows that it does its work. */
export interface Launch {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Says when the process does its work; throws or returns false while it does not yet. */
  readonly ready?: () => Promise<boolean>;
  /** Milliseconds; a minute unless told otherwise. */
  readonly readyTimeout?: number;
}

/** The shell writes down its id before it becomes the process: no process can run without a note of it. */
const launcher = [
  `{ echo $$; ps -o lstart= -p $$ 2>/dev/null || echo; cat /proc/$$/stat 2>/dev/null; } > "$0.new"`,
  `mv "$0.new" "$0"`,
  `exec "$@"`,
].join("\n");

/** Starts a process that outlives us, with its pid noted in `pidFile` and its output appended to `logFile`. */
export async function launch({ command, args, env, cwd }: Launch, pidFile: string, logFile: string): Promise<void> {
  await rm(pidFile, { force: true });
  const output = await open(logFile, "a", 0o600);
  try {
    const child = spawn("/bin/sh", ["-c", launcher, pidFile, command, ...args], {
      detached: true,
      stdio: ["ignore", output.fd, output.fd],
      env: { ...surroundings(process.env), ...env },
      ...(cwd === undefined ? {} : { cwd }),
    });
    await new Promise((resolve, reject) => child.once("spawn", resolve).once("error", reject));
    child.unref();
    for (
      let waited = 0;
      waited < 5_000 && (await readFile(pidFile).catch(() => undefined)) === undefined;
      waited += 10
    ) {
      await delay(10);
    }
  } finally {
    await output.close();
  }
}

/**
 * What a process inherits: not the settings of npm, tests, Node, Temporal, kubectl and ourselves, which are meant for
 * the program that starts it, and no proxy for the networks of this machine.
 */
export function surroundings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const foreign = /^(npm_|VITEST|NODE_(?!EXTRA_CA_CERTS)|TEMPORAL_|PERENNIAL_|KUBECONFIG$|INIT_CWD$|no_proxy$)/i;
  const kept = Object.entries(environment).filter(([name]) => !foreign.test(name));
  const direct = [
    environment["NO_PROXY"] ?? environment["no_proxy"],
    "127.0.0.1,localhost,::1,10.0.0.0/8,172.16.0.0/12",
  ];
  const noProxy = direct.filter((part) => part !== undefined && part !== "").join(",");
  return { ...Object.fromEntries(kept), NO_PROXY: noProxy, no_proxy: noProxy };
}

/** Returns when the process says that it is ready; throws, with the end of its log, when it ended or takes too long. */
export async function waitUntilReady(spec: Launch, pidFile: string, logFile: string): Promise<void> {
  const { name, ready, readyTimeout = 60_000 } = spec;
  const deadline = Date.now() + readyTimeout;
  let last: unknown = "it does not say so";
  for (let pause = 50; ; pause = Math.min(pause * 1.5, 500)) {
    if ((await findPid(pidFile)) === undefined)
      throw new Error(`cannot start ${name}: it ended; ${await tail(logFile)}`);
    const state = await (ready?.() ?? Promise.resolve(true)).catch((error: unknown) => ((last = error), false));
    if (state) return;
    if (Date.now() > deadline) {
      const why = last instanceof Error ? last.message : String(last);
      throw new Error(
        `cannot start ${name}: not ready after ${readyTimeout / 1000} s (${why}); ${await tail(logFile)}`,
      );
    }
    await delay(pause);
  }
}

/** The pid in the file if that very process still lives. */
export async function findPid(pidFile: string): Promise<number | undefined> {
  const note = await readFile(pidFile, "utf8").catch(() => undefined);
  return note === undefined ? undefined : await sameProcess(note);
}

async function tail(logFile: string): Promise<string> {
  const lines = (await readFile(logFile, "utf8").catch(() => "")).trimEnd().split("\n");
  return `the end of ${logFile}:\n${lines.slice(-15).join("\n")}`;
}
