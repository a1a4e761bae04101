import { describe, expect, test } from "vitest";
import { createClientRequest } from "../../../src/activities/secrets/certificate-request.ts";
import { readCertificateRequest } from "../../../src/kube/index.ts";
import { servingCertificateRequest } from "../../support/certificate-requests.ts";
import {
  alternativeNames,
  craftRequest,
  element,
  extensionRequest,
  extensionRequestOf,
  part,
  pemOf,
  subjectOf,
} from "../../support/crafted-request.ts";
import { hostileNames, hostileRequests, hostileTexts, requestsOf } from "../../support/hostile-requests.ts";

const own = { commonName: "system:node:w", organizations: ["system:nodes"] };
const foreign = { commonName: "system:node:a", organizations: ["system:masters"] };
const read = (text: string) => readCertificateRequest(Buffer.from(text).toString("base64"));
const der = craftRequest({ subject: subjectOf(own.commonName, own.organizations) });
const patched = (offset: number, ...bytes: number[]) => {
  const copy = Buffer.from(der);
  copy.set(bytes, offset);
  return copy;
};

test("a request of an agent and one of a kubelet are read as they were made", async () => {
  const { request } = await createClientRequest("agent", ["one", "two"]);
  expect(read(request)).toEqual({ commonName: "agent", organizations: ["one", "two"], hosts: [] });
  const hosts = ["w.example.org", "10.0.0.7", "fd00::1:0:0:7"];
  const { spec } = await servingCertificateRequest("x", { node: "w", hosts });
  expect(readCertificateRequest(spec.request)).toEqual({ ...own, hosts });
});

test("the last line of a request may lack its end", () => {
  expect(read(pemOf(der).trimEnd())).toEqual({ ...own, hosts: [] });
});

describe("a request is malformed that is", () => {
  test.for(Object.entries(hostileTexts(requestsOf({ own, foreign }))))("%s", ([, text]) => {
    expect(read(text)).toEqual({ malformed: expect.stringMatching(/^it is not one PEM block/) as string });
  });

  const others = Object.entries(hostileRequests({ own, foreign })).filter(
    ([what]) => !/(an|further) organization( twice)?$/.test(what),
  );
  test.for(others)("one with %s", ([, request]) => {
    expect(read(pemOf(request))).toHaveProperty("malformed");
  });

  const kubelets = Object.entries(hostileNames({ own }, "10.0.0.7")).filter(
    ([what]) => !/API server|another/.test(what),
  );
  test.for(kubelets)("one with %s", ([, request]) => {
    expect(read(pemOf(request))).toHaveProperty("malformed");
  });

  test.for([
    ["of another type", pemOf(der, "NEW CERTIFICATE REQUEST"), "not one PEM block"],
    ["longer than any", pemOf(Buffer.concat([der, Buffer.alloc(30_000)])), "longer than 24 KiB"],
    ["followed by a byte", pemOf(Buffer.concat([der, Buffer.from([0])])), "not DER"],
    ["followed by another", pemOf(Buffer.concat([der, der])), "2 elements where 1 belong"],
    ["cut off", pemOf(der.subarray(0, -1)), "cut off"],
    ["of a length without end", pemOf(patched(1, 0x80)), "not DER"],
    ["of a length that could be shorter", pemOf(longer(der)), "not the shortest"],
    ["of version 2", pemOf(Buffer.from(der.toString("hex").replace("020100", "020101"), "hex")), "not of version 1"],
    ["empty", "", "not one PEM block"],
    ["a block of nothing", pemOf(Buffer.alloc(0)), "0 elements where 1 belong"],
    ["no text", "\u{fffd}", "not one PEM block"],
  ] as const)("%s", ([, text, words]) => {
    expect(read(text)).toEqual({ malformed: expect.stringContaining(words) as string });
  });

  test("one whose key is not on its curve, not in the usual form, or of an unknown algorithm", () => {
    const point = der.indexOf(Buffer.from("03420004", "hex"));
    expect(read(pemOf(patched(point + 10, 0, 0, 0)))).toEqual({ malformed: "its key is not a point of its curve" });
    for (const [offset, byte] of [
      [3, 6],
      [2, 1],
      [-4, 8],
    ] as const)
      expect(read(pemOf(patched(point + offset, byte)))).toEqual({
        malformed: expect.stringContaining("not on curve") as string,
      });
    const algorithm = der.lastIndexOf(Buffer.from("ce3d0403", "hex"));
    expect(read(pemOf(patched(algorithm + 4, 1)))).toEqual({
      malformed: expect.stringContaining("signature") as string,
    });
  });

  const subject = subjectOf(own.commonName, own.organizations);
  const names = alternativeNames([0x82, "w"]);
  const [id, content, list] = [names.subarray(2, 7), names.subarray(7), names.subarray(9)];

  test.for([
    ["two extensions for names", [extensionRequest(names, names)]],
    ["two attributes for extensions", [extensionRequest(names), extensionRequest(names)]],
    ["two lists of extensions", [extensionRequestOf([[names], [names]])]],
    ["no extension in its list", [extensionRequest()]],
    ["a critical extension", [extensionRequest(element(0x30, id, Buffer.from([1, 1, 0xff]), content))]],
    ["something after its names", [extensionRequest(element(0x30, id, element(0x04, list, Buffer.from([5, 0]))))]],
  ] as const)("one with %s", ([, attributes]) => {
    expect(read(pemOf(craftRequest({ subject, attributes })))).toHaveProperty("malformed");
  });

  test.for([
    ["a TeletexString", part("CN", "w", 0x14)],
    ["an IA5String", part("CN", "w", 0x16)],
    ["a UniversalString", part("CN", "w", 0x1c)],
    ["a BMPString", part("CN", "w", 0x1e)],
    ["an OCTET STRING", part("CN", "w", 0x04)],
    ["a PrintableString of other characters", part("CN", "w@1", 0x13)],
    ["a UTF8String beyond ASCII", part("CN", "w\u00e9")],
    ["a name without a text", part("CN", "")],
    ["a name with more than a text", element(0x30, part("CN", "w").subarray(2), Buffer.from([5, 0]))],
  ] as const)("one whose common name is %s", ([, name]) => {
    expect(read(pemOf(craftRequest({ subject: [[name]] })))).toHaveProperty("malformed");
  });
});

test("a subject without a common name, or with two, is refused by that", () => {
  for (const names of [[], ["a", "a"]])
    expect(read(pemOf(craftRequest({ subject: names.map((name) => [part("CN", name)]) })))).toEqual({
      malformed: "its subject does not have exactly one common name",
    });
});

/** The same element, whose length takes one byte more than it has to. */
const longer = (request: Buffer): Buffer => Buffer.concat([Buffer.from([0x30, 0x83, 0]), request.subarray(2)]);
