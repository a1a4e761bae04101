import { describe } from "vitest";
import type { KubeClient } from "../../src/kube/index.ts";
import { describeClientContract } from "../support/client-contract.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import { installWidgets } from "../support/widget.ts";

let client: KubeClient;

test.beforeAll(async ({ cluster }) => {
  ({ client } = cluster);
  await installWidgets(client);
});

describe("a real API server", () => describeClientContract(test, () => client));
