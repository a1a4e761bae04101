import { expect, test } from "vitest";
import { EtcdError } from "../../../src/etcd/etcdctl.ts";

const handshake = (why: string) =>
  new EtcdError(`context deadline exceeded: authentication handshake failed: ${why}`, undefined);

test.each([
  "tls: failed to verify certificate: x509: certificate has expired or is not yet valid",
  "tls: failed to verify certificate: x509: certificate signed by unknown authority",
  "x509: certificate is valid for 10.0.0.1, not 10.0.0.2",
  "remote error: tls: bad certificate",
  "remote error: tls: expired certificate",
])("a certificate that is refused is not waited for: %s", (why) => {
  expect(handshake(why).passing).toBe(false);
});

test.each(["EOF", "read tcp 10.0.0.1:1->10.0.0.2:2379: read: connection reset by peer", "context deadline exceeded"])(
  "a handshake that is cut off may succeed later: %s",
  (why) => {
    expect(handshake(why).passing).toBe(true);
  },
);
