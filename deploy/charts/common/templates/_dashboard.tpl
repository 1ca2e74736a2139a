{{- /* The Grafana dashboard of files/dashboard.json of this chart. Grafana allows 40 characters in a uid. */}}
{{- define "common.dashboard" -}}
{{- with .Values.metrics.dashboard }}
{{- $name := include "common.name" $ }}
{{- $text := $.Subcharts.common.Files.Get "files/dashboard.json" | replace "NAMESPACE" $.Release.Namespace | replace "SERVICE" $name }}
{{- $dashboard := fromJson $text }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ $name }}-dashboard
  labels:
    {{- include "common.labels" $ | nindent 4 }}
    {{- toYaml .labels | nindent 4 }}
data:
  {{ $name }}.json: |
    {{- set $dashboard "uid" (trunc 40 $dashboard.uid) | toPrettyJson | nindent 4 }}
{{- end }}
{{- end }}
