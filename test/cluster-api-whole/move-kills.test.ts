import { expect } from "vitest";
import { moveTest as test } from "../support/move-lab.ts";
import { deleteCluster, expectAtHome, expectNothing, makeCluster, shootOf } from "../support/moved-cluster.ts";

/** All writes of a move fall to one slice or another: each takes some minutes, and can run alone. */
const slices = 6;

/**
 * clusterctl keeps nothing but what it writes into the two API servers, so to die after a write is to die before the next one. Each slice
 * goes on until it is past the last write, and so ends with a move that nothing interrupts.
 */
test.for(Array.from({ length: slices }, (_, at) => at + 1))(
  "SIGKILL of clusterctl before a write, and its repetition, leave the Shoot as it is until the Cluster goes (slice %i of 6)",
  async (slice, { lab }) => {
    const { managements, garden } = lab;
    let [from, to] = managements;
    await makeCluster(from, garden);
    await expectAtHome(from);
    const shoot = await shootOf(garden);
    const deaths: string[] = [];
    for (let write = slice, died: string | undefined = ""; died !== undefined; write += slices) {
      died = await lab.move(from, to, { write, moment: "before" });
      const when = died === undefined ? "without a kill" : `after SIGKILL before write ${write}, ${died}`;
      await expectAtHome(to, when);
      await expectNothing(from, when);
      expect(await shootOf(garden), when).toEqual(shoot);
      if (died !== undefined) deaths.push(`${write} ${died}`);
      [from, to] = [to, from];
    }
    console.log(`clusterctl was killed before ${deaths.length} of its writes:\n${deaths.join("\n")}`);
    expect(deaths.length, deaths.join("\n")).toBeGreaterThan(5);
    await deleteCluster(from, garden);
    await expectNothing(from, "after its deletion");
    await expectNothing(to, "after its deletion");
  },
);
