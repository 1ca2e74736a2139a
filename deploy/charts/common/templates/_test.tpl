{{- /* The pod of "helm test": the service's image runs files/test.js, which calls the Service. */}}
{{- define "common.test" -}}
apiVersion: v1
kind: Pod
metadata:
  name: {{ include "common.name" . }}-test
  labels:
    {{- include "common.testLabels" . | nindent 4 }}
    {{- include "common.callerLabels" (list .Chart.Name) | trim | nindent 4 }}
  annotations:
    helm.sh/hook: test
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
    helm.sh/hook-output-log-policy: hook-succeeded,hook-failed
spec:
  {{- include "common.testPod" (dict "root" . "service" (include "common.name" .) "seconds" 0) | trim | nindent 2 }}
{{- end }}

{{- /*
A pod that runs files/test.js against a Service, repeatedly for some seconds, or once:
(dict "root" $ "service" name "seconds" 0).
*/}}
{{- define "common.testPod" -}}
{{- $root := .root }}
{{- $service := .service }}
{{- $seconds := int64 .seconds }}
{{- with .root }}
{{- /* The test signs tokens; it needs no other secret. */}}
{{- $secrets := pick (include "common.secrets" . | fromYaml) "JWT_SECRET" }}
restartPolicy: Never
activeDeadlineSeconds: {{ add 60 $seconds }}
{{- include "common.ownPodSettings" . | trim | nindent 0 }}
{{- with include "common.testPlacement" . | trim }}
{{ . }}
{{- end }}
containers:
  - name: test
    {{- include "common.ownContainerSettings" . | trim | nindent 4 }}
    # Node runs with its permission model, as in the entrypoint of the image.
    command:
      - node
      - --permission
      - --allow-net
      - --allow-fs-read={{ include "common.secretsFolder" . }}
      - --disable-warning=ExperimentalWarning
      - --max-old-space-size-percentage=50
      - --input-type=module
      - --eval
      - |
        {{- include "common.ask" . | nindent 8 }}
        {{- include "common.contract" . | nindent 8 }}
        {{- .Files.Get "files/test.js" | trim | nindent 8 }}
    env:
      - name: BASE
        value: http://{{ $service }}:{{ .Values.service.port }}
      - name: TRIAL_SECONDS
        value: {{ $seconds | quote }}
      {{- if .Values.jwt.required }}
      - name: JWT_ISSUER
        value: {{ .Values.jwt.issuer | quote }}
      - name: JWT_AUDIENCE
        value: {{ .Values.jwt.audience | quote }}
      {{- end }}
      {{- with $secrets }}
      {{- include "common.secretFiles" (dict "root" $root "secrets" .) | trim | nindent 6 }}
      {{- end }}
    {{- with .Values.resources }}
    resources:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- with $secrets }}
    volumeMounts:
      {{- include "common.secretsMount" $root | nindent 6 }}
    {{- end }}
{{- with $secrets }}
volumes:
  {{- include "common.secretsVolume" (dict "root" $root "secrets" .) | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{- /*
The functions that files/test.js uses: ask(path, init), a fetch that retries until the network is ready, and
call(method, path, options), which checks the status and returns the body.
*/}}
{{- define "common.ask" -}}
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

// Each node applies NetworkPolicies to a new pod after a moment. Until a node has done so, connections to its
// pods fail, even if pods of other nodes have responded.
const NOT_SENT = ['ECONNREFUSED', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];
const deadline = Date.now() + 20_000;
const isTrial = Number(process.env.TRIAL_SECONDS ?? 0) > 0;

async function ask(path, { method = 'GET', ...init } = {}) {
  const url = `${process.env.BASE}${path}`;
  for (;;) {
    try {
      return await fetch(url, { method, ...init, signal: AbortSignal.timeout(5_000) });
    } catch (error) {
      // In a trial, a GET that was sent and got no response is a failure of the version.
      const mayRetry = NOT_SENT.includes(error.cause?.code) || (method === 'GET' && !isTrial);
      if (!mayRetry || Date.now() > deadline) {
        throw new Error(`Cannot reach ${url}`, { cause: error });
      }
      await sleep(250);
    }
  }
}

async function call(method, path, { status, body, headers }) {
  const response = await ask(path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  assert.equal(response.status, status, `${method} ${response.url}: ${text}`);
  if (!isTrial) console.log(`${method} ${path}: ${status}`);
  return text === '' ? undefined : JSON.parse(text);
}
{{ end }}

{{- /* More functions of files/test.js of a service. */}}
{{- define "common.contract" -}}
// A service may have no version 1 any more: it responds with 410.
const v1 = `/api/v1/{{ .Chart.Name }}`;
const v2 = `/api/v2/{{ .Chart.Name }}`;

function requireFields(value, fields, path) {
  const missing = fields.filter((field) => value?.[field] === undefined);
  assert.deepEqual(missing, [], `${path} has no ${missing}: ${JSON.stringify(value)}`);
}

// Runs check() once, and in a trial TRIAL_RATE times per second for TRIAL_SECONDS.
async function repeat(check) {
  await check();
  if (!isTrial) return;
  const TRIAL_RATE = 5;
  const checks = [];
  for (let left = Number(process.env.TRIAL_SECONDS) * TRIAL_RATE; left > 0; left--) {
    // An unhandled rejection ends the process.
    checks.push(check());
    await sleep(1_000 / TRIAL_RATE);
  }
  await Promise.all(checks);
  console.log(`${checks.length + 1} checks passed`);
}
{{ end }}

{{- /* The test may call only its service. */}}
{{- define "common.testNetworkPolicy" -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "common.name" . }}-test
  labels:
    {{- include "common.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "common.testLabels" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  egress:
    {{- include "common.egressDns" . | nindent 4 }}
    - to:
        - podSelector:
            matchLabels:
              {{- include "common.selectorLabels" . | nindent 14 }}
      ports:
        - port: {{ include "common.httpPort" . }}
{{- end }}

{{- define "common.testLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: test
app.kubernetes.io/part-of: fw
{{- end }}

{{- /* The test runs on the nodes that the service may use. It ends by itself, so it needs no toleration of node failures. */}}
{{- define "common.testPlacement" -}}
{{- include "common.placement" (dict "pod" (pick .Values "nodeSelector" "tolerations")) }}
{{- end }}
