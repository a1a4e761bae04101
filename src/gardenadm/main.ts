import { runProcess } from "../cli/process.ts";
import { createContext } from "./connection.ts";
import { gardenadm } from "./gardenadm.ts";
import { ADMIN_KUBECONFIG } from "./node-agent/places.ts";

await runProcess(gardenadm, (deps) =>
  createContext({ ...deps, variables: process.env, adminKubeconfig: ADMIN_KUBECONFIG, input: process.stdin }),
);
