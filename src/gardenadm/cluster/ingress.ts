import { SelfHostedShootExposure, type Shoot } from "../../api/index.ts";
import { SYSTEM_NAMESPACE } from "../../api/names.ts";
import { exposureOf } from "../../components/index.ts";
import type { KubeClient } from "../../kube/index.ts";

/** IP addresses and host names at which an extension has said that it exposes the API servers; none before there is one, or where none is asked. */
export async function readIngress(client: Pick<KubeClient, "read">, shoot: Shoot): Promise<readonly string[]> {
  if (exposureOf({ shoot }).by !== "extension") return [];
  const key = { namespace: SYSTEM_NAMESPACE, name: shoot.metadata.name };
  const { status } = (await client.read(SelfHostedShootExposure, key)) ?? {};
  return (status?.ingress ?? []).flatMap(({ ip, hostname }) => ip ?? hostname ?? []);
}
