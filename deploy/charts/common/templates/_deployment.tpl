{{- /* The environment, resources and volumes of the two containers that run the program: the service and the migration. */}}
{{- define "common.programSettings" -}}
{{- $secrets := include "common.secrets" . | fromYaml }}
{{- $isProgressive := .Values.progressiveDelivery.enabled }}
{{- if or .Values.envFrom (not $isProgressive) }}
envFrom:
  {{- if not $isProgressive }}
  - configMapRef:
      name: {{ include "common.name" . | quote }}
  {{- end }}
  {{- with .Values.envFrom }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- if or $isProgressive $secrets .Values.extraEnv }}
env:
  {{- if $isProgressive }}
  {{- range $name, $value := include "common.environment" . | fromYaml }}
  - name: {{ $name | quote }}
    value: {{ $value | quote }}
  {{- end }}
  {{- end }}
  {{- with $secrets }}
  {{- include "common.secretFiles" (dict "root" $ "secrets" .) | trim | nindent 2 }}
  {{- end }}
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- with .Values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with include "common.volumeMounts" . | trim }}
volumeMounts:
  {{- . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* How long a migration waits for its database. */}}
{{- define "common.migrationWaitSeconds" -}}60{{- end }}

{{- define "common.volumeMounts" -}}
{{- if include "common.secrets" . | fromYaml }}
{{ include "common.secretsMount" . }}
{{- end }}
{{- if eq (include "common.storeType" .) "sqlite" }}
- name: data
  mountPath: /data
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "common.volumes" -}}
{{- with include "common.secrets" . | fromYaml }}
{{ include "common.secretsVolume" (dict "root" $ "secrets" .) }}
{{- end }}
{{- if eq (include "common.storeType" .) "sqlite" }}
- name: data
  {{- if .Values.store.sqlite.ephemeral }}
  emptyDir:
    sizeLimit: {{ .Values.store.sqlite.size | quote }}
  {{- else }}
  persistentVolumeClaim:
    claimName: {{ include "common.claimName" . | quote }}
  {{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* The Deployment, or the Rollout with the same pods. */}}
{{- define "common.deployment" -}}
{{- include "common.workload" . }}
metadata:
  name: {{ include "common.name" . | quote }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
spec:
  {{- with include "common.replicas" . }}
  replicas: {{ . }}
  {{- end }}
  {{- if .Values.progressiveDelivery.enabled }}
  # Argo Rollouts 1.10 ignores progressDeadlineSeconds as long as there is a ReplicaSet that it has scaled to 0.
  revisionHistoryLimit: 0
  {{- else }}
  revisionHistoryLimit: 5
  {{- end }}
  {{- with .Values.minReadySeconds }}
  minReadySeconds: {{ . }}
  {{- end }}
  selector:
    matchLabels:
      {{- include "common.selectorLabels" . | nindent 6 }}
  {{- if .Values.progressiveDelivery.enabled }}
  {{- include "common.rolloutStrategy" . | trim | nindent 2 }}
  {{- else }}
  strategy:
    {{- if eq (include "common.storeType" .) "sqlite" }}
    # Two pods must not open the same file.
    type: Recreate
    {{- else }}
    {{- toYaml .Values.updateStrategy | nindent 4 }}
    {{- end }}
  {{- end }}
  template:
    metadata:
      labels:
        {{- $callers := include "common.callerLabels" (keys .Values.upstreams) | fromYaml }}
        {{- toYaml (merge $callers (include "common.podLabels" . | fromYaml) (deepCopy .Values.podLabels)) | nindent 8 }}
      annotations:
        checksum/config: {{ include "common.environment" . | sha256sum }}
        {{- if include "common.secrets" . | fromYaml }}
        checksum/secrets: {{ include "common.secretsChecksum" . }}
        {{- end }}
        {{- with .Values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ include "common.accountName" . | quote }}
      {{- include "common.ownPodSettings" . | trim | nindent 6 }}
      terminationGracePeriodSeconds: {{ include "common.gracePeriodSeconds" . }}
      {{- with include "common.topologySpread" (dict "constraints" .Values.topologySpreadConstraints "labels" (include "common.selectorLabels" .)) | trim }}
      {{- . | nindent 6 }}
      {{- end }}
      {{- $tolerations := include "common.nodeFailureTolerations" .Values.nodeFailureTolerationSeconds | fromYamlArray }}
      {{- include "common.placement" (dict "pod" .Values "tolerations" $tolerations) | trim | nindent 6 }}
      {{- if or .Values.extraInitContainers (include "common.storeType" .) }}
      initContainers:
        {{- with .Values.extraInitContainers }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        {{- if include "common.storeType" . }}
        - name: migrate
          # A database of the same release starts at the same time: wait for it.
          args: [migrate, --wait, {{ include "common.migrationWaitSeconds" . | quote }}]
          {{- include "common.ownContainerSettings" . | trim | nindent 10 }}
          {{- include "common.programSettings" . | trim | nindent 10 }}
        {{- end }}
      {{- end }}
      containers:
        - name: {{ .Chart.Name | quote }}
          {{- include "common.ownContainerSettings" . | trim | nindent 10 }}
          ports:
            - name: http
              containerPort: {{ include "common.httpPort" . }}
            - name: health
              containerPort: {{ include "common.healthPort" . }}
          startupProbe:
            {{- toYaml .Values.startupProbe | nindent 12 }}
          livenessProbe:
            {{- toYaml .Values.livenessProbe | nindent 12 }}
          readinessProbe:
            {{- toYaml .Values.readinessProbe | nindent 12 }}
          {{- with .Values.preStopSleepSeconds }}
          lifecycle:
            preStop:
              # Kubernetes removes the endpoint and ends the pod at the same time. The pod serves until all load
              # balancers have removed it.
              sleep:
                seconds: {{ . }}
          {{- end }}
          {{- include "common.programSettings" . | trim | nindent 10 }}
        {{- with .Values.extraContainers }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with include "common.volumes" . | trim }}
      volumes:
        {{- . | nindent 8 }}
      {{- end }}
{{- end }}
