import { createSecretKey, randomBytes } from "node:crypto";
import { defaultPayloadConverter } from "@temporalio/common";
import proto from "@temporalio/proto";
import { describe, expect, it } from "vitest";
import { oneLine, stepOfSummary, summaryOf } from "../../../src/api/summaries.ts";
import { createCodec } from "../../../src/client/payloads/codec.ts";

describe("a summary", () => {
  it.each([
    ["short", "quota is used up"],
    ["long", "quota is used up; ".repeat(50)],
    ["of several bytes a character", "名前がありません 🚀".repeat(50)],
    ["of what JSON escapes", '"\\\n\u0007'.repeat(100)],
  ])("that is %s is one line, which Temporal takes once it is encrypted", async (_, reason) => {
    const summary = summaryOf("kubeControllerManager", `parked: ${reason}`);
    expect(summary).not.toContain("\n");
    expect(summary.startsWith("kubeControllerManager: parked: ")).toBe(true);
    const codec = createCodec([{ id: "garden-2026-11", secret: createSecretKey(randomBytes(32)) }]);
    const [encrypted] = await codec.encode([defaultPayloadConverter.toPayload(summary)]);
    expect(proto.temporal.api.common.v1.Payload.encode(encrypted ?? {}).finish().length).toBeLessThanOrEqual(400);
  });
  it("is left alone where it fits, and says where it was cut", () => {
    expect(oneLine("wait until\n the next")).toBe("wait until the next");
    expect(oneLine("abcdefgh", 8)).toBe("abc…");
  });
  it("names its step, if it has one", () => {
    expect(stepOfSummary("leases")).toBe("leases");
    expect(stepOfSummary(summaryOf("etcd", "pause before the next attempt"))).toBe("etcd");
    expect(stepOfSummary("gather progress for the next report")).toBeUndefined();
  });
});
