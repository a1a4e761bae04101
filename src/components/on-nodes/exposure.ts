import type { DNSRecord, SelfHostedShootExposure } from "../../api/index.ts";
import { primaryDnsProvider } from "../../api/shoot/dns-provider.ts";
import { poolsOf, type ControlPlaneContext } from "../context.ts";
import { dnsRecordOf } from "../extension-objects.ts";

/** The Secret with an administrator's kubeconfig that leads to where the control plane is exposed. */
export const EXPOSED_ADMIN = "gardener-exposed";

/** What leads to the API servers of a self-hosted Shoot from elsewhere: nothing, the DNS by itself, or an extension (GEP-36). */
export type Exposure =
  { readonly by: "none" | "dns" } | { readonly by: "extension"; readonly type: string; readonly providerConfig?: Raw };

type Raw = SelfHostedShootExposure["spec"]["providerConfig"];

/** What the Shoot asks for. */
export function exposureOf(context: Pick<ControlPlaneContext, "shoot">): Exposure {
  const { exposure } = poolsOf(context).find(({ controlPlane }) => controlPlane !== undefined)?.controlPlane ?? {};
  if (exposure?.extension === undefined) return { by: exposure?.dns === undefined ? "none" : "dns" };
  const { type = context.shoot.spec.provider.type, providerConfig } = exposure.extension;
  return { by: "extension", type, ...(providerConfig && { providerConfig }) };
}

/** Whether a DNSRecord leads to the API servers: they are exposed, by whatever means, and the Shoot names a domain and who manages it. */
export function isInDns(context: Pick<ControlPlaneContext, "shoot">): boolean {
  const { shoot } = context;
  const isManaged = shoot.spec.dns?.domain !== undefined && primaryDnsProvider(shoot)?.type !== undefined;
  return isManaged && exposureOf(context).by !== "none";
}

/** What an extension is asked to lead to: API servers on these nodes. Undefined where none is asked. */
export function exposureObject(
  context: ControlPlaneContext,
  endpoints: SelfHostedShootExposure["spec"]["endpoints"],
): SelfHostedShootExposure | undefined {
  const exposure = exposureOf(context);
  if (exposure.by !== "extension") return undefined;
  const { type, providerConfig } = exposure;
  return {
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "SelfHostedShootExposure",
    metadata: { name: context.shoot.metadata.name, namespace: context.namespace },
    spec: { type, port: 443, endpoints, ...(providerConfig && { providerConfig }) },
  };
}

/** `api.<domain>` of these addresses; undefined where no DNSRecord leads to the API servers. Throws where there is no address. */
export function apiServerRecord(context: ControlPlaneContext, addresses: readonly string[]): DNSRecord | undefined {
  const type = primaryDnsProvider(context.shoot)?.type;
  if (type === undefined || !isInDns(context)) return undefined;
  return dnsRecordOf(context, "external", { type }, addresses);
}
