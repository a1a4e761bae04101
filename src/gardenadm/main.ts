import { runProcess } from "../cli/process.ts";
import { ADMIN_KUBECONFIG, createContext } from "./connection.ts";
import { gardenadm } from "./gardenadm.ts";

await runProcess(gardenadm, (deps) =>
  createContext({ ...deps, variables: process.env, adminKubeconfig: ADMIN_KUBECONFIG, input: process.stdin }),
);
