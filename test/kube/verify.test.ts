import { describe, expect } from "vitest";
import { clauses } from "../../src/conformance/clauses/index.ts";
import type { Pace } from "../../src/conformance/stage.ts";
import { verifyExtension, type Report } from "../../src/conformance/verify.ts";
import { Infrastructure } from "../../src/api/index.ts";
import { createReflector } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { faults, manners, startSmallController, type Fault, type Manner } from "../support/small-controller.ts";
import { seconds } from "../support/patience.ts";

const log = createLogger({ name: "test", level: "silent" });
const pace = { timeout: seconds(6), settle: seconds(1.2) };
let plane: ControlPlane;
test.beforeAll(({ cluster }) => void (plane = cluster));

const planted = Object.entries(faults) as [Fault, readonly string[]][];

describe.concurrent("a controller", () => {
  test("that keeps the contract passes every clause", async () => {
    const { clauses: judged, left } = await judge("sound");
    expect(judged.filter(({ verdict }) => verdict !== "passed")).toEqual([]);
    expect(left).toEqual([]);
  });

  test.for(manners)("that %s passes every clause as well", { timeout: seconds(60) }, async (manner) => {
    const { clauses: judged } = await judge(manner.replaceAll(" ", "."), manner);
    expect(judged.filter(({ verdict }) => verdict !== "passed")).toEqual([]);
  });

  test.for(planted)(
    "that %s breaks the clauses about that, and no other",
    { timeout: seconds(120) },
    async ([fault, broken]) => {
      const { clauses: judged } = await judge(`${fault.replaceAll(" ", ".")}`, fault);
      const failed = judged.filter(({ verdict }) => verdict === "failed");
      expect(failed.map(({ id }) => id).toSorted(), JSON.stringify(failed)).toEqual(broken.toSorted());
    },
  );
});

test("one by one, no two Shoots of a trial are there at once, and all clauses are judged", async () => {
  const there = new Set<string>();
  let most = 0;
  const type = "alone";
  const reflector = createReflector(plane.client, Infrastructure, {
    log,
    onEvent({ type: change, object: { metadata, spec } }) {
      if (!spec.type.startsWith(type)) return;
      if (change === "deleted") there.delete(metadata.namespace);
      else there.add(metadata.namespace);
      most = Math.max(most, there.size);
    },
  });
  reflector.start();
  await reflector.synced();
  const { clauses: judged } = await judge(type, undefined, { ...pace, oneByOne: true });
  await reflector.stop();
  expect(judged.filter(({ verdict }) => verdict !== "passed")).toEqual([]);
  expect(most).toBe(1);
});

test("each clause is broken by some fault", () => {
  const breakable = new Set(planted.flatMap(([, broken]) => broken));
  const about = clauses.filter(({ kinds }) => kinds?.includes("Infrastructure") ?? true).map(({ id }) => id);
  expect(about.filter((id) => !breakable.has(id))).toEqual([]);
});

async function judge(type: string, fault?: Fault | Manner, at: Pace = pace): Promise<Report> {
  let controller = startSmallController(plane.client, type, fault);
  const restart = async () => {
    await controller.kill();
    controller = startSmallController(plane.client, type, fault);
  };
  try {
    const subject = { kind: "Infrastructure", type, restart } as const;
    return await verifyExtension({
      client: plane.client,
      subject,
      pace: at,
      log,
      signal: new AbortController().signal,
    });
  } finally {
    await controller.kill();
  }
}
