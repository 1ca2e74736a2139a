{{- /*
The Grafana dashboard of files/dashboard.json of this chart. Grafana allows 40 characters in a uid, and its sidecar
writes the dashboards of all namespaces to one folder.
*/}}
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
  {{ $.Release.Namespace }}-{{ $name }}.json: |
    {{- if gt (len $dashboard.uid) 40 }}
    {{- $_ := set $dashboard "uid" (printf "%s-%s" (trunc 31 $dashboard.uid) (sha256sum $dashboard.uid | trunc 8)) }}
    {{- end }}
    {{- toPrettyJson $dashboard | nindent 4 }}
{{- end }}
{{- end }}
