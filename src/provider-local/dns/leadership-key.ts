import { readNamespaceProject } from "../../api/core/namespace-project.ts";
import type { DNSRecord } from "../../api/index.ts";
import { ROLE_LABEL } from "../../api/labels.ts";
import { ExtensionError } from "../../extension/index.ts";
import type { KubeClient, Secret } from "../../kube/index.ts";

/** Whether a Secret has the key of the leadership records: by that label the garden's workers find it, too. */
export const isLeadershipKey = ({ metadata }: Secret): boolean => metadata.labels?.[ROLE_LABEL] === "leadership-domain";

/**
 * Throws unless a DNSRecord is the leadership record of a Shoot of its own namespace. A DNSRecord of one project that is written with the key of
 * the leadership records does not say who leads the Shoots of another.
 */
export async function requireOwnLeadershipRecord(
  client: KubeClient,
  { metadata: { name, namespace }, spec }: DNSRecord,
): Promise<void> {
  const { name: project } = await readNamespaceProject(client, namespace);
  const shoot = name.endsWith(suffix) ? name.slice(0, -suffix.length) : "";
  // With a dot in it, either could stand for two names of which the other's project is one.
  const areLabels = [shoot, project].every((part) => part !== "" && !part.includes("."));
  const isIts = areLabels && spec.name.startsWith(`${shoot}.${project}.`);
  if (isIts && spec.class === "garden" && spec.recordType === "TXT") return;
  throw new ExtensionError(
    `cannot write ${spec.recordType} ${spec.name} with the key of the leadership records: DNSRecord ${namespace}/${name} is not the leadership record of a Shoot of project ${project}, which is called <shoot>${suffix}, is of class garden, and writes TXT <shoot>.${project}.<leadership domain>: name another Secret in spec.secretRef`,
    ["ERR_CONFIGURATION_PROBLEM"],
  );
}

const suffix = "-leadership";
