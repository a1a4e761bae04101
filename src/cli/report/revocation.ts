import { setTimeout as sleep } from "node:timers/promises";
import { KUBECONFIG_REVOCATION_ANNOTATION, OPERATION_ANNOTATION } from "../../api/annotations.ts";
import { commandLines } from "../../api/command-lines.ts";
import { Shoot } from "../../api/index.ts";
import { kubeconfigSecretName } from "../../api/names.ts";
import { refTo, Secret, type KubeClient } from "../../kube/index.ts";
import { CliError } from "../exit.ts";

/** How a revocation is waited for. Times are ms. */
export interface Waiting {
  readonly signal: AbortSignal;
  readonly timeout?: number | undefined;
  readonly period?: number;
}

/**
 * Asks that all kubeconfigs of the Shoot given out so far be worth nothing, and returns when another is published. The
 * request stands in the Shoot's annotations: whatever happens to this process, the Shoot's next operation meets it.
 */
export async function revokeKubeconfigs(client: KubeClient, shoot: Shoot, waiting: Waiting): Promise<void> {
  const { namespace, name, annotations } = shoot.metadata;
  const revocation = new Date().toISOString();
  const operation = annotations?.[OPERATION_ANNOTATION] ?? "reconcile";
  await client.patch(refTo(Shoot, { namespace, name }), {
    metadata: { annotations: { [KUBECONFIG_REVOCATION_ANNOTATION]: revocation, [OPERATION_ANNOTATION]: operation } },
  });
  if (shoot.spec.hibernation?.enabled) {
    const why = "its API server does not run, and lets no user in; it revokes them when it wakes up";
    throw new CliError(
      "failed",
      `kubeconfigs of Shoot ${namespace}/${name} are not revoked yet: it hibernates, ${why}`,
    );
  }
  await untilMet(client, shoot, revocation, waiting);
}

async function untilMet(
  client: KubeClient,
  { metadata: { namespace, name } }: Shoot,
  revocation: string,
  { signal, timeout = 600_000, period = 1_000 }: Waiting,
): Promise<void> {
  const ref = refTo(Secret, { namespace, name: kubeconfigSecretName(name) });
  const end = performance.now() + timeout;
  while ((await client.read(ref))?.metadata.annotations?.[KUBECONFIG_REVOCATION_ANNOTATION] !== revocation) {
    const see = `see '${commandLines.describeShoot(`${namespace}/${name}`)}'`;
    const left = `the revocation of kubeconfigs of Shoot ${namespace}/${name} goes on without us: ${see}`;
    if (signal.aborted) throw new CliError("interrupted", left);
    if (performance.now() >= end) throw new CliError("timeout", left);
    await sleep(period, undefined, { signal }).catch(() => undefined);
  }
}
