{{- /* The pod of "helm test": the service's image runs files/test.js, which calls the Service. */}}
{{- define "service.test" -}}
{{- /* The test signs tokens; it needs no other secret. */}}
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
  {{- include "service.ownPodSettings" . | trim | nindent 2 }}
  {{- include "service.testPlacement" . | trim | nindent 2 }}
  containers:
    - name: test
      {{- include "service.ownContainerSettings" . | trim | nindent 6 }}
      # Like the entrypoint of the image, Node runs with its permission model.
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
          value: http://{{ include "service.name" . }}:{{ .Values.service.port }}
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

{{- /* The function ask(url, init) that files/test.js uses: fetch that retries until the network is ready. */}}
{{- define "service.ask" -}}
import { setTimeout as sleep } from 'node:timers/promises';

// Each node applies NetworkPolicies to a new pod after a moment. Until then connections to the pods of that
// node fail, even if pods of other nodes have responded.
const NOT_SENT = ['ECONNREFUSED', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];

async function ask(url, { method = 'GET', ...init } = {}) {
  const deadline = Date.now() + 20_000;
  for (;;) {
    try {
      return await fetch(url, { method, ...init, signal: AbortSignal.timeout(5_000) });
    } catch (error) {
      const mayRetry = method === 'GET' || NOT_SENT.includes(error.cause?.code);
      if (!mayRetry || Date.now() > deadline) {
        throw new Error(`Cannot reach ${url}`, { cause: error });
      }
      await sleep(250);
    }
  }
}
{{ end }}

{{- /* The test may call only its service. */}}
{{- define "service.testNetworkPolicy" -}}
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

{{- /* The test may run on the nodes of the service. It ends by itself, so it tolerates no node failure. */}}
{{- define "service.testPlacement" -}}
{{- include "service.placement" (dict "pod" (pick .Values "nodeSelector" "tolerations")) }}
{{- end }}
