import { readFile } from "node:fs/promises";
import type { NodeRole } from "../../api/names.ts";
import { parseYaml } from "../../parsing.ts";
import type { AgentPlaces } from "./agent-places.ts";

/** What an agent is told when it starts. */
export interface AgentConfiguration {
  /** URL of the API server. */
  readonly server: string;
  /** A file with the certificates that may have signed the server's, as a path of the machine. */
  readonly caFile: string;
  /** The Secret in kube-system that says what the machine is to be. */
  readonly secretName: string;
  /** The worker pool. */
  readonly pool: string;
  readonly role: NodeRole;
}

/** Reads what the agent is told: where its cluster is, and what its machine is for. Throws what cannot be used, naming the file. */
export async function readAgentConfiguration({
  configuration,
  pool,
}: Pick<AgentPlaces, "configuration" | "pool">): Promise<AgentConfiguration> {
  const [ofMachine, ofPool] = [await readFields(configuration), await readFields(pool)];
  const server = ofMachine("server");
  if (URL.parse(server)?.protocol !== "https:")
    throw new Error(`cannot use ${configuration}: server ${JSON.stringify(server)} has to be https://HOST[:PORT]`);
  const role = ofPool("role");
  if (role !== "worker" && role !== "control-plane")
    throw new Error(`cannot use ${pool}: role ${JSON.stringify(role)} has to be worker or control-plane`);
  return { server, role, caFile: ofMachine("caFile"), secretName: ofPool("secretName"), pool: ofPool("pool") };
}

async function readFields(file: string): Promise<(field: string) => string> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new Error(`cannot read ${file}, ${WRITERS}`, { cause });
  });
  const found = (parseYaml(text, file) ?? {}) as Readonly<Record<string, unknown>>;
  return (field) => {
    const value = found[field];
    if (typeof value === "string" && value !== "") return value;
    throw new Error(`cannot use ${file}, ${WRITERS}: ${field} is missing`);
  };
}

const WRITERS = "which 'gardenadm init' and 'gardenadm join' write";
