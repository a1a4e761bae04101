import { expect } from "vitest";
import {
  clientConfig,
  createWebhookServer,
  judge,
  makeServingCertificate,
  type Webhook,
} from "../../src/admission/index.ts";
import { Shoot } from "../../src/api/index.ts";
import { refOf, refTo, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { admissionTest as test } from "../support/admission-lab.ts";
import { eventually } from "../support/eventually.ts";
import { exampleObjects } from "../support/examples.ts";

// What was admitted counts before it is written, and may never be written: others refuse it, or it is there already.

const core = "core.gardener.cloud/v1beta1";
const namespace = "garden-dev";
const ref = (name: string) => refTo(Shoot, { namespace, name });
let client: KubeClient;
let example: Shoot;

test.beforeAll(async ({ admissionLab }) => {
  client = admissionLab.client;
  example = (await exampleObjects()).find(({ kind }) => kind === "Shoot") as Shoot;
});

/** Asks for a Shoot like the example, of another name, with this spec, and pools of this size. */
function create(name: string, change: Partial<Shoot["spec"]>, size: object = {}): Promise<Shoot> {
  const { spec } = example;
  const workers = (spec.provider.workers ?? []).map((one) => ({ ...one, ...size }));
  const own = { dns: undefined, provider: { ...spec.provider, workers }, ...change };
  return client.create<Shoot>({ ...example, metadata: { name, namespace }, spec: { ...spec, ...own } });
}

test("a Shoot counts with all that it may have, whatever its author asks for that is not written", async () => {
  const quotas = [{ name: "asked-for", namespace }];
  await client.apply({
    ...{ apiVersion: core, kind: "Quota", metadata: { name: "asked-for", namespace } },
    spec: { scope: { apiVersion: core, kind: "Project" }, metrics: { cpu: 4 } },
  });
  await client.apply({
    ...{ apiVersion: "security.gardener.cloud/v1alpha1", kind: "CredentialsBinding", quotas },
    metadata: { name: "asked-for", namespace },
    provider: { type: "local" },
    credentialsRef: { apiVersion: "v1", kind: "Secret", name: "local", namespace },
  });
  const limited = { credentialsBindingName: "asked-for" };
  const own = { dns: { domain: "asked-for.example.org" } };
  const size = (maximum: number) => ({ maximum, minimum: 1 });
  const first = await create("asked-1", { ...limited, ...own }, size(3));
  const second = () => create("asked-2", limited, size(3));
  const tooMuch = "need 3 cpu, and Quota garden-dev/asked-for has 4 of which 3 are taken";
  const samesDomain = () => create("asked-3", { ...own });
  const overlaps = "asked-for.example.org overlaps with the domain of another Shoot";
  await expect(second()).rejects.toThrow(tooMuch);
  const other = { ...limited, dns: { domain: "other.example.org" } };
  await expect(create("asked-1", other, size(1))).rejects.toThrow("already exists");
  await expect(second()).rejects.toThrow(tooMuch);
  await expect(samesDomain()).rejects.toThrow(overlaps);
  const refusing = await startRefusing();
  const [pool] = first.spec.provider.workers ?? [];
  const shrink = () => client.patch(ref("asked-1"), { spec: { provider: { workers: [{ ...pool, ...size(1) }] } } });
  await expect(shrink()).rejects.toThrow("as it always does");
  await refusing.stop();
  await expect(second()).rejects.toThrow(tooMuch);
  await shrink();
  await eventually(second);
});

/** A webhook of another that refuses every change of a Shoot, after the garden's own have admitted it. */
async function startRefusing() {
  const { caBundle, ...tls } = await makeServingCertificate(["127.0.0.1"]);
  const refuse: Webhook = () => Promise.resolve(judge([{ field: "spec", message: "refused, as it always does" }]));
  const log = createLogger({ name: "test", level: "silent" });
  const server = createWebhookServer({ host: "127.0.0.1", port: 0, tls, log, webhooks: { "/": refuse } });
  const url = `https://127.0.0.1:${await server.start()}/`;
  const name = "refusing.example.org";
  const rules = [
    { apiGroups: [core.split("/")[0]], apiVersions: ["*"], resources: ["shoots"], operations: ["UPDATE"] },
  ];
  const configuration = {
    ...{ apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingWebhookConfiguration", metadata: { name } },
    webhooks: [
      {
        name,
        clientConfig: clientConfig({ url, caBundle }, "/"),
        rules,
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
      },
    ],
  };
  await client.apply(configuration);
  const label = () => client.patch(ref("asked-1"), { metadata: { labels: { a: "b" } } });
  await eventually(() => expect(label()).rejects.toThrow("as it always does"));
  return {
    async stop() {
      await client.remove(refOf(configuration));
      await eventually(label);
      await server.stop();
    },
  };
}
