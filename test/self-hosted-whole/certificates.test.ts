import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "node:tls";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isReady } from "../../src/activities/waits/readiness.ts";
import { dueCertificates, findCertificates, renewsItself } from "../../src/gardenadm/machine/certificates.ts";
import { Node } from "../../src/kube/index.ts";
import {
  ageFiles,
  agedCertificate,
  ageSecrets,
  authoritiesOf,
  certificatesIn,
  type Life,
} from "../support/aged-certificates.ts";
import type { BareGround } from "../support/bare-machines.ts";
import { eventually } from "../support/eventually.ts";
import { INIT, startGardenadmMachines, type GardenadmMachine } from "../support/gardenadm-machine.ts";

let ground: BareGround;
let machines: Readonly<Record<"a" | "b" | "w", GardenadmMachine>>;

beforeAll(async () => {
  ({ ground, machines } = await startGardenadmMachines("test-certs", ["a", "b", "w"]));
  const { a, b, w } = machines;
  await a.succeed(INIT);
  await b.succeed(await a.invite("control-plane"));
  await w.succeed(await a.invite("worker"));
});

afterAll(async () => {
  await ground.stop();
});

const FOLDERS = ["/var/lib/static-pods", "/etc/kubernetes/admin.conf", "/var/lib/kubelet/kubeconfig-real"];
const AGENT = "/var/lib/gardener-node-agent/credentials/kubeconfig";
const KUBELET = "/var/lib/kubelet/pki/kubelet-client-current.pem";

test("certificates of a control plane that end soon are renewed by a node that has no configuration, one node after another", async () => {
  const { a, b } = machines;
  const aged = await a.asAdministrator(async (client) => await ageSecrets(client, { from: -300, to: 20 }));
  const roots = { a: await a.root(), b: await b.root() };
  for (const root of Object.values(roots)) await ageFiles(root, FOLDERS, aged);
  for (const root of Object.values(roots)) expect((await dueCertificates(root, Date.now())).length).toBeGreaterThan(8);
  const { stdout, stderr } = await b.gardenadm("status");
  expect(`${stdout}${stderr}`).toMatch(/\d+ certificates end soon/);
  const before = { a: await served(a), b: await served(b) };

  const gaps = await watched([a, b], async () => {
    await ground.inMachine("b", "systemctl", "restart", "gardener-node-agent.service");
    for (const root of Object.values(roots))
      await eventually(async () => expect(await dueCertificates(root, Date.now())).toEqual([]), 600_000);
    for (const machine of [a, b])
      await eventually(async () => expect(await served(machine)).not.toBe(before[machine.name as "a"]), 300_000);
    const unit = ["systemctl", "is-failed", "gardenadm-renewal.service"];
    await eventually(async () => expect((await ground.machines.exec("b", unit)).stdout).toContain("inactive"), 300_000);
  });

  expect(gaps.both, "looks at which neither API server was ready").toBe(0);
  for (const root of Object.values(roots)) {
    const soon = new Date(Date.now() + 300 * 86_400_000).toISOString();
    const early = (await findCertificates(root)).filter(
      ({ expiresAt, file }) => expiresAt < soon && !renewsItself(file),
    );
    expect(early).toEqual([]);
  }
  for (const machine of [a, b])
    await machine.asAdministrator(async (client) => expect((await client.list(Node)).filter(isReady)).toHaveLength(3));
});

/** The number of the certificate that a machine's API server shows. */
async function served({ name }: GardenadmMachine): Promise<string> {
  const found = (await ground.machines.list()).find((each) => each.name === name) ?? expect.fail(`${name} is gone`);
  return await new Promise((resolve, reject) => {
    const socket = connect({ host: found.address, port: 443, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

/** Asks all API servers twice a second, while the work lasts, whether they are ready; answers at how many looks none was. */
async function watched(asked: readonly GardenadmMachine[], work: () => Promise<void>): Promise<{ both: number }> {
  const state = { over: false, both: 0 };
  const watching = (async () => {
    while (!state.over) {
      const ready = await Promise.all(asked.map(isServing));
      if (!ready.includes(true)) state.both += 1;
      await delay(500);
    }
  })();
  await work().finally(() => (state.over = true));
  await watching;
  return state;
}

async function isServing(machine: GardenadmMachine): Promise<boolean> {
  const limited = Promise.race([
    machine.asAdministrator(async (client) => (await client.get("/readyz")) === "ok"),
    delay(5_000, false),
  ]);
  return await limited.catch(() => false);
}

test.each(["a", "w"] as const)(
  "an agent and a kubelet renew their own certificates before they end, on %s",
  async (name) => {
    await ageOwn(machines[name], { from: -28, to: 2 });
    await ground.inMachine(name, "systemctl", "restart", "kubelet.service");
    for (const file of [AGENT, KUBELET])
      await eventually(async () => expect(await daysLeft(machines[name], file), file).toBeGreaterThan(20), 300_000);
    await machines.a.asAdministrator(async (client) => {
      await eventually(async () => expect((await client.list(Node)).filter(isReady)).toHaveLength(3), 120_000);
    });
  },
);

test("a worker that was off for longer than its certificates are good joins again by one command", async () => {
  const { a, w } = machines;
  await ground.inMachine("w", "systemctl", "stop", "kubelet.service", "gardener-node-agent.service");
  await ageOwn(w, { from: -40, to: -1 });
  await ground.machines.cutPower("w");
  await ground.machines.on("w");
  await w.succeed(await a.invite("worker"));
  for (const file of [AGENT, KUBELET]) expect(await daysLeft(w, file), file).toBeGreaterThan(20);
  await a.asAdministrator(async (client) => {
    await eventually(async () => expect((await client.list(Node)).filter(isReady)).toHaveLength(3), 120_000);
  });
});

/** Has the agent's and the kubelet's own certificates be of this life. */
async function ageOwn(machine: GardenadmMachine, life: Life): Promise<void> {
  const authorities = await machines.a.asAdministrator(authoritiesOf);
  for (const file of [AGENT, KUBELET]) {
    const path = await pathOf(machine, file);
    const pem = await certificateIn(path);
    await ageFiles(path, [""], new Map([[pem, await agedCertificate(pem, authorities, life)]]));
    expect(await certificateIn(path)).not.toBe(pem);
  }
}

async function daysLeft(machine: GardenadmMachine, file: string): Promise<number> {
  const { validToDate } = new X509Certificate(await certificateIn(await pathOf(machine, file)));
  return (validToDate.getTime() - Date.now()) / 86_400_000;
}

/** Where the host has a file of a machine, whose links are absolute. */
async function pathOf(machine: GardenadmMachine, file: string): Promise<string> {
  return join(await machine.root(), (await ground.inMachine(machine.name, "readlink", "-f", file)).trim());
}

async function certificateIn(path: string): Promise<string> {
  const [pem] = certificatesIn(await readFile(path, "utf8"));
  return pem ?? expect.fail(`${path} has no certificate`);
}
