import { afterAll, beforeAll, expect, test } from "vitest";
import { Deployment, Node, refTo } from "../../src/kube/index.ts";
import { findSet } from "../../src/local/bare/set.ts";
import { CONFIGURATION_FOLDER } from "../../src/local/bare/configuration.ts";
import { queryRecords } from "../../src/provider-local/dns/name-server.ts";
import type { BareGround } from "../support/bare-machines.ts";
import { fileOf } from "../support/cluster-world.ts";
import { eventually } from "../support/eventually.ts";
import { INIT, startGardenadmMachines, type GardenadmMachine } from "../support/gardenadm-machine.ts";
import { startNameServer, type TestNameServer } from "../support/name-server.ts";

/** A control plane that the DNS leads to, and whose machines ask a real name server. */
const SET = "test-exposure";
const apiName = { name: "api.root.garden.perennial.test", type: "A" as const };
let ground: BareGround;
let machines: Readonly<Record<"a" | "b" | "w", GardenadmMachine>>;
let names: TestNameServer;

beforeAll(async () => {
  ({ ground, machines } = await startGardenadmMachines(SET, ["a", "b", "w"]));
  const { gateway = expect.fail("the set is gone") } = (await findSet(SET)) ?? {};
  names = await startNameServer("garden.perennial.test", { at: { address: gateway, port: 53 } });
  for (const name of ["a", "b", "w"])
    await ground.inMachine(name, "sh", "-c", `rm -f /etc/resolv.conf; echo nameserver ${gateway} > /etc/resolv.conf`);
  await ground.inMachine("a", "sh", "-c", CONFIGURE, "configure", CONFIGURATION_FOLDER, gateway, names.key.secret);
  await machines.a.succeed(INIT);
});

afterAll(async () => {
  await names.stop();
  await ground.stop();
});

test("the DNS leads to the first node, and an administrator elsewhere by it", async () => {
  expect(await addresses()).toEqual([await addressOf("a")]);
  expect(await fileOf(machines.a, "/etc/kubernetes/admin-exposed.conf")).toContain(`server: https://${apiName.name}\n`);
});

test("a node that joins is led to, and a worker finds API servers by their name alone", async () => {
  await machines.b.succeed(await machines.a.invite("control-plane"));
  const both = [await addressOf("a"), await addressOf("b")].toSorted();
  expect(await addresses()).toEqual(both);
  const invitation = await machines.a.invite("worker");
  expect(invitation.words).toContain(`https://${apiName.name}`);
  await machines.w.succeed(invitation);
  expect(await fileOf(machines.w, "/etc/hosts")).not.toContain("# API server");
  for (const name of ["a", "b"] as const)
    expect(await fileOf(machines[name], "/etc/hosts")).toContain(`127.0.0.1 ${apiName.name} # API server`);
});

test("status tells the members on a node of the control plane, and a worker what it is", async () => {
  const { stdout } = await machines.b.succeed({ words: ["status", "-o", "json"] });
  const member = (name: string): unknown => expect.objectContaining({ name, answers: true, lag: expect.any(Number) });
  expect(JSON.parse(stdout)).toMatchObject({
    role: "control-plane",
    etcds: ["etcd-main", "etcd-events"].map((name) => ({ name, members: [member("a"), member("b")] })),
    next: [],
  });
  const ofWorker = await machines.w.succeed({ words: ["status", "-o", "json"] });
  expect(JSON.parse(ofWorker.stdout)).toMatchObject({ role: "worker", apiServer: { ready: true }, next: [] });
});

test("a flag that is changed in the cluster reaches the static pods of all nodes, without any command", async () => {
  const value = ["--max-requests-inflight=555"];
  await machines.a.asAdministrator(async (client) => {
    const apiServer = refTo(Deployment, { namespace: "kube-system", name: "kube-apiserver" });
    await client.patch(apiServer, [{ op: "add", path: "/spec/template/spec/containers/0/args", value }]);
  });
  await eventually(async () => {
    for (const name of ["a", "b"])
      expect(
        await ground.inMachine(name, "sh", "-c", "tr '\\0' ' ' < /proc/$(pgrep -x kube-apiserver)/cmdline"),
      ).toContain(value[0]);
  }, 180_000);
  await eventually(async () => {
    for (const name of ["a", "b"] as const) expect((await machines[name].gardenadm("status")).code).toBe(0);
  }, 120_000);
});

test("a node that goes is led to no more", async () => {
  await machines.b.succeed({ words: ["reset"] });
  expect(await addresses()).toEqual([await addressOf("a")]);
  await machines.a.asAdministrator(async (client) => {
    expect((await client.list(Node)).map(({ metadata }) => metadata.name)).toEqual(["a", "w"]);
  });
});

const addresses = async () => await queryRecords(names.server, apiName);

const addressOf = async (name: string): Promise<string> =>
  (await ground.machines.list()).find((machine) => machine.name === name)?.address ?? expect.fail(`${name} is off`);

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
