import type { KubeObject } from "../api/index.ts";
import { nodeObjectName } from "../components/index.ts";
import type { Refuse } from "./refusal.ts";

/** What a static pod is made from besides its workload. */
export interface Sources {
  /** Secrets and ConfigMaps of the workload's namespace; others among them do no harm. */
  readonly objects: readonly KubeObject[];
  /** Host names of the nodes that carry the control plane. */
  readonly nodes: readonly string[];
}

/** Content of a Secret or ConfigMap: one for all nodes, or one for each of them by its host name. */
export type Content =
  | { readonly of: "all"; readonly data: Data }
  | { readonly of: "each"; readonly nodes: readonly { readonly hostName: string; readonly data: Data }[] };

/** Values in base64 by key. */
export type Data = Readonly<Record<string, string>>;

/** Looks an object up for a field that names it; `undefined` where it is missing and may be. */
export type Lookup = (
  kind: "Secret" | "ConfigMap",
  reference: { readonly name: string; readonly optional?: boolean | undefined },
  field: string,
) => Content | undefined;

/**
 * An object of the name that a workload mentions is for all nodes. Where there is none, each node has one of its own, whose
 * name ends with the node's ({@link nodeObjectName}). Refuses what is missing, for all nodes or for one.
 */
export function lookupIn({ objects, nodes }: Sources, refuse: Refuse): Lookup {
  const byName = new Map(objects.map((object) => [`${object.kind}/${object.metadata.name}`, object]));
  return (kind, { name, optional }, field) => {
    const common = byName.get(`${kind}/${name}`);
    if (common !== undefined) return { of: "all", data: dataOf(common) };
    const own = nodes.map((hostName) => ({
      hostName,
      object: byName.get(`${kind}/${nodeObjectName(name, hostName)}`),
    }));
    const found = own.flatMap(({ hostName, object }) =>
      object === undefined ? [] : [{ hostName, data: dataOf(object) }],
    );
    if (found.length === nodes.length && nodes.length > 0) return { of: "each", nodes: found };
    if (found.length === 0 && optional === true) return undefined;
    const without = own.find(({ object }) => object === undefined);
    if (found.length === 0 || without === undefined)
      return refuse(field, `names ${kind} ${name}, which is missing`, "make it before the static pod");
    return refuse(
      field,
      `names ${kind} ${name}, which some nodes have of their own, and node ${without.hostName} has not`,
      `make ${kind} ${nodeObjectName(name, without.hostName)} before the static pod`,
    );
  };
}

function dataOf(object: KubeObject): Data {
  const data = (object["data"] ?? {}) as Data;
  if (object.kind === "Secret") return data;
  const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")] as const);
  return { ...Object.fromEntries(encoded), ...((object["binaryData"] ?? {}) as Data) };
}
