/**
 * Loaded into gardenadm before its own code (`node --import`) on a machine of a test: holds it for good within one row of a table, so
 * that it can be killed there, however short the row is. That is some time after the journal says that the row is running; where the
 * row is over by then, before the journal says so. What nsenter runs must not stop by a signal: it would stop, too.
 */
import { writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { env } from "node:process";

/** Where to hold it. */
export interface HoldInRow {
  /** The title of the table, and the row. */
  readonly flow: string;
  readonly step: string;
  /** In ms: how long the row is at work first. */
  readonly after: number;
  /** The file that is made then. */
  readonly mark: string;
}

const { flow, step, after, mark } = JSON.parse(env["HOLD_IN_ROW"] ?? "{}") as HoldInRow;

function hold(): void {
  writeFileSync(mark, "");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

const said = `"flow":${JSON.stringify(flow)},"step":${JSON.stringify(step)},`;
const handle = await open("/dev/null");
const handles = Object.getPrototypeOf(handle) as Pick<typeof handle, "writeFile">;
await handle.close();
const { writeFile } = handles;
/** Each line of the journal is written by one call. */
handles.writeFile = async function (...words) {
  const [line] = words;
  const isOfRow = typeof line === "string" && line.includes(said);
  const isRunning = isOfRow && line.includes('"state":"running"');
  if (isOfRow && !isRunning) hold();
  await writeFile.apply(this, words);
  if (isRunning) setTimeout(hold, after);
};
