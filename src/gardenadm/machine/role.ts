import { readFile } from "node:fs/promises";
import type { NodeRole } from "../../api/names.ts";
import { parseYaml } from "../../parsing.ts";
import type { AgentPlaces } from "./agent-places.ts";

/** What the machine is for, as `gardenadm init` or `gardenadm join` has noted it; undefined where neither has got so far. */
export async function readRole({ pool }: Pick<AgentPlaces, "pool">): Promise<NodeRole | undefined> {
  const text = await readFile(pool, "utf8").catch(() => "");
  try {
    const { role } = (parseYaml(text, pool) ?? {}) as { readonly role?: unknown };
    return role === "worker" || role === "control-plane" ? role : undefined;
  } catch {
    return undefined;
  }
}
