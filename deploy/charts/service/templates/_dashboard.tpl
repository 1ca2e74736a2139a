{{- /* A dashboard for Grafana, whose sidecar finds it by its label. */}}
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

{{- define "service.dashboardJson" -}}
{{- $name := include "service.name" . }}
{{- $series := include "service.series" . }}
{{- $panels := list
  (dict "title" "Requests per second" "unit" "reqps"
    "expr" (printf "sum by (status) (rate(http_requests_total{%s}[5m]))" $series) "legend" "{{status}}")
  (dict "title" "Answers of 5xx, as a share" "unit" "percentunit"
    "expr" (printf "sum(rate(http_requests_total{%s,status=\"5xx\"}[5m])) / sum(rate(http_requests_total{%s}[5m]))" $series $series) "legend" "5xx")
  (dict "title" "Slowest of a hundred requests, by route" "unit" "s"
    "expr" (printf "histogram_quantile(0.99, sum by (le, route) (rate(http_request_duration_seconds_bucket{%s}[5m])))" $series) "legend" "{{route}}")
  (dict "title" "Requests at work" "unit" "short"
    "expr" (printf "sum by (pod) (http_requests_in_flight{%s})" $series) "legend" "{{pod}}")
  (dict "title" "Requests turned away per second" "unit" "reqps"
    "expr" (printf "sum by (reason) (rate(http_requests_shed_total{%s}[5m]))" $series) "legend" "{{reason}}")
  (dict "title" "Event loop, latest of a hundred turns" "unit" "s"
    "expr" (printf "max by (pod) (nodejs_eventloop_lag_p99_seconds{%s})" $series) "legend" "{{pod}}")
  (dict "title" "Memory" "unit" "bytes"
    "expr" (printf "max by (pod) (process_resident_memory_bytes{%s})" $series) "legend" "{{pod}}")
  (dict "title" "Processor" "unit" "short"
    "expr" (printf "sum by (pod) (rate(process_cpu_seconds_total{%s}[5m]))" $series) "legend" "{{pod}}")
}}
{{- if .Values.store }}
{{- $panels = append $panels (dict "title" "Connections to the database" "unit" "short"
    "expr" (printf "sum by (state) (db_pool_connections{%s})" $series) "legend" "{{state}}") }}
{{- end }}
{{- if .Values.rateLimit }}
{{- $panels = append $panels (dict "title" "Decisions of the limits per second" "unit" "reqps"
    "expr" (printf "sum by (limit, outcome) (rate(rate_limit_decisions_total{%s}[5m]))" $series) "legend" "{{limit}} {{outcome}}") }}
{{- end }}
{{- $drawn := list }}
{{- range $index, $panel := $panels }}
{{- $drawn = append $drawn (dict
  "id" (add1 $index)
  "type" "timeseries"
  "title" $panel.title
  "datasource" (dict "type" "prometheus" "uid" "${source}")
  "gridPos" (dict "h" 8 "w" 12 "x" (mul 12 (mod $index 2)) "y" (mul 8 (div $index 2)))
  "fieldConfig" (dict "defaults" (dict "unit" $panel.unit) "overrides" list)
  "targets" (list (dict "refId" "A" "expr" $panel.expr "legendFormat" $panel.legend))
) }}
{{- end }}
{{- dict
  "uid" (printf "%s-%s" .Release.Namespace $name | trunc 40)
  "title" (printf "%s in %s" $name .Release.Namespace)
  "tags" (list "fw")
  "schemaVersion" 39
  "refresh" "30s"
  "time" (dict "from" "now-1h" "to" "now")
  "templating" (dict "list" (list (dict "name" "source" "type" "datasource" "query" "prometheus")))
  "panels" $drawn
  | toPrettyJson }}
{{- end }}
