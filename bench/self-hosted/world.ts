import type { KubeClient, ResourceType } from "../../src/kube/index.ts";
import type { MachineGround } from "./ground.ts";

/** What a command may have changed: of a machine, and of its API server. */
export interface World {
  readonly files: ReadonlyMap<string, string>;
  readonly units: ReadonlyMap<string, string>;
  /** Requests that write, by their sort, without those that a cluster makes all the time. */
  readonly writes: ReadonlyMap<string, number>;
  /** Versions of all objects but those that a cluster changes all the time. */
  readonly objects: ReadonlyMap<string, string>;
}

/** Looks at files, units and the API server's own count of requests. */
export async function lookAtWorld(ground: MachineGround, name: string): Promise<World> {
  const files = await ground.run(name, ["find", ...FOLDERS, "-type", "f", "-printf", "%p %T@ %C@\n"]);
  const units = await ground.run(name, [
    "systemctl",
    "show",
    ...UNITS,
    "--property",
    "Id,ActiveEnterTimestampMonotonic",
  ]);
  const client = await ground.client(name);
  try {
    const [metrics, objects] = await Promise.all([client.get("/metrics"), readVersions(client)]);
    return {
      objects,
      files: new Map(files.split("\n").map((line) => [line.split(" ")[0] ?? "", line])),
      units: new Map(units.split("\n\n").map((unit) => [/Id=(.*)/.exec(unit)?.[1] ?? "", unit])),
      writes: countWrites(String(metrics)),
    };
  } finally {
    await client.close();
  }
}

/** How many of each have changed, how many requests wrote, and what they were. */
export interface Changes {
  readonly files: number;
  readonly units: number;
  readonly writes: number;
  readonly objects: number;
  readonly sorts: readonly string[];
}

/** How much of each has changed from one look to a later one. */
export function changesOf(before: World, after: World): Changes {
  const differing = <T>(one: ReadonlyMap<string, T>, other: ReadonlyMap<string, T>) =>
    [...new Set([...one.keys(), ...other.keys()])].filter((key) => one.get(key) !== other.get(key));
  const sorts = differing(before.writes, after.writes);
  const writes = sorts.reduce((sum, sort) => sum + (after.writes.get(sort) ?? 0) - (before.writes.get(sort) ?? 0), 0);
  return {
    files: differing(before.files, after.files).length,
    units: differing(before.units, after.units).length,
    writes,
    objects: differing(before.objects, after.objects).length,
    sorts: [...sorts, ...differing(before.objects, after.objects)],
  };
}

const FOLDERS = [
  "/etc/kubernetes",
  "/etc/systemd/system",
  "/var/lib/static-pods",
  "/opt/bin",
  "/var/lib/kubelet/config",
];
const UNITS = ["kubelet", "containerd", "gardener-node-agent"];

async function readVersions(client: KubeClient): Promise<Map<string, string>> {
  const versions = new Map<string, string>();
  const isSteady = ({ plural, verbs }: ResourceType) =>
    verbs.includes("list") && !ALWAYS.test(plural) && plural !== "nodes" && plural !== "pods";
  for (const type of (await client.types()).filter(isSteady))
    for await (const { metadata } of client.metadata(type))
      versions.set(`${type.plural} ${metadata.namespace ?? ""}/${metadata.name}`, metadata.resourceVersion ?? "");
  return versions;
}

function countWrites(metrics: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [, labels = "", value] of metrics.matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const of = (label: string) => new RegExp(`(?:^|,)${label}="([^"]*)"`).exec(labels)?.[1] ?? "";
    const [verb, resource, sub] = [of("verb"), of("resource"), of("subresource")];
    if (!WRITES.has(verb) || of("dry_run") !== "" || ALWAYS.test(resource) || ALWAYS_BELOW.has(sub)) continue;
    const sort = `${verb} ${resource}${sub === "" ? "" : `/${sub}`}`;
    counts.set(sort, (counts.get(sort) ?? 0) + Number(value));
  }
  return counts;
}

const WRITES = new Set(["POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION"]);

/** Leases and Events, questions that are written like objects, and what controllers count of nodes and pods. */
const ALWAYS = /^(leases|events|endpointslices|.*reviews)$/;
const ALWAYS_BELOW = new Set(["status", "token"]);
