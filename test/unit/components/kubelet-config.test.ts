import { expect, test } from "vitest";
import { parse } from "yaml";
import { poolsOf } from "../../../src/components/index.ts";
import { kubeletConfiguration } from "../../../src/components/node/kubelet-config.ts";
import { nodeAgentSecretName } from "../../../src/components/node/pool.ts";
import { exampleContext, exampleShoot } from "../../support/control-plane-context.ts";

const numbers = {
  kubeReserved: { cpu: 1, memory: 1073741824, ephemeralStorage: 1000000000, pid: 20000 },
  evictionHard: { memoryAvailable: 104857600, nodeFSInodesFree: 1000 },
  evictionSoft: { memoryAvailable: 209715200 },
  evictionMinimumReclaim: { imageFSAvailable: 0 },
  containerLogMaxSize: 1048576,
};

const withKubelet = (kubelet: object) =>
  exampleContext({
    shoot: exampleShoot({
      kubernetes: { version: "1.34.4", kubelet },
      provider: { type: "local", workers: [{ name: "a", minimum: 1, maximum: 1, machine: { type: "local" } }] },
    }),
  });

const [one, other] = [numbers, texts(numbers)].map(withKubelet);

/** The same with texts in place of numbers. */
function texts(value: unknown): object {
  return JSON.parse(JSON.stringify(value), (_, one: unknown) =>
    typeof one === "number" ? String(one) : one,
  ) as object;
}

const configurations = [one, other].map((context) =>
  context === undefined ? [] : poolsOf(context).map((pool) => kubeletConfiguration(context, pool)),
);

test("amounts that are written as numbers become texts: a kubelet that reads numbers for them ends", () => {
  const [[text = ""] = []] = configurations;
  expect(parse(text)).toMatchObject({
    kubeReserved: { cpu: "1", memory: "1073741824", "ephemeral-storage": "1000000000", pid: "20000" },
    evictionHard: { "memory.available": "104857600", "nodefs.inodesFree": "1000" },
    evictionSoft: { "memory.available": "209715200" },
    evictionMinimumReclaim: { "imagefs.available": "0" },
    containerLogMaxSize: "1048576",
  });
});

test("an amount is the same whether it is written as a number or as a text, and no machine is replaced for it", () => {
  expect(configurations[0]).toEqual(configurations[1]);
  const names = [one, other].map(
    (context) => context && poolsOf(context).map((pool) => nodeAgentSecretName(context, pool)),
  );
  expect(names[0]).toEqual(names[1]);
});
