import { expect, test } from "vitest";
import { canonicalNetwork, isNetwork, overlaps } from "../../../src/api/schema/cidr.ts";

test.each([
  ["10.0.0.0/8", "10.226.0.0/16", true],
  ["10.226.0.0/16", "10.0.0.0/8", true],
  ["10.226.0.0/16", "10.227.0.0/16", false],
  ["0.0.0.0/0", "172.30.0.0/16", true],
  ["10.0.0.1/32", "10.0.0.0/24", true],
  ["2001:db8::/32", "2001:db8:1::/48", true],
  ["2001:db8::/32", "2001:db9::/32", false],
  ["10.0.0.0/8", "::/0", false],
])("%s and %s share an address: %s", (a, b, shared) => {
  expect(overlaps(a, b)).toBe(shared);
});

test.each([
  ["10.0.0.0/8", true],
  ["2001:db8::/32", true],
  ["10.0.0.0", false],
  ["10.0.0.0/33", false],
  ["10.0.0/8", false],
  ["10.0.0.0/8/8", false],
  ["10.0.0.0/08", false],
  ["::ffff:10.0.0.0/104", false],
  ["fe80::1%eth0/64", false],
  ["", false],
])("%s is a network: %s", (cidr, network) => {
  expect(isNetwork(cidr)).toBe(network);
});

test.each([
  ["10.180.3.7/16", "10.180.0.0/16"],
  ["10.180.0.0/16", "10.180.0.0/16"],
  ["203.0.113.200/25", "203.0.113.128/25"],
  ["255.255.255.255/0", "0.0.0.0/0"],
  ["1.2.3.4/32", "1.2.3.4/32"],
])("%s is written as %s", (cidr, canonical) => {
  expect(canonicalNetwork(cidr)).toBe(canonical);
});
