import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createPorts } from "../../../src/local/process/ports.ts";
import { freePorts } from "../../support/free-ports.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "perennial-ports-test-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));

const environment = async () => createPorts({ stateDir: await mkdtemp(join(folder, "environment-")) });
const claim = { host: "127.0.0.1", running: false };

it("environments that start together never share a port, though nothing listens there yet", async () => {
  const [preferred = 0] = await freePorts(1);
  const environments = await Promise.all(Array.from({ length: 4 }, environment));
  const claimed = await Promise.all(
    environments.flatMap((ports) =>
      ["temporal", "gateway"].map((owner) => ports.claim({ ...claim, owner, preferred })),
    ),
  );
  expect(new Set(claimed).size).toBe(8);
  expect(claimed).toContain(preferred);
});

it("an owner keeps its port, and an environment that was taken down gives its ports back", async () => {
  const [preferred = 0] = await freePorts(1);
  const stateDir = await mkdtemp(join(folder, "environment-"));
  const first = createPorts({ stateDir });
  expect(await first.claim({ ...claim, owner: "temporal", preferred })).toBe(preferred);
  expect(await first.claim({ ...claim, owner: "temporal" })).toBe(preferred);
  const second = await environment();
  expect(await second.claim({ ...claim, owner: "temporal", preferred })).not.toBe(preferred);
  await rm(stateDir, { recursive: true });
  expect(await second.claim({ ...claim, owner: "gateway", preferred })).toBe(preferred);
});

it("an owner whose port another program listens at meanwhile gets another one", async () => {
  const ports = await environment();
  const port = await ports.claim({ ...claim, owner: "temporal" });
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  expect(await ports.claim({ ...claim, owner: "temporal", running: true })).toBe(port);
  expect(await ports.claim({ ...claim, owner: "temporal" })).not.toBe(port);
  await new Promise((resolve) => server.close(resolve));
});
