import { isIP } from "node:net";
import { SelfHostedShootExposure, type Shoot } from "../../api/index.ts";
import { SYSTEM_NAMESPACE } from "../../api/names.ts";
import { exposureOf } from "../../components/index.ts";
import type { KubeClient } from "../../kube/index.ts";

/**
 * IP addresses and host names at which an extension has said that it exposes the API servers; none before there is one, or where none is asked. What
 * is neither is left out: it would get into command lines and certificates.
 */
export async function readIngress(client: Pick<KubeClient, "read">, shoot: Shoot): Promise<readonly string[]> {
  if (exposureOf({ shoot }).by !== "extension") return [];
  const key = { namespace: SYSTEM_NAMESPACE, name: shoot.metadata.name };
  const { status } = (await client.read(SelfHostedShootExposure, key)) ?? {};
  return (status?.ingress ?? []).flatMap(({ ip, hostname }) => ip ?? hostname ?? []).filter(isHost);
}

const isHost = (text: string): boolean => isIP(text) !== 0 || /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/i.test(text);
