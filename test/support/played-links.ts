import type { Run } from "../../src/local/network/cni.ts";

/** The network of a node, as far as `ip` and `iptables` are asked about it. */
export interface PlayedLinks {
  readonly run: Run;
  /** Next hops by destination, of our routes. */
  readonly routes: Map<string, string>;
  /** The rules of our chain. */
  rules(): readonly string[];
}

/** A node with this address. Its kernel takes no route by a next hop that is not `reachable`. */
export function playLinks(address: string, reachable: (hop: string) => boolean = () => true): PlayedLinks {
  const routes = new Map<string, string>();
  let rules: readonly string[] = [];
  const act = (line: string): boolean => {
    const [, verb = "", destination = "", , hop = ""] = line.split(" ");
    if (verb === "del") return routes.delete(destination);
    if (!reachable(hop)) return false;
    routes.set(destination, hop);
    return true;
  };
  const answers: Readonly<Record<string, (input: string) => string>> = {
    "ip -4 -json address": () => JSON.stringify([{ ifname: "eth0", mtu: 1400, addr_info: [{ local: address }] }]),
    "ip -j route show proto 77": () => JSON.stringify([...routes.keys()].map((dst) => ({ dst }))),
    "ip -force -batch -": (input) => {
      if (input.split("\n").map(act).includes(false)) throw new Error("Nexthop has invalid gateway");
      return "";
    },
    "iptables-restore -w --noflush": (input) => {
      rules = input.split("\n").filter((line) => line.startsWith("-A"));
      return "";
    },
    "iptables -w -t nat -C POSTROUTING -j PERENNIAL": () => "",
  };
  return {
    routes,
    rules: () => rules,
    async run(command, input = "") {
      const answer = answers[command.join(" ")];
      if (answer === undefined) throw new Error(`nobody plays ${command.join(" ")}`);
      return answer(input);
    },
  };
}
