import { readFile } from "node:fs/promises";
import { parseJson } from "../parsing.ts";
import { BARE, type MachineState } from "./changes.ts";
import { writeWhole } from "./whole-file.ts";

/** Where a machine keeps what it was made. The folder and the name are those of upstream's agent, the content is not. */
export const RECORD_PATH = "/var/lib/gardener-node-agent/last-applied-osc.yaml";

const identity = { apiVersion: "node.perennial.dev/v1", kind: "AppliedMachine" } as const;

/** What the record in this file says; a bare machine where there is none. Throws when it is not one of ours. */
export async function readRecord(file: string): Promise<MachineState> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Error(`cannot read what this machine was made, ${file}`, { cause: error });
  });
  if (text === undefined) return BARE;
  const record = parse(text);
  if (record?.apiVersion !== identity.apiVersion || record.kind !== identity.kind || !isState(record.state))
    throw new Error(
      `cannot use ${file}: it is not a record of this agent; move it away, and all files are written and all units restarted ` +
        "once more, while files and units that are wanted no longer stay",
    );
  return record.state;
}

/** Keeps the record, whole, safe from a power cut, and for root only. It names contents by checksum and holds none. */
export async function keepRecord(file: string, state: MachineState): Promise<void> {
  await writeWhole(file, Buffer.from(`${JSON.stringify({ ...identity, state }, null, 2)}\n`), 0o600);
}

interface Stored {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly state?: unknown;
}

/** JSON is YAML. */
function parse(text: string): Stored | undefined {
  try {
    const record: Stored | null = parseJson(text, "the record") as Stored | null;
    return record ?? undefined;
  } catch {
    return undefined;
  }
}

function isState(state: unknown): state is MachineState {
  const { files, units, folders } = (state ?? {}) as Partial<Record<keyof MachineState, unknown>>;
  return Array.isArray(files) && Array.isArray(units) && Array.isArray(folders);
}
