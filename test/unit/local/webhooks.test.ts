import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { parseWebhooks } from "../../../src/cli/local/options.ts";
import { rememberWebhooks } from "../../../src/local/environment/webhooks.ts";

let stateDir = "";

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "webhooks-"));
});

afterEach(async () => {
  await rm(stateDir, { recursive: true });
});

it("the webhooks of a garden that exists are kept when `up` runs again without naming them", async () => {
  expect(await rememberWebhooks({ stateDir }, undefined)).toBeUndefined();
  await rememberWebhooks({ stateDir }, { host: "172.18.0.1", clientCaFile: "ca.crt" });
  const remembered = { host: "172.18.0.1", clientCaFile: resolve("ca.crt") };
  expect(await rememberWebhooks({ stateDir }, undefined)).toEqual(remembered);
  expect(await rememberWebhooks({ stateDir }, { host: "10.0.0.1" })).toEqual({ host: "10.0.0.1" });
  expect(await rememberWebhooks({ stateDir }, undefined)).toEqual({ host: "10.0.0.1" });
});

const none = { gardenKubeconfig: undefined, webhookHost: undefined, webhookClientCa: undefined };

it("what options say of webhooks is complete, or it is said what is missing", () => {
  expect(parseWebhooks({ ...none, gardenKubeconfig: "garden.yaml" })).toBeUndefined();
  const host = { ...none, gardenKubeconfig: "garden.yaml", webhookHost: "172.18.0.1" };
  expect(parseWebhooks(host)).toEqual({ host: "172.18.0.1" });
  expect(parseWebhooks({ ...host, webhookClientCa: "ca.crt" })).toEqual({ host: "172.18.0.1", clientCaFile: "ca.crt" });
  expect(() => parseWebhooks({ ...none, webhookHost: "172.18.0.1" })).toThrow("say --garden-kubeconfig, too");
  expect(() => parseWebhooks({ ...host, webhookHost: undefined, webhookClientCa: "ca.crt" })).toThrow(
    "--webhook-client-ca needs --webhook-host",
  );
});
