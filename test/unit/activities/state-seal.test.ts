import { describe, expect, it } from "vitest";
import { makeDataKey } from "../../../src/activities/state/data-key.ts";
import { partsOf } from "../../../src/activities/state/parts.ts";
import { createSeal, type Sealed } from "../../../src/activities/state/seal.ts";
import { STATE_PARTS_ANNOTATION } from "../../../src/api/annotations.ts";
import { ShootState } from "../../../src/api/index.ts";
import { typeMeta } from "../../../src/kube/index.ts";

const [older, newer] = [makeDataKey(1), makeDataKey(2)];
const place = "gardener/secret/ca of Shoot 1";
const content = { data: { "ca.key": "c2VjcmV0" } };
const mapOf = (...keys: (typeof older)[]) => new Map(keys.map((key) => [key.id, key]));
const sealing = (current = older, ...others: (typeof older)[]) => createSeal(mapOf(...others), current);

describe("a seal", () => {
  it("opens to what was sealed, with every data key that is there", () => {
    const sealed = sealing(older).seal(content, place);
    expect(sealing(newer, older).open(sealed, place)).toEqual(content);
    expect(createSeal(mapOf(older)).open(sealed, place)).toEqual(content);
  });

  it("shows nothing of the content, and never looks the same twice", () => {
    const [one, other] = [sealing().seal(content, place), sealing().seal(content, place)];
    expect(JSON.stringify(one)).not.toContain("c2VjcmV0");
    expect(one.data).not.toBe(other.data);
  });

  it("does not open in another place", () => {
    const sealed = sealing().seal(content, place);
    expect(() => sealing().open(sealed, "gardener/secret/ca of Shoot 2")).toThrow("sealed for another place");
  });

  it.each(["key", "data"] as const)("does not open once its %s was changed", (field) => {
    const sealed = sealing(older).seal(content, place);
    const changed = field === "key" ? newer.id : flipped(sealed[field]);
    expect(() => sealing(newer, older).open({ ...sealed, [field]: changed }, place)).toThrow(`cannot open ${place}`);
  });

  it("names the data key that is missing", () => {
    const sealed = sealing(older).seal(content, place);
    expect(() => sealing(newer).open(sealed, place)).toThrow(`data key ${older.id} is not wrapped for this worker`);
  });

  it("takes nothing that is not sealed, and says what was sealed by the key that all seeds had", () => {
    expect(() => sealing().open(content, place)).toThrow("it is not sealed");
    const former = { sealed: "gzip+aes-256-gcm", key: "2026-11-21", wrapped: "AA==", data: "AA==" };
    expect(() => sealing().open(former, place)).toThrow(
      /sealed by key 2026-11-21, which all seeds shared .+state-keys/,
    );
    expect(sealing().isCurrent(former)).toBe(false);
  });

  it("knows what the key that seals now has not sealed", () => {
    const sealed = sealing(older).seal(content, place);
    expect(sealing(older, newer).isCurrent(sealed)).toBe(true);
    expect(sealing(newer, older).isCurrent(sealed)).toBe(false);
    expect(sealing(newer, older).isCurrent(content)).toBe(false);
  });

  it("seals nothing where there is no key for it", () => {
    expect(() => createSeal(mapOf(older)).seal(content, place)).toThrow("there is no data key to seal with");
  });

  it("opens nothing that was packed to fill the memory of its reader", () => {
    const sealed = sealing().seal("0".repeat(8_000_000), place);
    expect(sealed.data.length).toBeLessThan(20_000);
    expect(() => sealing().open(sealed, place)).toThrow(`cannot open ${place}: it would take more than 8 MB`);
  });

  it("opens no more of one Shoot than its reader's memory holds, nor tries for ever to find out how much there is", () => {
    const seal = sealing();
    const sealed = seal.seal("0".repeat(7_999_000), place);
    for (let count = 0; count < 8; count += 1) seal.open(sealed, place);
    const excess = `cannot open ${place}: what is kept with it would take more than 64 MB`;
    expect(() => seal.open(sealed, place)).toThrow(excess);
    expect(() => seal.open(seal.seal("small", place), place)).toThrow(excess);
    expect(sealing().open(sealed, place)).toHaveLength(7_999_000);

    const other = sealing();
    const bomb = other.seal("0".repeat(8_000_000), place);
    for (let count = 0; count < 8; count += 1)
      expect(() => other.open(bomb, place)).toThrow("it would take more than 8 MB");
    expect(() => other.open(bomb, place)).toThrow(excess);
  });

  it("makes large things small", () => {
    const machines = Array.from({ length: 2000 }, (_, index) => ({
      name: `machine-${index}`,
      providerID: `local:///${index}`,
    }));
    const sealed: Sealed = sealing().seal({ machines }, place);
    expect(sealed.data.length).toBeLessThan(JSON.stringify(machines).length / 4);
  });
});

describe("the parts of a ShootState", () => {
  const naming = (parts: Readonly<Record<string, unknown>>) =>
    partsOf({
      ...typeMeta(ShootState),
      metadata: {
        name: "mine",
        namespace: "garden-dev",
        annotations: { [STATE_PARTS_ANNOTATION]: JSON.stringify(parts) },
      },
    });

  it("have names that only this ShootState's can have", () => {
    expect(naming({ "mine--0": "1", "mine--f": "2" })).toEqual({ "mine--0": "1", "mine--f": "2" });
  });

  it.each([
    ["another's part", { "other--0": "1" }, "other--0"],
    ["a name that no part has", { "mine--0": "1", "mine--10": "2" }, "mine--10"],
    ["the ShootState itself", { mine: "1" }, "mine"],
    ["a part without a uid", { "mine--0": 1 }, "mine--0"],
  ])("are none of them read where one is %s", (_, parts, named) => {
    expect(() => naming(parts)).toThrow(
      `cannot read ${STATE_PARTS_ANNOTATION} of ShootState garden-dev/mine: ${named} is none of its parts`,
    );
  });
});

/** The same text with one bit of its 30th byte changed. */
function flipped(base64: string): string {
  const bytes = Buffer.from(base64, "base64");
  bytes.writeUInt8(bytes.readUInt8(30) ^ 1, 30);
  return bytes.toString("base64");
}
