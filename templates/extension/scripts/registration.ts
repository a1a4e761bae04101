/** Packs the chart and writes what a garden is given to install this extension: `kubectl apply -f dist/registration.yaml`. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const chart = execFileSync("tar", ["-czf", "-", "--transform", "s,^chart,extension-__NAME__,", "chart"], { cwd: root });
const image = process.env["IMAGE"] ?? "extension-__NAME__:0.1.0";

const registration = `apiVersion: core.gardener.cloud/v1
kind: ControllerDeployment
metadata:
  name: extension-__NAME__
helm:
  rawChart: ${chart.toString("base64")}
  values:
    image: ${JSON.stringify(image)}
---
apiVersion: core.gardener.cloud/v1beta1
kind: ControllerRegistration
metadata:
  name: extension-__NAME__
spec:
  deployment:
    deploymentRefs:
      - name: extension-__NAME__
  resources:
    - kind: Extension
      type: __NAME__
`;
mkdirSync(join(root, "dist"), { recursive: true });
writeFileSync(join(root, "dist/registration.yaml"), registration);
