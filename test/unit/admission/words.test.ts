import { expect, test } from "vitest";
import { wordCauses } from "../../../src/admission/shoot/words.ts";
import type { Shoot } from "../../../src/api/index.ts";
import { hostileWords } from "../../support/hostile-words.ts";

type Pool = NonNullable<Shoot["spec"]["provider"]["workers"]>[number];

const shootWith = (pool: Partial<Pool>, kubernetes: object = {}): Shoot =>
  ({
    spec: { kubernetes, provider: { workers: [{ name: "w", ...pool }] } },
  }) as unknown as Shoot;

const fieldsOf = (shoot: Shoot): string[] => wordCauses(shoot).map(({ field }) => field);

test("ordinary labels, annotations, taints and gates are accepted", () => {
  const pool: Partial<Pool> = {
    labels: { a: "", "example.com/team": "one_2.three", "node.kubernetes.io/x": "Y" },
    annotations: { "example.com/note": "anything at all,\n even $(this) %i" },
    taints: [
      { key: "dedicated", value: "gpu", effect: "NoSchedule" },
      { key: "dedicated", effect: "NoExecute" },
    ],
  };
  const kubeAPIServer = { featureGates: { AnyGate: true }, runtimeConfig: { "apps/v1": true, "api/all": false } };
  expect(wordCauses(shootWith(pool, { kubeAPIServer }))).toEqual([]);
});

test.each(hostileWords)("%j is neither a key nor a value of what reaches a flag or a unit", (text) => {
  const workers = "spec.provider.workers[0]";
  expect(fieldsOf(shootWith({ labels: { [text]: "a" } }))[0]).toContain(`${workers}.labels[`);
  expect(fieldsOf(shootWith({ labels: { a: text } }))).toEqual([`${workers}.labels["a"]`]);
  expect(fieldsOf(shootWith({ annotations: { [text]: "a" } }))[0]).toContain(`${workers}.annotations[`);
  expect(fieldsOf(shootWith({ taints: [{ key: text, effect: "NoSchedule" }] }))).toEqual([`${workers}.taints[0].key`]);
  expect(fieldsOf(shootWith({ taints: [{ key: "a", value: text, effect: "NoSchedule" }] }))).toEqual([
    `${workers}.taints[0].value`,
  ]);
  expect(fieldsOf(shootWith({ taints: [{ key: "a", effect: text }] }))).toEqual([`${workers}.taints[0].effect`]);
  const gates = { [text]: true };
  expect(fieldsOf(shootWith({}, { kubeAPIServer: { featureGates: gates } }))).toHaveLength(1);
  expect(fieldsOf(shootWith({}, { kubeAPIServer: { runtimeConfig: gates } }))).toHaveLength(1);
  expect(fieldsOf(shootWith({ kubernetes: { kubelet: { featureGates: gates } } }))).toHaveLength(1);
});

test("a taint is told from another by key and effect", () => {
  const taint = { key: "a", effect: "NoSchedule" };
  expect(fieldsOf(shootWith({ taints: [taint, { ...taint, value: "b" }] }))).toEqual([
    "spec.provider.workers[0].taints[1]",
  ]);
});

test("annotations have a size together, and a refusal does not repeat all of them", () => {
  const long = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`a${n}`, "x".repeat(3000)]));
  expect(fieldsOf(shootWith({ annotations: long }))).toEqual(["spec.provider.workers[0].annotations"]);
  const odd = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`${n}!`.repeat(100), "x"]));
  const causes = wordCauses(shootWith({ labels: odd }));
  expect(causes).toHaveLength(10);
  expect(JSON.stringify(causes).length).toBeLessThan(3000);
});
