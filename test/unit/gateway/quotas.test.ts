import { describe, expect, it } from "vitest";
import { createQuotas, defaultLimits, type AllLimits } from "../../../src/gateway/limits.ts";

const limits: AllLimits = { ...defaultLimits, seed: { ...defaultLimits.seed, bytes: { own: 10, total: 100 } } };
const seed = (name: string) => ({ kind: "seed", name }) as const;
const tooMany = /has too many bytes in flight/;

describe("the lease of a call", () => {
  it("takes nothing any more once it is closed, as when the call is reset while its request arrives", () => {
    const quotas = createQuotas(limits);
    const lease = quotas.open(seed("one"));
    lease.take("bytes", 4);
    lease.close();
    expect(() => lease.take("bytes", 4)).toThrow("one has gone");
    lease.keep(4, () => expect.unreachable());
    const other = quotas.open(seed("one"));
    other.take("bytes", 10);
    expect(() => other.take("bytes", 1)).toThrow(tooMany);
    expect(() => other.keep(1, () => undefined)).toThrow(tooMany);
  });

  it("ends the caller's oldest answers that are not read where another does not fit, and those only", () => {
    const quotas = createQuotas(limits);
    const ended: string[] = [];
    const answer = (caller: string, name: string, bytes: number) => {
      const lease = quotas.open(seed(caller));
      lease.keep(bytes, () => void ended.push(name));
      return lease;
    };
    answer("two", "another's", 10);
    answer("one", "first", 3);
    const second = answer("one", "second", 4);
    answer("one", "third", 3);
    second.close(); // it was read
    answer("one", "fourth", 4);
    expect(ended).toEqual([]);
    answer("one", "fifth", 1);
    expect(ended).toEqual(["first"]);
    answer("one", "sixth", 9);
    expect(ended).toEqual(["first", "third", "fourth"]);
    expect(() => quotas.open(seed("one")).take("bytes", 1)).toThrow(tooMany);
  });

  it("does not end answers for a request, and refuses an answer that is larger than all that the caller may hold", () => {
    const quotas = createQuotas(limits);
    const lease = quotas.open(seed("one"));
    lease.keep(10, () => expect.unreachable());
    expect(() => quotas.open(seed("one")).take("bytes", 1)).toThrow(tooMany);
    expect(() => quotas.open(seed("two")).keep(11, () => undefined)).toThrow(tooMany);
  });

  it("gives back once what it held, however often it is closed", () => {
    const quotas = createQuotas(limits);
    const lease = quotas.open(seed("one"));
    lease.take("bytes", 4);
    quotas.open(seed("one")).take("bytes", 6);
    lease.close();
    lease.close();
    expect(() => quotas.open(seed("one")).take("bytes", 5)).toThrow(tooMany);
  });

  it("is apart from that of a caller of the garden with the same name", () => {
    const quotas = createQuotas(limits);
    const ofGarden = quotas.open({ kind: "garden", name: "one" });
    ofGarden.take("bytes", 11);
    ofGarden.keep(1, () => expect.unreachable());
    expect(() => quotas.open(seed("one")).keep(11, () => undefined)).toThrow(tooMany);
  });
});
