import { readFile } from "node:fs/promises";
import type { NodeRole } from "../../api/names.ts";
import { parseYaml } from "../../parsing.ts";

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

/** Reads the agent's configuration. Throws what of it cannot be used, naming the file. */
export async function readAgentConfiguration(file: string): Promise<AgentConfiguration> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new Error(`cannot read ${file}, without which a node agent does not know its cluster`, { cause });
  });
  const found = (parseYaml(text, file) ?? {}) as Readonly<Record<string, unknown>>;
  const textOf = (field: string) => {
    const value = found[field];
    if (typeof value === "string" && value !== "") return value;
    throw new Error(`cannot use ${file}: ${field} is missing; 'gardenadm join' or 'gardenadm init' writes the file`);
  };
  const [server, role] = [textOf("server"), textOf("role")];
  if (URL.parse(server)?.protocol !== "https:")
    throw new Error(`cannot use ${file}: server ${JSON.stringify(server)} has to be https://HOST[:PORT]`);
  if (role !== "worker" && role !== "control-plane")
    throw new Error(`cannot use ${file}: role ${JSON.stringify(role)} has to be worker or control-plane`);
  return { server, role, caFile: textOf("caFile"), secretName: textOf("secretName"), pool: textOf("pool") };
}
