import { ControllerInstallation } from "../../api/index.ts";
import type { Finding } from "../../api/registration/health.ts";
import { setCondition, typeMeta, type KubeClient } from "../../kube/index.ts";
import type { Raw } from "../../api/index.ts";

/** Who writes which part of an installation's status: parts of different writers are merged by the API server. */
export type StatusWriter = "perennial-installation" | "perennial-installation-care";

/**
 * Makes these the conditions that the writer has in the status, and `providerStatus` what else it says there. Nothing is
 * written when nothing changes; conditions of other writers stay.
 */
export async function tellInstallation(
  gardenClient: KubeClient,
  installation: ControllerInstallation,
  { writer, findings, providerStatus }: Told,
): Promise<void> {
  const { conditions: before = [], providerStatus: saidBefore } = installation.status ?? {};
  const own = findings.map(({ type }) => type);
  const conditions = findings
    .reduce((all, finding) => setCondition(all, finding), before)
    .filter(({ type }) => own.includes(type));
  const isSaid = providerStatus === undefined || JSON.stringify(saidBefore) === JSON.stringify(providerStatus);
  const known = before.filter(({ type }) => own.includes(type));
  if (isSaid && JSON.stringify(sorted(known)) === JSON.stringify(sorted(conditions))) return;
  const { name, uid } = installation.metadata;
  const said = providerStatus ?? (writer === "perennial-installation" ? saidBefore : undefined);
  const status = { conditions, ...(said === undefined ? {} : { providerStatus: said }) };
  const object: ControllerInstallation = {
    ...typeMeta(ControllerInstallation),
    metadata: { name, uid },
    spec: installation.spec,
    status,
  };
  await gardenClient.applyStatus(object, { fieldManager: writer });
}

interface Told {
  readonly writer: StatusWriter;
  readonly findings: readonly Finding[];
  readonly providerStatus?: Raw;
}

const sorted = <T extends { readonly type: string }>(conditions: readonly T[]): readonly T[] =>
  [...conditions].sort((one, other) => (one.type < other.type ? -1 : 1));
