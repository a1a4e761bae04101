import { execa } from "execa";
import { inNamespace, removeNamespace } from "../../src/local/network/namespace.ts";

/** A way to what listens on {@link behind}, through a network namespace of its own, which can be made to swallow all packets. */
export interface BlackHole {
  /** Where clients connect to; each port leads to the same one of `behind`. */
  readonly address: string;
  /** An address of this host, on which a server has to listen. */
  readonly behind: string;
  /** From now on nothing comes back through it: no answer, no reset, no word that it is closed. */
  close(): Promise<void>;
  open(): Promise<void>;
  remove(): Promise<void>;
}

/** Makes the namespace, open at first. Root only; the addresses are of a network for documentation (RFC 5737), of this host alone. */
export async function digBlackHole(): Promise<BlackHole> {
  const [netns, port] = [`perennial-hole-${process.pid}`, `ph-${process.pid}`];
  const [behind, address] = ["198.51.100.1", "198.51.100.2"];
  await removeNamespace(netns);
  await execa("ip", ["netns", "add", netns]);
  await execa("ip", ["link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", netns]);
  await execa("ip", ["-batch", "-"], { input: `address add ${behind}/30 dev ${port}\nlink set ${port} up` });
  await execa("ip", ["-n", netns, "-batch", "-"], {
    input: `link set lo up\nlink set eth0 up\naddress add ${address}/30 dev eth0`,
  });
  const forward = "cd /proc/sys/net/ipv4 && echo 1 > ip_forward && echo 0 > conf/eth0/send_redirects";
  await inNamespace(netns, ["/bin/sh", "-c", forward]);
  const rule = async (...args: string[]) => await inNamespace(netns, ["iptables", "-w", ...args]);
  await rule("-t", "nat", "-A", "PREROUTING", "-i", "eth0", "-p", "tcp", "-j", "DNAT", "--to-destination", behind);
  await rule("-t", "nat", "-A", "POSTROUTING", "-o", "eth0", "-j", "MASQUERADE");
  const forwarding = (policy: "ACCEPT" | "DROP") => async () => void (await rule("-P", "FORWARD", policy));
  return {
    ...{ address, behind, close: forwarding("DROP"), open: forwarding("ACCEPT") },
    remove: () => removeNamespace(netns),
  };
}
