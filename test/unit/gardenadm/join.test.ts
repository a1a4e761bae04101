import { expect, onTestFinished, test } from "vitest";
import { agentPlacesIn } from "../../../src/gardenadm/machine/agent-places.ts";
import { placesIn } from "../../../src/gardenadm/machine/places.ts";
import { afterReset } from "../../../src/gardenadm/reset/reset.ts";
import { bareRoot, type BareRoot } from "../../support/bare-root.ts";
import { fileTree } from "../../support/file-tree.ts";
import { machineIn, runGardenadm } from "./lab.ts";

async function bareMachine(files: Readonly<Record<string, string>> = {}): Promise<BareRoot> {
  const machine = await bareRoot();
  onTestFinished(machine.remove);
  await machine.write(files);
  return machine;
}

const HASH = `sha256:${"0".repeat(64)}`;

/** A join that preflight refuses: no machine of this name can be a Node. */
async function joins({ root, candidate: { systemctl, ctr } }: BareRoot, ...flags: readonly string[]) {
  const machine = { ...machineIn(root, "localhost"), systemctl, ctr };
  const words = ["join", "https://10.0.0.1", "--bootstrap-token", "-", "--ca-cert-hash", HASH, ...flags];
  return await runGardenadm(words, { machine, input: "abcdef.0123456789abcdef" });
}

test.for([[], ["--control-plane"]])("a join that is refused leaves nothing on a bare machine: %s", async (flags) => {
  const machine = await bareMachine();
  const before = await fileTree(machine.root);
  const { exit, err } = await joins(machine, ...flags);
  expect({ exit, err }).toEqual({
    exit: 1,
    err: expect.stringContaining('the host name "localhost" cannot name a Node'),
  });
  expect(await fileTree(machine.root)).toEqual(before);
});

test("what a join has left that was killed before its first file was whole goes when the next one is refused", async () => {
  const machine = await bareMachine();
  const before = await fileTree(machine.root);
  await machine.write({ "/var/lib/gardenadm/journal": "", "/var/lib/gardenadm/lock": "process 1\n" });
  await machine.write({
    "/var/lib/gardener-node-agent/.pool.yaml.new": "pool: wor",
    "/var/lib/.gardenadm-preflight": ".",
  });
  expect((await joins(machine)).exit).toBe(1);
  expect(await fileTree(machine.root)).toEqual(before);
});

test.for(["/var/lib/gardenadm/shoot-uid", "/var/lib/gardener-node-agent/pool.yaml"])(
  "what has begun keeps its journal when a join is refused there: %s",
  async (file) => {
    const machine = await bareMachine({ [file]: "role: worker\n" });
    expect((await joins(machine)).exit).toBe(1);
    expect(await fileTree(machine.root)).toHaveProperty([placesIn("/").journal]);
  },
);

test("a machine whose join was begun for one role is not let in for the other without a reset", async () => {
  const machine = await bareMachine({ [agentPlacesIn("/").pool]: "role: worker\n" });
  const sentence = "this machine belongs to a cluster of gardenadm's, or began to join one";
  expect((await joins(machine, "--control-plane")).err).toContain(sentence);
  expect((await joins(machine)).err).not.toContain(sentence);
});

test("a reset ends with what is left to the operator", () => {
  const [hostName, line] = ["w", "gardenadm token create --print-join-command"];
  const again = `To join again, run here the line that is printed on a node of the control plane by: ${line}\n`;
  expect(afterReset({ hostName, hasEnded: false, machineOnly: false })).toBe(again);
  expect(afterReset({ hostName, hasEnded: true, machineOnly: true })).toBe(
    `Where its cluster goes on, it is to be told there, on a node of the control plane: gardenadm reset --node w --machine-is-gone\n${again}`,
  );
  expect(afterReset({ hostName, hasEnded: true, machineOnly: false })).toBe(
    "The cluster has ended with it. Next, for another one here: gardenadm init -d FOLDER; or, out of a backup of the same one, gardenadm restore -d FOLDER --from latest\n",
  );
});
