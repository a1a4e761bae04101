import { expect } from "vitest";
import { CONFIGURATION_FOLDER } from "../../src/local/bare/configuration.ts";
import { findSet } from "../../src/local/bare/set.ts";
import type { BareGround } from "./bare-machines.ts";
import type { GardenadmMachine } from "./gardenadm-machine.ts";
import { startNameServer, type TestNameServer } from "./name-server.ts";

/** Where API servers are found that {@link askNameServer} has exposed. */
export const apiRecord = { name: "api.root.garden.perennial.test", type: "A" as const };

/** Starts a real name server that all machines of the set ask, and has the configuration of this machine expose its control plane there. */
export async function askNameServer(
  set: string,
  ground: BareGround,
  configured: GardenadmMachine,
): Promise<TestNameServer> {
  const { gateway = expect.fail("the set is gone") } = (await findSet(set)) ?? {};
  const names = await startNameServer("garden.perennial.test", { at: { address: gateway, port: 53 } });
  for (const { name } of await ground.machines.list())
    await ground.inMachine(name, "sh", "-c", `rm -f /etc/resolv.conf; echo nameserver ${gateway} > /etc/resolv.conf`);
  const { secret } = names.key;
  await ground.inMachine(configured.name, "sh", "-c", CONFIGURE, "configure", CONFIGURATION_FOLDER, gateway, secret);
  return names;
}

/** Asks for an exposure by the DNS, at this server, whose key has this secret. */
const CONFIGURE = `
set -eu
cd "$1"
sed -i 's/^    domain: root.garden.perennial.test/&\\n    providers: [{ type: rfc2136, primary: true, secretName: dns }]/; s/^        controlPlane: {}/        controlPlane: { exposure: { dns: {} } }/' shoot-root.yaml
cat > secret-dns.yaml <<END
apiVersion: v1
kind: Secret
metadata: { name: dns, namespace: garden }
stringData:
  Server: "$2:53"
  TSIGKeyName: test
  TSIGSecret: "$3"
  TSIGSecretAlgorithm: hmac-sha256
  Zone: garden.perennial.test
END
`;
