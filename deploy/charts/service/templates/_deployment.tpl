{{- /* What every pod of a service keeps to, its test's too: Pod Security "restricted", and no token. */}}
{{- define "service.podSecurity" -}}
automountServiceAccountToken: false
# Kubernetes would name every Service of the namespace in the environment, where it reads as a slip.
enableServiceLinks: false
securityContext:
  {{- $context := dict "runAsNonRoot" true "seccompProfile" (dict "type" "RuntimeDefault") }}
  {{- if eq (include "service.storeType" .) "sqlite" }}
  {{- with .Values.store.sqlite.fsGroup }}
  {{- $context = merge $context (dict "fsGroup" (int64 .) "fsGroupChangePolicy" "OnRootMismatch") }}
  {{- end }}
  {{- end }}
  {{- toYaml (merge (deepCopy .Values.podSecurityContext) $context) | nindent 2 }}
{{- $image := include "service.shared" (list . "image") | fromYaml }}
{{- with $image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "service.containerSecurity" -}}
{{- $image := include "service.shared" (list . "image") | fromYaml }}
image: {{ include "service.image" . | quote }}
imagePullPolicy: {{ $image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{- /* What the service's program needs around it, whether it serves or migrates. */}}
{{- define "service.containerSurroundings" -}}
envFrom:
  - configMapRef:
      name: {{ include "service.name" . }}
{{- with include "service.secrets" . | fromYaml }}
env:
  {{- include "service.secretFiles" (dict "root" $ "secrets" .) | trim | nindent 2 }}
{{- end }}
{{- with .Values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with include "service.mounts" . | trim }}
volumeMounts:
  {{- . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "service.mounts" -}}
{{- if include "service.secrets" . | fromYaml }}
{{ include "service.secretsMount" . }}
{{- end }}
{{- if eq (include "service.storeType" .) "sqlite" }}
- name: data
  mountPath: /data
{{- end }}
{{- end }}

{{- define "service.volumes" -}}
{{- with include "service.secrets" . | fromYaml }}
{{ include "service.secretsVolume" (dict "root" $ "secrets" .) }}
{{- end }}
{{- if eq (include "service.storeType" .) "sqlite" }}
- name: data
  {{- if .Values.store.sqlite.ephemeral }}
  emptyDir:
    sizeLimit: {{ .Values.store.sqlite.size | quote }}
  {{- else }}
  persistentVolumeClaim:
    claimName: {{ include "service.claimName" . }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "service.probe" -}}
httpGet:
  path: {{ . }}
  port: health
{{- end }}

{{- define "service.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "service.name" . }}
  labels:
    {{- include "service.labels" . | nindent 4 }}
spec:
  {{- with include "service.replicas" . }}
  replicas: {{ . }}
  {{- end }}
  revisionHistoryLimit: 5
  selector:
    matchLabels:
      {{- include "service.selectorLabels" . | nindent 6 }}
  strategy:
    {{- if eq (include "service.storeType" .) "sqlite" }}
    # Two pods must not hold the same volume.
    type: Recreate
    {{- else }}
    type: RollingUpdate
    rollingUpdate:
      maxUnavailable: 0
      maxSurge: 1
    {{- end }}
  template:
    metadata:
      labels:
        {{- include "service.podLabels" . | nindent 8 }}
        {{- with .Values.upstreams }}
        {{- include "service.callerLabels" (keys . | sortAlpha) | trim | nindent 8 }}
        {{- end }}
        {{- with .Values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations:
        checksum/config: {{ include "service.environment" . | sha256sum }}
        {{- if include "service.secrets" . | fromYaml }}
        checksum/secrets: {{ include "service.secretsChecksum" . }}
        {{- end }}
        {{- with .Values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ include "service.accountName" . }}
      {{- include "service.podSecurity" . | trim | nindent 6 }}
      terminationGracePeriodSeconds: {{ include "service.gracePeriodSeconds" . }}
      {{- with .Values.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      {{- include "service.placement" . | trim | nindent 6 }}
      {{- if include "service.storeType" . }}
      initContainers:
        - name: migrate
          # A database that was installed together with it takes a moment to start.
          args: [migrate, --wait, "60"]
          {{- include "service.containerSecurity" . | trim | nindent 10 }}
          {{- include "service.containerSurroundings" . | trim | nindent 10 }}
      {{- end }}
      containers:
        - name: {{ .Chart.Name }}
          {{- include "service.containerSecurity" . | trim | nindent 10 }}
          ports:
            - name: http
              containerPort: {{ include "service.httpPort" . }}
            - name: health
              containerPort: {{ include "service.healthPort" . }}
          startupProbe:
            {{- include "service.probe" "/startupz" | nindent 12 }}
            periodSeconds: 1
            failureThreshold: {{ .Values.startupSeconds }}
          livenessProbe:
            {{- include "service.probe" "/livez" | nindent 12 }}
            periodSeconds: 10
            timeoutSeconds: 5
          readinessProbe:
            {{- include "service.probe" "/readyz" | nindent 12 }}
            periodSeconds: 2
            timeoutSeconds: 2
            failureThreshold: 2
          {{- with .Values.termination.preStopSeconds }}
          lifecycle:
            preStop:
              # The endpoint is taken away and SIGTERM sent at once: until all know, it serves as usual.
              sleep:
                seconds: {{ . }}
          {{- end }}
          {{- include "service.containerSurroundings" . | trim | nindent 10 }}
      {{- with include "service.volumes" . | trim }}
      volumes:
        {{- . | nindent 8 }}
      {{- end }}
{{- end }}

{{- /* Which nodes the pods stand on, and how soon they leave one that is gone. */}}
{{- define "service.placement" -}}
{{- $whenUnsatisfiable := dict "kubernetes.io/hostname" .Values.topologySpread.nodes "topology.kubernetes.io/zone" .Values.topologySpread.zones }}
topologySpreadConstraints:
  {{- range $key, $what := $whenUnsatisfiable }}
  - topologyKey: {{ $key }}
    maxSkew: 1
    whenUnsatisfiable: {{ $what }}
    # A node that takes no pod, such as one that is drained, does not count as an empty one.
    nodeTaintsPolicy: Honor
    labelSelector:
      matchLabels:
        {{- include "service.selectorLabels" $ | nindent 8 }}
    # Old pods do not count while new ones take their places.
    matchLabelKeys: [pod-template-hash]
  {{- end }}
tolerations:
  {{- range list "not-ready" "unreachable" }}
  - key: node.kubernetes.io/{{ . }}
    operator: Exists
    effect: NoExecute
    tolerationSeconds: {{ $.Values.nodeGoneSeconds }}
  {{- end }}
  {{- with .Values.tolerations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- include "service.nodeSelector" . }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "service.nodeSelector" -}}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Nodes that the service's pods may stand on, for a pod that is there once and ends by itself. */}}
{{- define "service.testPlacement" -}}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- include "service.nodeSelector" . }}
{{- end }}
