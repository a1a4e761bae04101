import { expect, it } from "vitest";
import type { FlowProgress, StepProgress } from "../../../src/api/shoot/run.ts";
import { createProgressDisplay } from "../../../src/cli/display/progress.ts";
import { fakeOutput, screen } from "./fake-terminal.ts";

const start = Date.parse("2026-11-21T10:00:00Z");
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();

it("the progress is a line for each change of a step where the output is no terminal", () => {
  const out = fakeOutput();
  const display = createProgressDisplay(out, "garden-dev/local");
  display.show(progress([running("namespace", 0), pending("etcd")]), start);
  display.show(progress([done("namespace", 2), running("etcd", 2)]), start + 2_000);
  display.show(progress([done("namespace", 2), running("etcd", 2)]), start + 3_000);
  display.show(progress([done("namespace", 2), done("etcd", 9)]), start + 9_000);
  expect(out.text().split("\n")).toEqual([
    "Create garden-dev/local: 0 of 2 steps done, 0s",
    "▸ namespace  running   0s",
    "✔ namespace  done      2s",
    "▸ etcd       running   0s",
    "✔ etcd       done      7s",
    "",
  ]);
});

it("the progress says why a step is not done, which attempt it was, and its codes", () => {
  const out = fakeOutput();
  const error = {
    message: "cannot apply Infrastructure shoot--dev--local/local: quota exceeded",
    codes: ["ERR_INFRA_QUOTA_EXCEEDED"],
  };
  const display = createProgressDisplay(out, "garden-dev/local");
  display.show(progress([{ name: "infrastructure", state: "retrying", since: at(0), error, attempt: 1 }]), start);
  display.show(progress([{ name: "infrastructure", state: "parked", since: at(5), error, attempt: 2 }]), start + 5_000);
  expect(out.text().split("\n").slice(1, 3)).toEqual([
    `↻ infrastructure  retrying  0s      attempt 1: ${error.message} (ERR_INFRA_QUOTA_EXCEEDED)`,
    `‖ infrastructure  parked    5s      attempt 2: ${error.message} (ERR_INFRA_QUOTA_EXCEEDED)`,
  ]);
});

it("the progress redraws one picture in place on a live terminal", () => {
  const out = fakeOutput({ live: true });
  const display = createProgressDisplay(out, "garden-dev/local");
  display.show(progress([running("namespace", 0), pending("etcd")]), start);
  display.show(progress([done("namespace", 2), running("etcd", 2)]), start + 4_000);
  expect(screen(out.text())).toEqual([
    "Create garden-dev/local: 1 of 2 steps done, 4s",
    "✔ namespace  done      2s",
    "▸ etcd       running   2s",
  ]);
});

it("the progress fits the window: steps at work stay, the others give way to a count", () => {
  const out = fakeOutput({ live: true, height: 10, width: 40 });
  const settled = Array.from({ length: 12 }, (_, index) => done(`done-${index}`, index));
  const waiting = Array.from({ length: 12 }, (_, index) => pending(`later-${index}`));
  createProgressDisplay(out, "garden-dev/local").show(
    progress([...settled, running("now", 12), ...waiting]),
    start + 12_000,
  );
  const lines = screen(out.text());
  expect(lines.length).toBeLessThan(10);
  expect(lines).toContain("▸ now       running   0s");
  expect(lines).toContain("  12 to come");
  expect(lines.every((line) => line.length <= 40)).toBe(true);
});

it("the progress starts its clocks anew when another operation begins", () => {
  const out = fakeOutput();
  const display = createProgressDisplay(out, "garden-dev/local");
  display.show(progress([running("namespace", 0)]), start);
  display.show({ ...progress([running("namespace", 60)]), startedAt: at(60), operation: "Reconcile" }, start + 61_000);
  expect(out.text().split("\n").slice(2, 4)).toEqual([
    "Reconcile garden-dev/local: 0 of 1 steps done, 1s",
    "▸ namespace  running   1s",
  ]);
});

function progress(steps: StepProgress[]): FlowProgress {
  return { operation: "Create", title: "Reconcile Shoot", percent: 0, steps, startedAt: at(0) };
}

function pending(name: string): StepProgress {
  return { name, state: "pending" };
}

function running(name: string, since: number): StepProgress {
  return { name, state: "running", since: at(since) };
}

function done(name: string, since: number): StepProgress {
  return { name, state: "done", since: at(since) };
}
