import { Node, refTo, type KubeClient } from "../../src/kube/index.ts";

/** What extensions build outside of the seeds: things that must be there once, and machines that are nodes of a Shoot. */
export interface Cloud {
  /** The thing's id; made when it isn't there. */
  ensure(shoot: string, thing: string): string;
  /** The thing's id, if there is one. */
  find(shoot: string, thing: string): string | undefined;
  /** The machine's id; it joins the Shoot's cluster as a node that is ready. */
  ensureMachine(shoot: string, pool: string, labels: Readonly<Record<string, string>>): Promise<string>;
  remove(shoot: string, thing: string): Promise<void>;
  /** Everything of a Shoot by name. */
  list(shoot: string): Readonly<Record<string, string>>;
}

/** One cloud for all seeds. `shoots` is the API server that plays those of all Shoots. */
export function createCloud(shoots: KubeClient): Cloud {
  const things = new Map<string, string>();
  let count = 0;
  const key = (shoot: string, thing: string) => `${shoot}/${thing}`;

  const ensure = (shoot: string, thing: string) => {
    const id = things.get(key(shoot, thing)) ?? `${thing}-${(count += 1)}`;
    things.set(key(shoot, thing), id);
    return id;
  };

  return {
    ensure,
    find: (shoot, thing) => things.get(key(shoot, thing)),
    async ensureMachine(shoot, pool, labels) {
      const id = ensure(shoot, `machine/${pool}`);
      const node = refTo(Node, { name: nodeName(shoot, pool) });
      await shoots.apply({ apiVersion: "v1", kind: "Node", metadata: { name: node.name, labels } });
      await shoots.patch(node, { status: { conditions: [ready] } }, { subresource: "status" });
      return id;
    },
    async remove(shoot, thing) {
      if (!things.delete(key(shoot, thing)) || !thing.startsWith("machine/")) return;
      await shoots.remove(refTo(Node, { name: nodeName(shoot, thing.slice("machine/".length)) }));
    },
    list: (shoot) =>
      Object.fromEntries(
        [...things].flatMap(([name, id]) => (name.startsWith(`${shoot}/`) ? [[name.slice(shoot.length + 1), id]] : [])),
      ),
  };
}

const ready = { type: "Ready", status: "True", reason: "KubeletReady", message: "" };

const nodeName = (shoot: string, pool: string): string => `${shoot}-${pool}`;
