import { dirname } from "node:path";
import { STATIC_POD_HASH_ANNOTATION } from "../../api/annotations.ts";
import { STATIC_POD_MANIFESTS } from "../../components/node/kubelet-config.ts";
import type { ExpectedPod } from "../../node-agent/static-pods.ts";
import { filesFor, inlineBytes, type MachineConfig } from "../../node-agent/wanted.ts";
import { parseYaml } from "../../parsing.ts";

/** A static pod that a machine's configuration brings, and the URLs at which it says that it is ready. */
export interface ManifestPod extends ExpectedPod {
  readonly readyAt: readonly string[];
}

/** The static pods of the machine of this host name, by the manifests among its files. */
export function manifestPods(config: MachineConfig, hostName: string): ManifestPod[] {
  return filesFor(config, hostName).flatMap(({ path, content: { inline } }) => {
    if (dirname(path) !== STATIC_POD_MANIFESTS || inline === undefined) return [];
    return [podOf(parseYaml(inlineBytes(path, inline).toString(), path) as Manifest)];
  });
}

/** A manifest of ours, as far as it is looked at. */
interface Manifest {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly containers: readonly Container[] };
}

interface Container {
  readonly name: string;
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly readinessProbe?: {
    readonly httpGet?: {
      readonly host?: string;
      readonly path?: string;
      readonly port: number | string;
      readonly scheme?: string;
    };
  };
}

function podOf({
  metadata: { name, namespace = "default", annotations = {} },
  spec: { containers },
}: Manifest): ManifestPod {
  return {
    ...{ namespace, name, containers: containers.map((container) => container.name) },
    hash: annotations[STATIC_POD_HASH_ANNOTATION] ?? "",
    readyAt: containers.flatMap(readyAt),
  };
}

/** Static pods of a control plane are in the network of their node. */
function readyAt({ readinessProbe, ports = [] }: Container): string[] {
  const asked = readinessProbe?.httpGet;
  if (asked === undefined) return [];
  const { host = "127.0.0.1", path = "/", scheme = "HTTP" } = asked;
  const port = ports.find((each) => each.name === asked.port)?.containerPort ?? asked.port;
  return [`${scheme.toLowerCase()}://${host}:${port}${path}`];
}
