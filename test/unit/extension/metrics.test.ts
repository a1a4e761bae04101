import { describe, expect, test } from "vitest";
import { exposition } from "../../../src/extension/exposition.ts";
import { createMetrics } from "../../../src/extension/metrics.ts";

describe("metrics", () => {
  const controller = { kind: "DNSRecord", type: "hosts" };
  const labels = 'kind="DNSRecord",type="hosts",operation="Reconcile"';

  test("count operations by result, and put each duration into every bucket that it fits into", () => {
    const metrics = createMetrics();
    const end = (result: "succeeded" | "failed", seconds: number) =>
      metrics.ended(controller, { operation: "Reconcile", result, seconds });
    end("succeeded", 0.1);
    end("succeeded", 20);
    end("failed", 9_000);
    const lines = metrics.text().split("\n");
    expect(lines).toEqual(
      expect.arrayContaining([
        "# TYPE extension_operations_total counter",
        `extension_operations_total{${labels},result="succeeded"} 2`,
        `extension_operations_total{${labels},result="failed"} 1`,
        "# TYPE extension_operation_duration_seconds histogram",
        `extension_operation_duration_seconds_bucket{${labels},le="0.1"} 1`,
        `extension_operation_duration_seconds_bucket{${labels},le="15"} 1`,
        `extension_operation_duration_seconds_bucket{${labels},le="30"} 2`,
        `extension_operation_duration_seconds_bucket{${labels},le="3600"} 2`,
        `extension_operation_duration_seconds_bucket{${labels},le="+Inf"} 3`,
        `extension_operation_duration_seconds_sum{${labels}} 9020.1`,
        `extension_operation_duration_seconds_count{${labels}} 3`,
      ]),
    );
  });

  test("ask each queue anew, and forget the queue of a controller that another has followed", () => {
    const metrics = createMetrics();
    let waiting = 3;
    metrics.queued(controller, () => 7);
    metrics.queued(controller, () => waiting);
    waiting = 4;
    expect(
      metrics
        .text()
        .split("\n")
        .filter((line) => line.startsWith("extension_queue_depth")),
    ).toEqual(['extension_queue_depth{kind="DNSRecord",type="hosts"} 4']);
  });

  test("keep to one line whatever is in a label", () => {
    const samples = [{ labels: { a: 'x"y\\z\nw' }, value: 1 }];
    expect(exposition([{ name: "m", type: "gauge", help: "What.", samples }])).toBe(
      '# HELP m What.\n# TYPE m gauge\nm{a="x\\"y\\\\z\\nw"} 1\n',
    );
  });
});
