{{- /* What the program needs in its container, both to serve and to migrate. */}}
{{- define "service.programSettings" -}}
{{- $secrets := include "service.secrets" . | fromYaml }}
{{- $isProgressive := .Values.progressiveDelivery.enabled }}
{{- if not $isProgressive }}
envFrom:
  - configMapRef:
      name: {{ include "service.name" . }}
{{- end }}
{{- if or $isProgressive $secrets .Values.extraEnv }}
env:
  {{- if $isProgressive }}
  {{- range $name, $value := include "service.environment" . | fromYaml }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
  {{- end }}
  {{- with $secrets }}
  {{- include "service.secretFiles" (dict "root" $ "secrets" .) | trim | nindent 2 }}
  {{- end }}
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- with .Values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with include "service.volumeMounts" . | trim }}
volumeMounts:
  {{- . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* How long a migration waits for its database. */}}
{{- define "service.migrationWaitSeconds" -}}60{{- end }}

{{- define "service.volumeMounts" -}}
{{- if include "service.secrets" . | fromYaml }}
{{ include "service.secretsMount" . }}
{{- end }}
{{- if eq (include "service.storeType" .) "sqlite" }}
- name: data
  mountPath: /data
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
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
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* The Deployment, or the Rollout with the same pods. */}}
{{- define "service.deployment" -}}
{{- include "service.workload" . }}
metadata:
  name: {{ include "service.name" . }}
  labels:
    {{- include "service.labels" . | nindent 4 }}
spec:
  {{- with include "service.replicas" . }}
  replicas: {{ . }}
  {{- end }}
  {{- if .Values.progressiveDelivery.enabled }}
  # Argo Rollouts 1.10 ignores progressDeadlineSeconds as long as there is a ReplicaSet that it has scaled to 0.
  revisionHistoryLimit: 0
  {{- else }}
  revisionHistoryLimit: 5
  {{- end }}
  selector:
    matchLabels:
      {{- include "service.selectorLabels" . | nindent 6 }}
  {{- if .Values.progressiveDelivery.enabled }}
  {{- include "service.rolloutStrategy" . | trim | nindent 2 }}
  {{- else }}
  strategy:
    {{- if eq (include "service.storeType" .) "sqlite" }}
    # Two pods must not open the same file.
    type: Recreate
    {{- else }}
    type: RollingUpdate
    rollingUpdate:
      maxUnavailable: 0
      maxSurge: 1
    {{- end }}
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
      {{- include "service.ownPodSettings" . | trim | nindent 6 }}
      terminationGracePeriodSeconds: {{ include "service.gracePeriodSeconds" . }}
      {{- with include "service.topologySpread" (dict "constraints" .Values.topologySpreadConstraints "labels" (include "service.selectorLabels" .)) | trim }}
      {{- . | nindent 6 }}
      {{- end }}
      {{- $tolerations := include "service.nodeFailureTolerations" .Values.nodeFailureTolerationSeconds | fromYamlArray }}
      {{- include "service.placement" (dict "pod" .Values "tolerations" $tolerations) | trim | nindent 6 }}
      {{- if or .Values.extraInitContainers (include "service.storeType" .) }}
      initContainers:
        {{- with .Values.extraInitContainers }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        {{- if include "service.storeType" . }}
        - name: migrate
          # A database that is installed at the same time needs a moment to start.
          args: [migrate, --wait, {{ include "service.migrationWaitSeconds" . | quote }}]
          {{- include "service.ownContainerSettings" . | trim | nindent 10 }}
          {{- include "service.programSettings" . | trim | nindent 10 }}
        {{- end }}
      {{- end }}
      containers:
        - name: {{ .Chart.Name }}
          {{- include "service.ownContainerSettings" . | trim | nindent 10 }}
          ports:
            - name: http
              containerPort: {{ include "service.httpPort" . }}
            - name: health
              containerPort: {{ include "service.healthPort" . }}
          startupProbe:
            {{- toYaml .Values.startupProbe | nindent 12 }}
          livenessProbe:
            {{- toYaml .Values.livenessProbe | nindent 12 }}
          readinessProbe:
            {{- toYaml .Values.readinessProbe | nindent 12 }}
          {{- with .Values.preStopSleepSeconds }}
          lifecycle:
            preStop:
              # Kubernetes removes the endpoint and sends SIGTERM at the same time: the pod serves until all
              # load balancers know.
              sleep:
                seconds: {{ . }}
          {{- end }}
          {{- include "service.programSettings" . | trim | nindent 10 }}
        {{- with .Values.extraContainers }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with include "service.volumes" . | trim }}
      volumes:
        {{- . | nindent 8 }}
      {{- end }}
{{- end }}
