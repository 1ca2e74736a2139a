{{- /*
The Grafana dashboard in files/dashboard.json of this library chart, for one service. Panels about a database
or rate limits are left out if the service has none.
*/}}
{{- define "service.dashboardJson" -}}
{{- $json := .Subcharts.service.Files.Get "files/dashboard.json" }}
{{- $dashboard := $json | replace "NAMESPACE" .Release.Namespace | replace "SERVICE" (include "service.name" .) | fromJson }}
{{- $panels := list }}
{{- range $dashboard.panels }}
{{- $metric := (first .targets).expr }}
{{- $isMissing := or (and (contains "db_pool_" $metric) (not $.Values.store)) (and (contains "rate_limit_" $metric) (not $.Values.rateLimit)) }}
{{- if not $isMissing }}{{ $panels = append $panels . }}{{ end }}
{{- end }}
{{- merge (dict "uid" (trunc 40 $dashboard.uid) "panels" $panels) $dashboard | toPrettyJson }}
{{- end }}

{{- define "service.dashboard" -}}
{{- with .Values.metrics.dashboard }}
{{- if .enabled }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "service.name" $ }}-dashboard
  labels:
    {{- include "service.labels" $ | nindent 4 }}
    {{- toYaml .labels | nindent 4 }}
data:
  {{ include "service.name" $ }}.json: |
    {{- include "service.dashboardJson" $ | nindent 4 }}
{{- end }}
{{- end }}
{{- end }}
