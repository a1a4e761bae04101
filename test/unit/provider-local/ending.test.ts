import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { renderKubeconfig } from "../../../src/kube/index.ts";

const entry = join(import.meta.dirname, "../../../src/provider-local/main.ts");

it("the local provider of a garden ends in order when it is stopped before it has seen anything", async () => {
  const asked = Promise.withResolvers<void>();
  const garden = createServer((_, answer) => {
    asked.resolve();
    answer.writeHead(503).end(); // up, and not yet able to answer
  });
  await new Promise<void>((resolve) => garden.listen(0, "127.0.0.1", resolve));
  const directory = await mkdtemp(join(tmpdir(), "perennial-provider-"));
  const kubeconfig = join(directory, "garden.yaml");
  const server = `http://127.0.0.1:${(garden.address() as AddressInfo).port}`;
  await writeFile(kubeconfig, renderKubeconfig({ server, ca: "", token: "t" }), { mode: 0o600 });

  const { PATH = "", HOME = "" } = process.env;
  const env = { PATH, HOME, PERENNIAL_GARDEN_KUBECONFIG: kubeconfig, PERENNIAL_HEALTH_PORT: "0" };
  const provider = spawn(process.execPath, [entry], { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [provider.stdout, provider.stderr])
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const ended = once(provider, "close");
  await Promise.race([asked.promise, ended]);
  provider.kill("SIGTERM");
  expect({ ended: await ended, output }).toMatchObject({ ended: [0, null] });
  expect(output).toContain("provider stopped");
  expect(output).not.toContain("provider started");
  garden.close();
  await rm(directory, { recursive: true });
});
