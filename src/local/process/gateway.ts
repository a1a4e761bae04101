import { join } from "node:path";
import { gardenGroup, seedsGroup, seedUser } from "../../gateway/identity.ts";
import { createPki, type CertificateRequest } from "../cluster/pki.ts";
import type { Environment } from "../environment/environment.ts";
import { ensureKeyFile } from "../environment/key-file.ts";
import { createPorts } from "./ports.ts";
import type { TemporalServer } from "./temporal.ts";

/** The variables of the gateway's own process and of those that call it, by their names; and the files that these name. */
export interface GatewayAccess {
  readonly gateway: Settings;
  of(process: string): Settings;
}

type Settings = Readonly<Record<string, string>>;

/** The name of the process. */
export const gatewayName = "gateway";

/** The name in the gateway's certificate: the gateway has no name in any DNS. */
const serverName = "gateway.perennial.internal";

/**
 * Gives the gateway and each of its callers a certificate, signed by an authority of the environment's own. The development
 * server knows no TLS and listens on loopback; all our processes reach it through the gateway, as in production.
 */
export async function ensureGatewayAccess(o: {
  readonly environment: Pick<Environment, "stateDir">;
  readonly temporal: Pick<TemporalServer, "address" | "namespace">;
  readonly seeds: readonly string[];
  readonly running: boolean;
}): Promise<GatewayAccess> {
  const { environment, temporal, seeds, running } = o;
  const folder = gatewayFolder(environment);
  const pki = createPki(folder);
  const authority = await pki.authority(authorityName);
  const issue = async (request: CertificateRequest) => await pki.issue(authority, request);
  const server = await issue({ name: gatewayName, commonName: "perennial:gateway", hosts: [serverName, "127.0.0.1"] });
  const gardens = ["manager", "worker-garden", operatorName];
  for (const name of gardens) await issue({ name, commonName: `perennial:${name}`, organization: gardenGroup });
  for (const seed of seeds)
    await issue({ name: `worker-${seed}`, commonName: seedUser(seed), organization: seedsGroup });

  const claim = { owner: gatewayName, host: "127.0.0.1", preferred: 7250, running };
  const port = await createPorts(environment).claim(claim);
  return {
    gateway: {
      PERENNIAL_TEMPORAL_ADDRESS: temporal.address,
      PERENNIAL_TEMPORAL_NAMESPACE: temporal.namespace,
      PERENNIAL_GATEWAY_HOST: "127.0.0.1",
      PERENNIAL_GATEWAY_PORT: String(port),
      PERENNIAL_GATEWAY_CERT_FILE: server.certificateFile,
      PERENNIAL_GATEWAY_KEY_FILE: server.keyFile,
      PERENNIAL_GATEWAY_CLIENT_CA_FILE: authority.certificateFile,
      PERENNIAL_GATEWAY_KEYS_FILE: await ensureKeyFile(join(folder, "keys.json")),
    },
    of: (process) => {
      const { caFile, certFile, keyFile } = clientFiles(environment, process);
      return {
        PERENNIAL_TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
        PERENNIAL_TEMPORAL_NAMESPACE: temporal.namespace,
        PERENNIAL_TEMPORAL_CA_FILE: caFile,
        PERENNIAL_TEMPORAL_CERT_FILE: certFile,
        PERENNIAL_TEMPORAL_KEY_FILE: keyFile,
        PERENNIAL_TEMPORAL_SERVER_NAME: serverName,
      };
    },
  };
}

/** Where an operator reaches the environment's gateway, and with which files; undefined where there is none. */
export async function findGateway(environment: Pick<Environment, "stateDir">) {
  const { [gatewayName]: port } = await createPorts(environment).list();
  if (port === undefined) return undefined;
  return { address: `127.0.0.1:${port}`, serverName, ...clientFiles(environment, operatorName) };
}

const operatorName = "operator";

const authorityName = "temporal";

const gatewayFolder = ({ stateDir }: Pick<Environment, "stateDir">): string => join(stateDir, "gateway");

function clientFiles(environment: Pick<Environment, "stateDir">, process: string) {
  const file = (name: string) => join(gatewayFolder(environment), name);
  return { caFile: file(`${authorityName}.crt`), certFile: file(`${process}.crt`), keyFile: file(`${process}.key`) };
}
