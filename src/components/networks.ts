import { isIP } from "node:net";
import type { ControlPlaneContext } from "./context.ts";

/** Address ranges of a Shoot, and the addresses in them that are agreed on. */
export interface ShootNetworks {
  readonly pods: string;
  readonly services: string;
  /** Cluster IP of Service `kubernetes`: the first of the range. */
  readonly apiServer: string;
  /** Cluster IP of Service `kube-dns`: the tenth of the range. */
  readonly dns: string;
}

/** The Shoot's networks: as its spec says, else as the seed's defaults, else as Gardener's. IPv4. */
export function networksOf({ shoot, seed }: Pick<ControlPlaneContext, "shoot" | "seed">): ShootNetworks {
  const defaults = seed?.spec.networks.shootDefaults;
  const pods = shoot.spec.networking?.pods ?? defaults?.pods ?? "100.96.0.0/11";
  const services = shoot.spec.networking?.services ?? defaults?.services ?? "100.64.0.0/13";
  return { pods, services, apiServer: addressIn(services, 1), dns: addressIn(services, 10) };
}

/** The name under which machines reach the API server: internal, else external, else the bare address. */
export function internalApiServerName({ internalDomain, externalDomain, apiServerAddress }: ControlPlaneContext) {
  const domain = internalDomain ?? externalDomain;
  return domain === undefined ? apiServerAddress : `api.${domain}`;
}

/** The same on machines: where there is no name, one that is their own. */
export const nameOnMachines = (context: ControlPlaneContext): string =>
  internalApiServerName(context) ?? "kube-apiserver";

/** The name under which people reach the API server: external, else internal, else the bare address. */
export function externalApiServerName({ internalDomain, externalDomain, apiServerAddress }: ControlPlaneContext) {
  const domain = externalDomain ?? internalDomain;
  return domain === undefined ? apiServerAddress : `api.${domain}`;
}

/** The load balancer's address if it is an IPv4 address; some providers hand out host names. */
export function apiServerIP({ apiServerAddress }: ControlPlaneContext): string | undefined {
  return apiServerAddress !== undefined && isIP(apiServerAddress) === 4 ? apiServerAddress : undefined;
}

function addressIn(cidr: string, offset: number): string {
  const [base = "", prefix = "32"] = cidr.split("/");
  const number = base.split(".").reduce((sum, byte) => sum * 256 + Number(byte), 0);
  const size = 2 ** (32 - Number(prefix));
  const address = number - (number % size) + offset;
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
}

/** An IP address or host name as URLs have it. */
export const urlHost = (host: string): string => (host.includes(":") ? `[${host}]` : host);

/** The IP address or host name of a URL; throws where it is none. */
export const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, "");
