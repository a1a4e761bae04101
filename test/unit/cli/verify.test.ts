import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createContext } from "../../../src/cli/connection.ts";
import { renderJunit } from "../../../src/cli/extension/junit.ts";
import { renderReport } from "../../../src/cli/extension/report.ts";
import { readSubject } from "../../../src/cli/extension/subject.ts";
import { runCli } from "../../../src/cli/perennial.ts";
import { registry } from "../../../src/cli/registry.ts";
import type { JudgedClause, Report } from "../../../src/conformance/verify.ts";
import { fakeOutput, fakeTerminal } from "./fake-terminal.ts";

const clause = { section: "C2.3", sentence: "It becomes ready.", chapter: "create" } as const;
const report: Report = {
  kind: "Network",
  type: "calico",
  clauses: [
    { ...clause, id: "create.ready", verdict: "passed", evidence: "after 1.0 s" },
    { ...clause, id: "create.answered", verdict: "failed", evidence: 'still <there> & "asked"\u0000' },
    { ...clause, id: "crash.resumed", verdict: "not judged", evidence: "no --restart-command says how" },
  ],
  timelines: { create: ["+0.00 s: no operation"] },
  left: ["Network a/b: its deletion has not ended"],
  clearing: ["kubectl delete namespace a"],
};

let directory: string;
beforeAll(async () => void (directory = await mkdtemp(join(tmpdir(), "verify-cli-"))));
afterAll(() => rm(directory, { recursive: true, force: true }));

describe("a report", () => {
  test("as text says of each clause what was found, and by what", () => {
    expect(renderReport(fakeOutput(), report)).toBe(
      [
        "Network of type calico: 1 passed, 1 failed, 1 not judged",
        "",
        "+ create.ready (C2.3): It becomes ready.",
        "  passed: after 1.0 s",
        "",
        "! create.answered (C2.3): It becomes ready.",
        '  failed: still <there> & "asked"\u0000',
        "",
        "- crash.resumed (C2.3): It becomes ready.",
        "  not judged, because no --restart-command says how",
        "",
        "left behind Network a/b: its deletion has not ended",
        "",
        "To clear it, mend what the controller reports: it may end the deletion then. Or look whether something exists that the object stands for, and run in that cluster:",
        "",
        "kubectl delete namespace a",
        "",
      ].join("\n"),
    );
  });

  test.for([
    ["NOTZONE: zone verify.example.org is not served", "--spec FILE"],
    ['secrets "gardener-internal" not found', "--objects FILE"],
    ["its controller has not seen the latest spec", "no controller for the type runs"],
  ] as const)("as text tells once that %j stands in the way of many clauses, and what helps", ([obstacle, remedy]) => {
    const [created, ...others] = report.clauses.map((one): JudgedClause => ({
      ...one,
      ...(one.verdict === "failed" && { evidence: `after 1.0 s: ${obstacle}` }),
      ...(one.verdict === "not judged" && { evidence: `readiness did not come about: ${obstacle}` }),
    }));
    const second = { ...others[1], id: "retrigger.ready" } as JudgedClause;
    const clauses = [created, ...others, second].filter((one) => one !== undefined);
    const cause = { obstacle, clauses: ["crash.resumed", "retrigger.ready"] };
    const text = renderReport(fakeOutput(), { ...report, clauses, cause });
    expect(text.split(obstacle)).toHaveLength(2);
    expect(text).toContain(`One cause keeps 2 clauses from being judged: ${obstacle}\n`);
    expect(text).toContain(remedy);
    expect(text).toContain("  failed: after 1.0 s: the cause above\n");
    expect(text.split("  not judged, for the cause above\n")).toHaveLength(3);
  });

  test("as JUnit is XML that counts and quotes", () => {
    const xml = renderJunit(report);
    expect(xml).toContain('<testsuite name="Network/calico" tests="3" failures="1" skipped="1" errors="0">');
    expect(xml).toContain(
      '<failure message="still &lt;there&gt; &amp; &quot;asked&quot;">+0.00 s: no operation</failure>',
    );
    expect(xml).toContain('<skipped message="not judged, because no --restart-command says how"></skipped>');
    const read = "import sys,xml.etree.ElementTree as e;print(len(e.parse(sys.stdin).findall('.//testcase')))";
    expect(execFileSync("python3", ["-c", read], { input: xml }).toString().trim()).toBe("3");
  });
});

describe("what a controller is given", () => {
  const none = {
    providerConfig: undefined,
    failingConfig: undefined,
    spec: undefined,
    cluster: undefined,
    objects: undefined,
  };

  test("is read from files", async () => {
    const [spec, objects] = [join(directory, "spec.yaml"), join(directory, "objects.yaml")];
    await writeFile(spec, "region: eu\n");
    await writeFile(objects, "apiVersion: v1\nkind: Secret\nmetadata: { name: cloudprovider }\n");
    expect(await readSubject({ ...none, spec, objects })).toEqual({
      spec: { region: "eu" },
      objects: [{ apiVersion: "v1", kind: "Secret", metadata: { name: "cloudprovider" } }],
    });
  });

  test("has to be fields, and manifests", async () => {
    const file = join(directory, "text.yaml");
    await writeFile(file, "secret words\n");
    await expect(readSubject({ ...none, spec: file })).rejects.toThrow("text.yaml holds no fields");
    await expect(readSubject({ ...none, objects: file })).rejects.toThrow(
      "text.yaml holds something that is no manifest",
    );
    await expect(readSubject({ ...none, cluster: join(directory, "none") })).rejects.toThrow("ENOENT");
  });
});

test.for([
  [[], "--kind is missing"],
  [["--kind", "Network"], "--type is missing"],
  [["--kind", "Network", "--type", "calico"], "--kubeconfig is missing"],
] as const)("%j is not enough to judge a controller", async ([words, message]) => {
  const terminal = fakeTerminal();
  const { context } = createContext({ terminal, variables: {}, signal: new AbortController().signal });
  expect(await runCli(["extension", "verify", ...words], registry, context)).toBe(2);
  expect(terminal.err.text()).toContain(message);
});
