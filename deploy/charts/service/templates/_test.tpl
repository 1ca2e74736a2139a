{{- /* A pod of the service's own image that reads and writes through the Service: "helm test". */}}
{{- define "service.test" -}}
{{- /* A token is all that a test cannot do without. */}}
{{- $secrets := pick (include "service.secrets" . | fromYaml) "JWT_SECRET" }}
apiVersion: v1
kind: Pod
metadata:
  name: {{ include "service.name" . }}-test
  labels:
    {{- include "service.testLabels" . | nindent 4 }}
    {{- include "service.callerLabels" (list .Chart.Name) | trim | nindent 4 }}
  annotations:
    helm.sh/hook: test
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
    helm.sh/hook-output-log-policy: hook-succeeded,hook-failed
spec:
  restartPolicy: Never
  activeDeadlineSeconds: 60
  {{- include "service.podSecurity" . | trim | nindent 2 }}
  {{- with include "service.testPlacement" . | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  containers:
    - name: test
      {{- include "service.containerSecurity" . | trim | nindent 6 }}
      # Node under its permission model, as the image's own entrypoint: this program needs less.
      command:
        - node
        - --permission
        - --allow-net
        - --allow-fs-read={{ include "service.secretsFolder" . }}
        - --disable-warning=ExperimentalWarning
        - --max-old-space-size-percentage=50
        - --input-type=module
        - --eval
        - |
          {{- include "service.ask" . | nindent 10 }}
          {{- .Files.Get "files/test.js" | trim | nindent 10 }}
      env:
        - name: BASE
          value: http://{{ include "service.name" . }}
        {{- with .Values.jwt }}
        - name: JWT_ISSUER
          value: {{ .issuer | quote }}
        - name: JWT_AUDIENCE
          value: {{ .audience | quote }}
        {{- end }}
        {{- with $secrets }}
        {{- include "service.secretFiles" (dict "root" $ "secrets" .) | trim | nindent 8 }}
        {{- end }}
      {{- with .Values.resources }}
      resources:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $secrets }}
      volumeMounts:
        {{- include "service.secretsMount" $ | nindent 8 }}
      {{- end }}
  {{- with $secrets }}
  volumes:
    {{- include "service.secretsVolume" (dict "root" $ "secrets" .) | nindent 4 }}
  {{- end }}
{{- end }}

{{- /* How each files/test.js asks for a page: what stands before it. */}}
{{- define "service.ask" -}}
import { setTimeout as sleep } from 'node:timers/promises';

// A NetworkPolicy takes a moment to let a new pod in, and each node takes its own: until then there is
// no connection to the pods there, whatever another node's have answered.
const NOT_SENT = ['ECONNREFUSED', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];

async function ask(url, { method = 'GET', ...init } = {}) {
  const deadline = Date.now() + 20_000;
  for (;;) {
    try {
      return await fetch(url, { method, ...init, signal: AbortSignal.timeout(5_000) });
    } catch (error) {
      const mayAskAgain = method === 'GET' || NOT_SENT.includes(error.cause?.code);
      if (!mayAskAgain || Date.now() > deadline) {
        throw new Error(`Cannot reach ${url}`, { cause: error });
      }
      await sleep(250);
    }
  }
}
{{ end }}

{{- /* The test calls its service and nobody else. */}}
{{- define "service.testNetwork" -}}
{{- if .Values.networkPolicy.enabled }}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "service.name" . }}-test
  labels:
    {{- include "service.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "service.testLabels" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  egress:
    {{- include "service.egressDns" . | nindent 4 }}
    - to:
        - podSelector:
            matchLabels:
              {{- include "service.selectorLabels" . | nindent 14 }}
      ports:
        - port: {{ include "service.httpPort" . }}
{{- end }}
{{- end }}

{{- define "service.testLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: test
app.kubernetes.io/part-of: fw
{{- end }}
