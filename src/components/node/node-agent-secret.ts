import { createHash } from "node:crypto";
import { MACHINE_CHECKSUM_ANNOTATION, SERIAL_ANNOTATION } from "../../api/annotations.ts";
import { POOL_LABEL, ROLE_LABEL } from "../../api/labels.ts";
import type { KubeObject, OperatingSystemConfig } from "../../api/index.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import type { ControlPlaneContext, WorkerPool } from "../context.ts";
import type { File } from "./file.ts";
import { nodeAgentSecretName } from "./pool.ts";
import { renderYaml } from "../../yaml.ts";

/** The value of a key of a Secret in the Shoot's namespace, as it stands in the Secret: base64. */
export type SecretLookup = (name: string, key: string) => string;

/**
 * The Secret in the Shoot that the pool's machines read: the OperatingSystemConfig of purpose `reconcile`, after its
 * webhooks have changed its spec and its controller has added files and units in its status; the agent puts both together.
 * It holds nothing that changes without a machine having to change; the annotation tells the agent whether it does.
 */
export function nodeAgentSecret(
  context: ControlPlaneContext,
  pool: WorkerPool,
  config: OperatingSystemConfig,
  lookup: SecretLookup,
): KubeObject {
  const { data, checksum } = machineContent(forMachines(config, lookup));
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: nodeAgentSecretName(context, pool),
      namespace: "kube-system",
      labels: { [ROLE_LABEL]: "operating-system-config", [POOL_LABEL]: pool.name },
      annotations: {
        [MACHINE_CHECKSUM_ANNOTATION]: checksum,
        // Static pods of a control plane are one for each node: with all of them away at once, there is no cluster.
        ...(pool.controlPlane === undefined ? {} : { [SERIAL_ANNOTATION]: "true" }),
      },
    },
    type: "Opaque",
    data,
  };
}

/** The data of a Secret from which machines read what they are to be, and the checksum by which they see that it has changed. */
export function machineContent(config: object): { readonly data: Record<string, string>; readonly checksum: string } {
  const content = renderYaml(config);
  return {
    data: { "osc.yaml": Buffer.from(content).toString("base64") },
    checksum: createHash("sha256").update(content).digest("hex"),
  };
}

function forMachines({ apiVersion, kind, spec, status = {} }: OperatingSystemConfig, lookup: SecretLookup) {
  const { units, files, criConfig, inPlaceUpdates } = spec;
  const { extensionUnits, extensionFiles, inPlaceUpdates: operatingSystemUpdate } = status;
  const inlined = (file: File) => withContent(file, lookup);
  return {
    apiVersion,
    kind,
    metadata: {},
    spec: omitUndefined({ criConfig, units, files: files?.map(inlined), inPlaceUpdates }),
    status: omitUndefined({
      extensionUnits,
      extensionFiles: extensionFiles?.map(inlined),
      inPlaceUpdates: operatingSystemUpdate,
    }),
  };
}

/** Machines cannot read the Secrets beside their control plane. */
function withContent(file: File, lookup: SecretLookup): File {
  const { secretRef, ...others } = file.content;
  if (secretRef === undefined) return file;
  return {
    ...file,
    content: { ...others, inline: { encoding: "b64", data: lookup(secretRef.name, secretRef.dataKey) } },
  };
}
