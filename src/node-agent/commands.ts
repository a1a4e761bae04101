import { execFile } from "node:child_process";

/** Runs a program with these arguments and gives its output; throws a CommandError when it fails or takes too long. */
export type Run = (args: readonly string[], signal?: AbortSignal) => Promise<string>;

/** A program that has failed, with what it said last. */
export class CommandError extends Error {
  /** undefined where it did not run, or did not end by itself. */
  readonly exitCode: number | undefined;
  constructor(message: string, exitCode: number | undefined) {
    super(message);
    this.name = "CommandError";
    this.exitCode = exitCode;
  }
}

/** systemd's `systemctl`, or another program that is to be used as one. It waits for the end of each job, three minutes at most. */
export function createSystemctl(program = "systemctl"): Run {
  return createRun(program, ["--no-pager", "--quiet"], { milliseconds: 180_000 });
}

/** containerd's `ctr`, in its default namespace as upstream's agent unless told otherwise; ten minutes at most, which is the download of an image. */
export function createCtr({ program = "ctr", address, namespace }: CtrOptions = {}): Run {
  const place = address === undefined ? [] : ["--address", address];
  return createRun(program, [...place, ...(namespace === undefined ? [] : ["--namespace", namespace])], {
    milliseconds: 600_000,
  });
}

/** Which containerd, and which of its namespaces: that of kubelets is k8s.io. */
export interface CtrOptions {
  readonly program?: string;
  readonly address?: string;
  readonly namespace?: string;
}

/** How long a program may take, in ms, before SIGKILL; and its environment, which is this process's unless told otherwise. */
export interface RunLimits {
  readonly milliseconds: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs this program, each time with these arguments in front. */
export function createRun(program: string, always: readonly string[], { milliseconds, env }: RunLimits): Run {
  const limits = { timeout: milliseconds, killSignal: "SIGKILL" as const, maxBuffer: 64 * 1024 * 1024 };
  return async (args, signal) =>
    new Promise((resolve, reject) => {
      const options = { ...limits, signal, ...(env === undefined ? {} : { env: { ...env } }) };
      execFile(program, [...always, ...args], options, (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        reject(signal?.aborted === true ? abortOf(signal) : failure(program, error, stderr, milliseconds));
      });
    });
}

function abortOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

function failure(
  program: string,
  error: Error & { code?: string | number | null | undefined; killed?: boolean | undefined },
  said: string,
  milliseconds: number,
): CommandError {
  if (error.code === "ENOENT") return new CommandError(`${program} is not installed`, undefined);
  if (error.killed === true)
    return new CommandError(`${program} did not end within ${milliseconds / 1000} s`, undefined);
  const exitCode = typeof error.code === "number" ? error.code : undefined;
  return new CommandError(lastLines(said) || `${program} ended with ${exitCode ?? error.message}`, exitCode);
}

const lastLines = (text: string): string => text.trim().split("\n").slice(-3).join(" ").slice(-1000);
