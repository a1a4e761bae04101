import { expect, test } from "vitest";
import { createAdmissionWebhooks } from "../../../src/admission/index.ts";
import { requestLimits } from "../../../src/admission/limits.ts";
import { paths } from "../../../src/admission/paths.ts";
import { answerReview } from "../../../src/admission/server.ts";
import { resources } from "../../../src/api/resources.ts";
import type { CloudProfile, KubeObject } from "../../../src/api/index.ts";
import { createLogger } from "../../../src/log.ts";
import { exampleObjects } from "../../support/examples.ts";
import { askedAbout, moreExamples } from "../../support/garden-examples.ts";
import { keepObjects } from "../../support/kept-objects.ts";
import { largestObjects } from "../../support/largest-objects.ts";
import { processorTime } from "../../support/processor-time.ts";
import { seconds } from "../../support/patience.ts";

const examples = [...(await exampleObjects()), ...moreExamples];
const numbers = Array.from({ length: 900 }, (_, n) => n);

/** A profile that offers as much of everything as its schema lets it. */
function largest(example: KubeObject): KubeObject {
  const { spec } = example as CloudProfile;
  const [image, type] = [spec.machineImages[0], spec.machineTypes[0]];
  const versions = numbers.map((n) => ({ ...image?.versions[0], version: `1.0.${n}` }));
  return {
    ...example,
    spec: {
      ...spec,
      kubernetes: { versions: numbers.map((n) => ({ version: `1.34.${n}` })) },
      machineImages: [{ ...image, versions }],
      machineTypes: [type, ...numbers.map((n) => ({ ...type, name: `t${n}` }))],
    },
  };
}

const garden = examples.map((one) => (one.kind === "CloudProfile" ? largest(one) : one));
const { client } = keepObjects(...garden);
const webhooks = createAdmissionWebhooks({
  client: { ...client, create: async (object) => ({ ...object, status: { allowed: true } }) },
  mayBind: async () => true,
});
const log = createLogger({ name: "admission", level: "silent" });

const review = (example: KubeObject, object: KubeObject, oldObject?: KubeObject) => {
  const [group = "", version = ""] = object.apiVersion.split("/");
  const { name, namespace } = example.metadata;
  return Buffer.from(
    JSON.stringify({
      apiVersion: "admission.k8s.io/v1",
      kind: "AdmissionReview",
      request: {
        ...{
          uid: "1",
          operation: oldObject ? "UPDATE" : "CREATE",
          kind: { group, version, kind: object.kind },
          name,
          namespace,
        },
        ...{ userInfo: { username: "alice" }, object, oldObject: oldObject ?? null },
      },
    }),
  );
};

async function cost(path: string, body: Buffer): Promise<number> {
  const webhook = webhooks[path];
  if (webhook === undefined) throw new Error(`nothing answers at ${path}`);
  return await processorTime(() => answerReview(webhook, body, log).catch(() => undefined));
}

const asked = Object.entries(askedAbout).flatMap(([kind, at]) => at.map((path) => ({ kind, path })));

test.each(asked)(
  "$path answers for the largest $kind with as little CPU as it may take, whichever field is large",
  { timeout: seconds(120) },
  async ({ kind, path }) => {
    const example = examples.find((one) => one.kind === kind);
    const resource = resources.find((one) => one.kind === kind && one.apiVersion === example?.apiVersion);
    if (example === undefined || resource === undefined) throw new Error(`there is no example of a ${kind}`);
    const slow: string[] = [];
    for (const shape of ["many", "long"] as const)
      for (const { field, object } of largestObjects(resource, example, { shape, ...half })) {
        const body = review(example, { ...object, metadata: { ...object.metadata, generation: 2 } }, before(object));
        // What else runs on this machine, and what is compiled at first, costs as well: the best of several counts.
        let spent = Infinity;
        for (let attempt = 0; attempt < 5 && spent > LIMIT; attempt += 1)
          spent = Math.min(spent, await inQuiet(await cost(path, body)));
        if (spent > LIMIT) slow.push(`${field}: ${Math.round(spent)} ms for ${body.length} bytes`);
      }
    expect(slow).toEqual([]);
  },
);

/** In ms of CPU of a machine of 2026 with nothing else to do. */
const LIMIT = 200;

/** What a cost would be there, as this machine, and what else runs on it, may be slower: judged by work of known cost. */
async function inQuiet(spent: number): Promise<number> {
  if (spent <= LIMIT) return spent;
  const here = await processorTime(() => {
    for (let n = 0; n < 4; n += 1) JSON.stringify(JSON.parse(sample));
  });
  return (spent * SAMPLE_COST) / here;
}

const sample = JSON.stringify(Array.from({ length: 20_000 }, (_, n) => ({ name: `n${n}`, type: "t".repeat(20) })));

/** In ms, there. */
const SAMPLE_COST = 33;

/** Both objects of an update have as much as a request may bring. */
const half = { bytes: 0.45 * requestLimits.bytes, values: 0.9 * requestLimits.values };

/** The object as it was: with other values, so that all of it is judged again. */
function before(object: KubeObject): KubeObject {
  const text = JSON.stringify(object, (key, value: unknown) =>
    typeof value === "string" && /^w[0-9]/.test(value) ? value.replace("w", "v") : value,
  );
  return JSON.parse(text.replaceAll(/"k(?=[0-9])/g, '"j')) as KubeObject;
}

test("every kind that is judged is judged at its largest here", () => {
  const left = Object.values(paths).filter((path) => !asked.some((one) => one.path === path));
  expect(left).toEqual([paths.projectNamespaces, paths.referenced]); // of which no more than the metadata is read
});
