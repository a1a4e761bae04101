import { expect, test } from "vitest";
import {
  apiServerNames,
  apiServerRecord,
  poolsOf,
  type ControlPlaneContext,
  type WorkerPool,
} from "../../../src/components/index.ts";
import { exampleShoot } from "../../support/control-plane-context.ts";
import { selfHostedContext } from "../../support/self-hosted-control-plane.ts";

type Exposure = NonNullable<NonNullable<WorkerPool["controlPlane"]>["exposure"]>;

const manager = { domain: "root.example.com", providers: [{ type: "rfc2136", secretName: "dns" }] };

function exposed(exposure: Exposure | undefined, changes: Partial<ControlPlaneContext> = {}, dns: object = manager) {
  const context = { ...selfHostedContext(), externalDomain: "root.example.com", ...changes };
  const [pool] = poolsOf(context);
  if (pool === undefined) return expect.fail("the example has no pool");
  const controlPlane = { ...pool, name: "control-plane", controlPlane: { ...(exposure && { exposure }) } };
  const { provider } = context.shoot.spec;
  return { ...context, shoot: exampleShoot({ dns, provider: { ...provider, workers: [controlPlane, pool] } }) };
}

/** The lines of `/etc/hosts` on machines of the control plane, and on workers. */
function linesOf(context: ControlPlaneContext): string[] {
  return poolsOf(context).map((pool) => {
    const found = apiServerNames(context, pool).files?.find(({ path }) => path.endsWith("/api-servers"));
    const { encoding, data = "" } = found?.content.inline ?? {};
    return encoding === "b64" ? Buffer.from(data, "base64").toString() : data;
  });
}

const line = (address: string) => `${address} api.example.dev.internal.perennial.test # API server\n`;
const own = line("127.0.0.1");
const ofNodes = ["172.31.0.1", "172.31.0.2"].map(line).join("");

test.each([
  ["of the nodes, where nothing is exposed", exposed(undefined), ofNodes],
  ["none, where the DNS leads to the API servers", exposed({ dns: {} }), ""],
  ["none, where the DNS leads to what an extension says", exposed({ extension: {} }, { ingress: ["192.0.2.1"] }), ""],
  [
    "what an extension says, where the DNS is not managed",
    exposed({ extension: {} }, { ingress: ["192.0.2.1", "lb.example.com"] }, { domain: "root.example.com" }),
    line("192.0.2.1"),
  ],
  [
    "of the nodes until the extension has said something, or where that is a name",
    exposed({ extension: {} }, { ingress: ["lb.example.com"] }, { domain: "root.example.com" }),
    ofNodes,
  ],
])("workers have lines %s, and a node with an API server its own", (_, context, workers) => {
  expect(linesOf(context)).toEqual([own, workers]);
});

test.each([
  ["A", ["10.0.0.1", "fd00::1", "10.0.0.2", "lb.example.com"], ["10.0.0.1", "10.0.0.2"]],
  ["AAAA", ["lb.example.com", "fd00::1"], ["fd00::1"]],
  ["CNAME", ["lb.example.com", "other.example.com"], ["lb.example.com"]],
])("a record of type %s has the best of all addresses", (recordType, addresses, values) => {
  const record = apiServerRecord(exposed({ extension: {} }), addresses);
  expect(record?.spec).toMatchObject({ type: "rfc2136", name: "api.root.example.com", recordType, values });
});

test("there is no record without an exposure, or where the Shoot says of nothing who manages its domain", () => {
  expect(apiServerRecord(exposed(undefined), ["10.0.0.1"])).toBeUndefined();
  const unmanaged = exposed({ extension: {} }, {}, { domain: "root.example.com" });
  expect(apiServerRecord(unmanaged, ["10.0.0.1"])).toBeUndefined();
  expect(() => apiServerRecord(exposed({ dns: {} }), [])).toThrow("kube-apiserver has no address yet");
});
