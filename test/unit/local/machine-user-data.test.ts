import { expect, test } from "vitest";
import { fileContent, fillIn } from "../../../src/local/machine/user-data.ts";

const facts = {
  name: "m",
  address: "10.0.0.2",
  gateway: "10.0.0.1",
  providerID: "local:///e/m",
  cgroup: "/perennial/e/m",
};

test("only the machine's own placeholders are filled in", () => {
  expect(fillIn("${MACHINE_NAME} ${MACHINE_ADDRESS} ${MACHINE_GATEWAY} ${MACHINE_OTHER} ${HOME}", facts)).toBe(
    "m 10.0.0.2 10.0.0.1 ${MACHINE_OTHER} ${HOME}",
  );
  expect(fillIn("${MACHINE_PROVIDER_ID} ${MACHINE_CGROUP}", facts)).toBe("local:///e/m /perennial/e/m");
});

test("base64 content is decoded and filled in when it is text, and kept as it is when it is not", () => {
  const encoded = (bytes: Buffer) => ({ path: "/x", content: bytes.toString("base64"), encoding: "b64" as const });
  expect(fileContent(encoded(Buffer.from("I am ${MACHINE_NAME}")), facts).toString()).toBe("I am m");
  const binary = Buffer.from([0xff, 0xfe, 0, 1]);
  expect(fileContent(encoded(binary), facts)).toEqual(binary);
});
