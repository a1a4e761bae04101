import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { STATE_PART_LABEL } from "../../src/api/labels.ts";
import { readAllParts, renderPart } from "../../src/activities/state/parts.ts";
import { refTo } from "../../src/kube/index.ts";
import { ShootState } from "../../src/api/index.ts";
import { admissionTest as test, refusalOf, type AdmissionLab } from "../support/admission-lab.ts";
import { findBinary } from "../support/binary.ts";
import { eventually } from "../support/eventually.ts";
import { commandsBelow } from "../support/pages.ts";

let lab: AdmissionLab;

test.beforeAll(({ admissionLab }) => void (lab = admissionLab));

test("a ShootState that is in the way goes with its parts, and with no other Shoot's, as its runbook says", async () => {
  for (const name of ["local", "local-2"]) {
    await lab.client.create(renderPart({ namespace, name }, [], {}));
    for (const part of ["1", "2"]) {
      const labels = { [STATE_PART_LABEL]: name };
      await lab.client.create(renderPart({ namespace, name: `${name}--${part}` }, [], { labels }));
    }
  }
  const state = refTo(ShootState, { namespace, name: "local" });
  await eventually(async () => expect(await refusalOf(lab.client.remove(state))).toContain("must be"));
  const commands = commandsBelow("docs/runbooks/shoot-state-in-the-way.md", "Fix")
    .replaceAll("PROJECT-NAMESPACE", namespace)
    .replaceAll("NAME", "local");
  await run(commands);
  expect(await lab.client.read(state)).toBeUndefined();
  expect(await readAllParts(lab.client, { namespace, name: "local" })).toEqual([]);
  expect(await lab.client.list(ShootState, { namespace })).toHaveLength(3);
});

const namespace = "garden-dev";

async function run(commands: string): Promise<void> {
  const path = `${dirname(await findBinary("kubectl"))}:${process.env.PATH}`;
  const env = { ...process.env, PATH: path, KUBECONFIG: lab.kubeconfig };
  await promisify(execFile)("sh", ["-e", "-c", commands], { env, timeout: 30_000 });
}
