import { readFile } from "node:fs/promises";
import { execa } from "execa";

/** A process in the kernel's table. */
export interface ProcessDescription {
  /** Never the same for two processes that had the same pid. */
  readonly startTime: string;
  readonly rssBytes?: number;
  /** A signal has stopped it: it does nothing until another lets it go on. */
  readonly isStopped: boolean;
}

/** What the kernel says of a process, or undefined when there is none; a zombie counts as none, because it may never be reaped. */
export async function describeProcess(pid: number): Promise<ProcessDescription | undefined> {
  if (process.platform !== "linux") return await askPs(pid);
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  const parsed = stat === undefined ? undefined : parseStat(stat);
  if (parsed === undefined || "ZX".includes(parsed.state)) return undefined;
  return { startTime: parsed.startTime, rssBytes: parsed.rssPages * 4096, isStopped: isStopped(parsed.state) };
}

/**
 * The pid of the process that the note of a launcher speaks of, if that very process is alive. The note's lines are the
 * pid, the start time as `ps` tells it where there is one, and the content of /proc/<pid>/stat on Linux.
 */
export async function sameProcess(note: string): Promise<number | undefined> {
  const [first = "", psTime = "", stat] = note.split("\n");
  const pid = Number(first);
  if (!Number.isInteger(pid) || pid <= 1) return undefined;
  const noted = stat === undefined || stat === "" ? psTime.trim() : parseStat(stat)?.startTime;
  return (await describeProcess(pid))?.startTime === noted ? pid : undefined;
}

/** The fields of /proc/<pid>/stat that matter; the command in it may hold anything, brackets and blanks included. */
export function parseStat(stat: string): { state: string; startTime: string; rssPages: number } | undefined {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, startTime, rssPages] = [fields[0], fields[19], fields[21]];
  return state === undefined || startTime === undefined ? undefined : { state, startTime, rssPages: Number(rssPages) };
}

async function askPs(pid: number): Promise<ProcessDescription | undefined> {
  const { stdout, failed } = await execa("ps", ["-o", "stat=,rss=,lstart=", "-p", String(pid)], { reject: false });
  const [, state, rss, startTime] = /^\s*(\S+)\s+(\d+)\s+(.+?)\s*$/.exec(stdout) ?? [];
  if (failed || state === undefined || startTime === undefined || state.startsWith("Z")) return undefined;
  return { startTime, rssBytes: Number(rss) * 1024, isStopped: isStopped(state) };
}

/** By a signal, or by a debugger. */
function isStopped(state: string): boolean {
  return /^[Tt]/.test(state);
}
