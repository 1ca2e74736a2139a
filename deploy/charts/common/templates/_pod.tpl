{{- /* Settings of the pods of the service and of its test. */}}
{{- define "common.podSettings" -}}
automountServiceAccountToken: false
# Service links would add environment variables that look like misspelled configuration.
enableServiceLinks: false
{{- range $key := list "imagePullSecrets" "nodeSelector" "tolerations" }}
{{- with get $.Values $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .Values.podSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Settings of the containers that run the image: the service, its migration and its test. */}}
{{- define "common.containerSettings" -}}
image: {{ include "common.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy | quote }}
{{- with .Values.securityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.envFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* The environment variables of these containers. */}}
{{- define "common.env" }}
{{- $names := list }}
{{- range $name, $value := .Values.config }}
{{- /* Helm reads numbers as floating-point numbers, which would print as 1e+06. */}}
{{- with tpl (kindIs "string" $value | ternary $value (toJson $value)) $ }}
{{- $names = append $names $name }}
- name: {{ $name }}
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- with .Values.configNames }}
- name: {{ . }}
  value: {{ join " " $names | quote }}
{{- end }}
{{- range $name, $secret := .Values.secrets }}
{{- if and (or .existingSecret .value) (regexMatch "^[A-Z][A-Z0-9_]*$" $name) }}
- name: {{ $name }}_FILE
  value: /run/secrets/app/{{ $name }}
{{- end }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "common.hasSecrets" -}}
{{- range .Values.secrets }}{{ if or .existingSecret .value }}yes{{ end }}{{ end }}
{{- end }}

{{- define "common.secretsMount" -}}
{{- if include "common.hasSecrets" . -}}
- name: secrets
  mountPath: /run/secrets/app
  readOnly: true
{{- end }}
{{- end }}

{{- /* The files of the value secrets, from the chart's own Secret and from existing ones. */}}
{{- define "common.secretsVolume" -}}
{{- if include "common.hasSecrets" . -}}
- name: secrets
  projected:
    sources:
      {{- range $name, $secret := .Values.secrets }}
      {{- if or .existingSecret .value }}
      - secret:
          name: {{ .existingSecret | empty | ternary (include "common.name" $) (tpl (.existingSecret | default "") $) | quote }}
          items:
            - { key: {{ .existingSecret | empty | ternary $name .key | quote }}, path: {{ $name | quote }} }
      {{- end }}
      {{- end }}
{{- end }}
{{- end }}
