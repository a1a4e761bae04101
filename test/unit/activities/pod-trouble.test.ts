import { describe, expect, it } from "vitest";
import { podTrouble, lastWords } from "../../../src/activities/waits/pod-trouble.ts";
import { Pod, typeMeta } from "../../../src/kube/index.ts";

describe("the reasons that pods give for their trouble", () => {
  it.each<[string, Pod["status"], string | undefined]>([
    [
      "a container's last words, with its exit code",
      { initContainerStatuses: [ended("save", 1, "starting\nError: context deadline exceeded\n")] },
      "pod p-1, container save: exit code 1: starting | Error: context deadline exceeded",
    ],
    [
      "why a container was ended from outside",
      { containerStatuses: [{ name: "verify", state: { terminated: { exitCode: 137, reason: "OOMKilled" } } }] },
      "pod p-1, container verify: OOMKilled, exit code 137",
    ],
    [
      "that an image cannot be had",
      {
        initContainerStatuses: [
          { name: "etcd", state: { waiting: { reason: "ImagePullBackOff", message: "no such host" } } },
        ],
      },
      "pod p-1, container etcd: ImagePullBackOff: no such host",
    ],
    [
      "that there is no place for it",
      { conditions: [{ type: "PodScheduled", status: "False", message: "0/1 nodes are available: too many pods" }] },
      "pod p-1, not scheduled: 0/1 nodes are available: too many pods",
    ],
    [
      "how a container ended that is started again and again",
      {
        containerStatuses: [crashing({ waiting: { reason: "CrashLoopBackOff", message: "back-off 10s restarting" } })],
      },
      "pod p-1, container etcd: CrashLoopBackOff, exit code 1: bind: address already in use",
    ],
    [
      "how a container ended before, until it is ready",
      { containerStatuses: [crashing({})] },
      "pod p-1, container etcd: exit code 1: bind: address already in use",
    ],
    ["nothing of an end that is over", { containerStatuses: [{ ...crashing({}), ready: true }] }, undefined],
    [
      "nothing while all is well",
      {
        initContainerStatuses: [ended("save", 0, "done")],
        containerStatuses: [{ name: "verify", state: { waiting: { reason: "PodInitializing" } } }],
      },
      undefined,
    ],
  ])("are %s", (_, status, words) => expect(podTrouble([pod("p-1", 1, status)])?.message).toBe(words));

  it("are those of the latest pod that has any", () => {
    const first = pod("first", 1, { containerStatuses: [ended("save", 1, "no route to host")] });
    const second = pod("second", 2, { containerStatuses: [ended("save", 1, "disk is full")] });
    expect(podTrouble([second, first, pod("third", 3, {})])?.message).toContain("pod second, container save");
  });
});

it("the trouble of a container has the same name however it shows, and in whichever pod", () => {
  const shown = [
    crashing({ waiting: { reason: "CrashLoopBackOff", message: "back-off 10s restarting" } }),
    crashing({}),
    ended("etcd", 1, "bind: address already in use"),
  ];
  const names = shown.map(
    (status, index) => podTrouble([pod(`p-${index}`, 1, { containerStatuses: [status] })])?.about,
  );
  expect(new Set(names)).toEqual(new Set(["container etcd"]));
});

it("a pod that is being deleted has no say", () => {
  const one = pod("p-1", 1, { containerStatuses: [ended("etcd", 1, "signal: terminated")] });
  const deleted = { ...one, metadata: { ...one.metadata, deletionTimestamp: "2026-11-21T10:02:00Z" } };
  expect(podTrouble([deleted])).toBeUndefined();
});

describe("a crash", () => {
  const codesOf = (name: string, message: string) =>
    podTrouble([pod("p-1", 1, { containerStatuses: [ended(name, 1, message)] })])?.codes;

  it.each([
    [
      "kube-apiserver",
      'E1128 10:00:00.000000       1 run.go:72] "command failed" err="[service-account-issuer is a required flag]"',
    ],
    ["kube-apiserver", 'Error: invalid argument "x" for "--max-requests-inflight" flag: strconv.ParseInt'],
    ["kube-controller-manager", "Error: unrecognized feature gate: Nonsense"],
  ])("of %s that cannot work with what it was told is the user's to mend: %s", (name, message) => {
    expect(codesOf(name, message)).toEqual(["ERR_CONFIGURATION_PROBLEM"]);
  });

  it.each([
    ["kube-apiserver", '"command failed" err="context deadline exceeded"'],
    ["kube-apiserver", "Error: listen tcp 0.0.0.0:443: bind: address already in use"],
    [
      "kube-controller-manager",
      '"command failed" err="Get \\"https://kube-apiserver\\": dial tcp: connection refused"',
    ],
    ["etcd", "Error: walpb: crc mismatch"],
  ])("of %s that others, or a disk, are the reason for is not: %s", (name, message) => {
    expect(codesOf(name, message)).toEqual([]);
  });
});

describe("the last words of a log", () => {
  it("are whole lines, 300 characters at most, a longer one cut", () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
    const words = lastWords(lines.join("\n"));
    expect(words.length).toBeLessThanOrEqual(300);
    expect(words).toMatch(/^line \d+ \| .* \| line 99$/);
    expect(lastWords("x".repeat(1000))).toBe(`${"x".repeat(299)}…`);
    expect(lastWords("")).toBe("");
  });

  it("are what etcd's tools say in their lines of JSON", () => {
    const line =
      '{"level":"warn","ts":"2026-11-21T10:00:00Z","msg":"retrying","error":"connection refused","attempt":3}';
    expect(lastWords(`${line}\nError: deadline exceeded`)).toBe(
      "retrying: connection refused | Error: deadline exceeded",
    );
    expect(lastWords('{"ok":true}')).toBe('{"ok":true}');
  });

  it("never hold secrets", () => {
    const log = [
      "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----",
      "https://root:hunter2@etcd:2379",
      'password="hunter2" secret: hunter2 TOKEN=hunter2',
      "Authorization: Bearer hunter2",
    ];
    for (const line of log) expect(lastWords(line)).not.toMatch(/MIIB|hunter2/);
    expect(lastWords("token expired")).toBe("token expired");
  });
});

/** A container that has ended in an error and was started again. */
function crashing(state: object) {
  const { state: lastState } = ended("etcd", 1, "bind: address already in use\n");
  return { name: "etcd", state, lastState };
}

function ended(name: string, exitCode: number, message: string) {
  return { name, state: { terminated: { exitCode, reason: exitCode === 0 ? "Completed" : "Error", message } } };
}

function pod(name: string, minute: number, status: Pod["status"]): Pod {
  const creationTimestamp = `2026-11-21T10:0${minute}:00Z`;
  return {
    ...typeMeta(Pod),
    metadata: { name, namespace: "shoot--dev--one", creationTimestamp },
    spec: {},
    ...(status && { status }),
  };
}
