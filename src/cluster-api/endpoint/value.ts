import { isIP, isIPv6 } from "node:net";

/** Where an API server answers. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** What `spec.controlPlaneEndpoint` of a Cluster, its infrastructure or its control plane may hold. */
export type EndpointField = { readonly host?: string | undefined; readonly port?: number | undefined } | undefined;

/** The endpoint that a field holds; undefined while it lacks its host or its port. */
export function completeEndpoint(field: EndpointField): Endpoint | undefined {
  const { host = "", port = 0 } = field ?? {};
  return host === "" || port === 0 ? undefined : { host, port };
}

/** Whether two are one place, however each is spelled. */
export function isSameEndpoint(a: Endpoint | undefined, b: Endpoint | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.port === b.port && canonicalHost(a.host) === canonicalHost(b.host);
}

/** In small letters, without brackets and final dot, IPv6 in its shortest form. */
function canonicalHost(host: string): string {
  const bare = host
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "")
    .toLowerCase();
  return isIPv6(bare) && !bare.includes("%") ? new URL(`https://[${bare}]`).hostname.slice(1, -1) : bare;
}

/** The endpoint as a ClusterEndpoint holds it; undefined where its definition would refuse it. */
export function asClusterEndpoint({ host, port }: Endpoint): Endpoint | undefined {
  const canonical = canonicalHost(host);
  return isEndpointHost(canonical) ? { host: canonical, port } : undefined;
}

function isEndpointHost(host: string): boolean {
  if (isIP(host) !== 0) return !host.includes("%");
  return host.length <= 253 && dnsName.test(host) && !/(?:^|\.)(?:0x[0-9a-f]*|[0-9]+)$/.test(host);
}

const label = "[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?";
const dnsName = new RegExp(`^${label}(?:\\.${label})*$`);

/** The endpoint as it stands in a URL: `api.example.com:443`, `[2001:db8::1]:443`. */
export function renderEndpoint({ host, port }: Endpoint): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** The endpoint that a URL leads to; undefined for what is no URL. */
export function parseUrlEndpoint(url: string): Endpoint | undefined {
  if (!URL.canParse(url)) return undefined;
  const { hostname, port, protocol } = new URL(url);
  return { host: canonicalHost(hostname), port: Number(port) || (protocol === "http:" ? 80 : 443) };
}
