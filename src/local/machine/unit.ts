/** The part of a systemd service that a machine understands. Times are milliseconds. */
export interface Unit {
  readonly name: string;
  readonly start: Command;
  readonly startPre: readonly Command[];
  /** Run when it has started; a oneshot, when it has ended. */
  readonly startPost: readonly Command[];
  readonly restart: "always" | "on-failure" | "no";
  readonly restartDelay: number;
  readonly oneshot: boolean;
  /** Counts as active when its process has ended well. */
  readonly remainAfterExit: boolean;
  /** Whether all its processes are ended with it, or only the first. */
  readonly killMode: "control-group" | "process";
  /** So many starts within this time, and it is not started again by itself. */
  readonly startLimit: { readonly burst: number; readonly interval: number };
  readonly environment: Readonly<Record<string, string>>;
  readonly environmentFiles: readonly { readonly path: string; readonly optional: boolean }[];
  readonly workingDirectory: string;
}

/** A command before its variables are filled in; with `mayFail` its exit code does not matter. */
export interface Command {
  readonly words: readonly string[];
  readonly mayFail: boolean;
}

/** Reads a unit file; throws when it starts nothing. What is not understood, such as dependencies, is passed over. */
export function parseUnit(name: string, text: string): Unit {
  const { last, all } = readSettings(text);
  const start = all("ExecStart").at(-1);
  if (start === undefined) throw new Error(`cannot use unit ${name}: it has no ExecStart`);
  const restart = last("Restart");
  return {
    name,
    start: parseCommand(start),
    startPre: all("ExecStartPre").map(parseCommand),
    startPost: all("ExecStartPost").map(parseCommand),
    restart: restart === "always" || restart === "on-failure" ? restart : "no",
    restartDelay: parseDuration(last("RestartSec") ?? "100ms"),
    oneshot: last("Type") === "oneshot",
    remainAfterExit: isYes(last("RemainAfterExit")),
    killMode: last("KillMode") === "process" ? "process" : "control-group",
    startLimit: {
      burst: Number(last("StartLimitBurst") ?? 5),
      interval: parseDuration(last("StartLimitIntervalSec") ?? "10s"),
    },
    environment: readAssignments(all("Environment").flatMap(splitWords)),
    environmentFiles: all("EnvironmentFile").map((path) => ({
      path: path.replace(/^-/, ""),
      optional: path.startsWith("-"),
    })),
    workingDirectory: (last("WorkingDirectory") ?? "/").replace(/^-/, ""),
  };
}

/** The variables that a file for EnvironmentFile= sets. */
export function parseEnvironmentFile(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => !/^\s*([#;]|$)/.test(line));
  return readAssignments(lines.map((line) => line.trim().replace(/=(["'])(.*)\1$/, "=$2")));
}

/** `${NAME}` is replaced wherever it stands, `$NAME` as a word of its own becomes as many words as its value has. */
export function expandCommand({ words }: Command, environment: Readonly<Record<string, string | undefined>>): string[] {
  return words.flatMap((word) => {
    const alone = /^\$([A-Za-z_]\w*)$/.exec(word)?.[1];
    if (alone !== undefined) return splitWords(environment[alone] ?? "");
    return [
      word.replace(/\$\$|\$\{(\w+)\}/g, (_, name?: string) => (name === undefined ? "$" : (environment[name] ?? ""))),
    ];
  });
}

/** The settings of a unit file with what its drop-ins add, by their keys, whichever section they are in. */
export interface Settings {
  /** What was assigned last; undefined where nothing was. */
  last(key: string): string | undefined;
  /** All that was assigned, without what an empty assignment has made forgotten. */
  all(key: string): string[];
  /** The same, word by word. */
  words(key: string): string[];
}

/** Reads a unit file of any kind. */
export function readSettings(text: string): Settings {
  const joined = text.replace(/\\\r?\n(?:\s*[#;].*\r?\n)*/g, " ");
  const settings = joined.split("\n").flatMap((line) => {
    const [, key, value] = /^\s*([A-Za-z]+)\s*=\s*(.*?)\s*$/s.exec(line) ?? [];
    return key === undefined || value === undefined ? [] : [{ key, value }];
  });
  const all = (key: string) => afterReset(settings.filter((setting) => setting.key === key));
  return {
    all,
    last: (key) => settings.filter((setting) => setting.key === key).at(-1)?.value,
    words: (key) => all(key).flatMap(splitWords),
  };
}

/** As systemd reads a truth value. */
const isYes = (text = ""): boolean => /^(1|yes|y|true|t|on)$/i.test(text);

/** An empty assignment forgets those before it, as in drop-ins. */
function afterReset(settings: readonly { readonly value: string }[]): string[] {
  const values = settings.map(({ value }) => value);
  return values.slice(values.lastIndexOf("") + 1);
}

function parseCommand(line: string): Command {
  const [, prefix = "", rest = ""] = /^([-@:+!]*)(.*)$/s.exec(line) ?? [];
  return { words: splitWords(rest.replaceAll("%%", "%")), mayFail: prefix.includes("-") };
}

function splitWords(line: string): string[] {
  const words = line.match(/(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\\.|[^\s"'\\])+/gs) ?? [];
  return words.map((word) =>
    word.replace(
      /"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|\\(.)/gs,
      (_, double?: string, single?: string, escaped?: string) =>
        double !== undefined ? double.replace(/\\(.)/gs, unescape) : (single ?? unescape("", escaped ?? "")),
    ),
  );
}

function unescape(_: string, character: string): string {
  return { n: "\n", t: "\t", r: "\r", s: " " }[character] ?? character;
}

function readAssignments(assignments: readonly string[]): Record<string, string> {
  const pairs = assignments.map((assignment): [string, string] => {
    const at = assignment.indexOf("=");
    return [assignment.slice(0, at), assignment.slice(at + 1)];
  });
  return Object.fromEntries(pairs.filter(([name]) => name !== ""));
}

/** `5`, `5s`, `100ms`, `1min 30s`. */
function parseDuration(text: string): number {
  const units: Record<string, number> = { ms: 1, s: 1000, sec: 1000, m: 60_000, min: 60_000, h: 3_600_000 };
  const parts = [...text.matchAll(/([\d.]+)\s*([a-z]*)/g)];
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (units[unit || "s"] ?? 1000), 0);
}
