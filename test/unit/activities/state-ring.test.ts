import { describe, expect, it } from "vitest";
import { makeDataKey, unwrapDataKey, wrapDataKey } from "../../../src/activities/state/data-key.ts";
import {
  chooseDataKey,
  holdersOf,
  openRing,
  parseRing,
  pruneRing,
  type Ring,
} from "../../../src/activities/state/ring.ts";
import type { StateKey } from "../../../src/activities/state/keys.ts";
import { newStateKey } from "../../support/state-keys.ts";

const uid = "uid-1";
const [seed, newSeed, other, garden, newGarden] = ["seed-1", "seed-1", "seed-2", "garden", "garden"].map(
  newStateKey,
) as [StateKey, StateKey, StateKey, StateKey, StateKey];
const publicOf = (keys: readonly StateKey[]) => keys.map(({ publicKey }) => publicKey);
const choose = async (
  ring: Ring,
  epoch = 1,
  own: readonly StateKey[] = [seed],
  gardens: readonly StateKey[] = [garden],
) => chooseDataKey(ring, await openRing(ring, uid, own), { uid, epoch }, { own, garden: publicOf(gardens) });
const opensWith = async (ring: Ring, key: StateKey) => [...(await openRing(ring, uid, [key])).keys()];

describe("a data key", () => {
  it("opens for whom it was wrapped, and says nothing in the clear", async () => {
    const key = makeDataKey(1);
    const wrapped = await wrapDataKey(key, uid, seed.publicKey);
    expect((await unwrapDataKey(wrapped, { uid, id: key.id }, seed)).secret.equals(key.secret)).toBe(true);
    await expect(unwrapDataKey(wrapped, { uid, id: key.id }, other)).rejects.toThrow();
    expect(Buffer.from(wrapped).includes(key.secret.export().toString("base64url"))).toBe(false);
  });

  it("is no other Shoot's and no other key, wherever it is copied to", async () => {
    const key = makeDataKey(1);
    const wrapped = await wrapDataKey(key, uid, seed.publicKey);
    await expect(unwrapDataKey(wrapped, { uid: "uid-2", id: key.id }, seed)).rejects.toThrow("another Shoot's");
    await expect(unwrapDataKey(wrapped, { uid, id: "2.0" }, seed)).rejects.toThrow("or another key");
    expect((await openRing({ [key.id]: { [seed.id]: wrapped } }, "uid-2", [seed])).size).toBe(0);
  });
});

describe("the data key that seals", () => {
  it("is made for the seed that leads and the garden, and for no one else", async () => {
    const { ring, current } = await choose({});
    expect(holdersOf(ring)).toEqual([garden.id, seed.id].toSorted());
    for (const holder of [seed, garden]) expect(await opensWith(ring, holder)).toEqual([current.id]);
    expect(await opensWith(ring, other)).toEqual([]);
  });

  it("stays while nothing changes", async () => {
    const { ring, current } = await choose({});
    const again = await choose(ring);
    expect(again.ring).toBe(ring);
    expect(again.current.id).toBe(current.id);
  });

  it("is a new one in a new epoch, also after the ninth: the leader before may remember the old one", async () => {
    const ninth = await choose({}, 9);
    const tenth = await choose(ninth.ring, 10);
    expect(tenth.current.secret.equals(ninth.current.secret)).toBe(false);
    expect((await choose(tenth.ring, 10)).current.id).toBe(tenth.current.id);
  });

  it.each([
    ["the seed's", [newSeed, seed], [garden]],
    ["the garden's", [seed], [newGarden, garden]],
  ])("is a new one once %s key was changed", async (_, own, gardens) => {
    const before = await choose({});
    const { ring, current } = await choose(before.ring, 1, own, gardens);
    expect(current.id).not.toBe(before.current.id);
    const kept = pruneRing(ring, new Set([current.id]));
    expect(holdersOf(kept)).toEqual([own[0]?.id, gardens[0]?.id].toSorted());
  });

  it("stays with the seed that the Shoot is about to go to, whosever key is changed meanwhile", async () => {
    const { ring, current } = await choose({});
    const wraps = { ...ring[current.id], [other.id]: await wrapDataKey(current, uid, other.publicKey) };
    const shared = { [current.id]: wraps };
    expect((await choose(shared)).ring).toBe(shared);
    const changed = await choose(shared, 1, [newSeed, seed], [newGarden, garden]);
    expect(changed.current.id).toBe(current.id);
    expect(holdersOf(changed.ring)).toEqual([newSeed.id, newGarden.id, other.id].toSorted());
    expect(await opensWith(changed.ring, other)).toEqual([current.id]);
  });
});

it("a ring is read as it was written, and no other text is one", async () => {
  const { ring } = await choose({});
  expect(parseRing(JSON.stringify(ring))).toEqual(ring);
  expect(parseRing(undefined)).toEqual({});
  for (const text of ["", "[", '{"1.a":{"k":1}}', "null"]) expect(parseRing(text)).toBeUndefined();
});
