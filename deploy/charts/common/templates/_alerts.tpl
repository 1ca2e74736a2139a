{{- define "common.alerts" -}}
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: {{ include "common.name" . | quote }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
    {{- with .Values.metrics.prometheusRule.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  groups:
    - name: {{ include "common.name" . }}-objectives
      rules:
        {{- include "common.objectiveRules" . | nindent 8 }}
    - name: {{ include "common.name" . }}-causes
      rules:
        {{- include "common.causeRules" . | trim | nindent 8 }}
    {{- if (include "common.shared" (list . "entryProbe") | fromYaml).enabled }}
    - name: {{ include "common.name" . }}-entry
      interval: 10s
      rules:
        {{- include "common.entryRules" . | trim | nindent 8 }}
    {{- end }}
{{- end }}

{{- /* Selects the series of this release. */}}
{{- define "common.series" -}}
namespace="{{ .Release.Namespace }}",service="{{ include "common.name" . }}-metrics"
{{- end }}

{{- /*
Records the share of bad events in each window. An alert fires if the error budget of 30 days is spent more than "rate"
times too fast, both in the long window and in the short one (https://sre.google/workbook/alerting-on-slos/).
*/}}
{{- define "common.objectiveRules" -}}
{{- $service := dict "namespace" .Release.Namespace "service" (include "common.name" .) }}
{{- $burnRates := list
  (dict "rate" 14.4 "long" "1h" "short" "5m" "severity" "critical")
  (dict "rate" 6 "long" "6h" "short" "30m" "severity" "critical")
  (dict "rate" 1 "long" "3d" "short" "6h" "severity" "warning")
}}
{{- $rules := list }}
{{- $alerts := list }}
{{- range $indicator := include "common.indicators" (dict "root" . "series" (include "common.series" .)) | fromYamlArray }}
{{- $labels := merge (dict) $service .labels }}
{{- range list "1h" "5m" "6h" "30m" "3d" }}
{{- $rules = append $rules (dict "record" (printf "%s:ratio_%s" $indicator.record .) "expr" (include "common.badShare" (list $indicator .)) "labels" $labels) }}
{{- end }}
{{- $rules = append $rules (dict "record" (printf "%s:budget" .record) "expr" (printf "vector(%v)" .budget) "labels" $labels) }}
{{- $matchers := list (printf `namespace="%s"` $labels.namespace) (printf `service="%s"` $labels.service) }}
{{- range $name, $value := .labels }}{{ $matchers = append $matchers (printf `%s="%s"` $name $value) }}{{ end }}
{{- range $burnRates }}
{{- $limit := mulf .rate $indicator.budget }}
{{- $series := printf "%s:ratio_%%s{%s} > %v" $indicator.record (join "," $matchers) $limit }}
{{- $events := printf "%s >= %s" (include "common.badEvents" (list $indicator .long)) (include "common.minBadEvents" $) }}
{{- $alerts = append $alerts (dict
  "alert" $indicator.alert
  "expr" (printf "%s\nand %s\nand on () %s" (printf $series .long) (printf $series .short) $events)
  "labels" (merge (dict "severity" .severity "window" .long) $labels)
  "annotations" (include "common.annotations" (dict "root" $ "alert" $indicator.alert "summary" (printf "%s: {{ $value | humanizePercentage }} of %s, measured over %s; the objective allows %v %%" $service.service $indicator.description .long (mulf $indicator.budget 100))) | fromYaml)
) }}
{{- end }}
{{- end }}
{{- toYaml (concat $rules $alerts) }}
{{- end }}

{{- /* Alerts on causes. Each needs an action, also while the service still meets its objectives. */}}
{{- define "common.causeRules" -}}
{{- $series := include "common.series" . }}
{{- $name := include "common.name" . }}
{{- $causes := list
  (dict "alert" "ServiceUnavailable" "for" "2m" "severity" "critical"
    "expr" (printf "sum(up{%s}) == 0 or absent(up{%s})" $series $series)
    "summary" (printf "No pod of %s responds to Prometheus" $name))
  (dict "alert" "RequestsShed" "for" "5m" "severity" "warning"
    "expr" (printf "sum by (reason) (rate(http_requests_shed_total{%s}[5m])) > 0" $series)
    "summary" (printf "%s rejects requests with 503 because of overload ({{ $labels.reason }})" $name))
}}
{{- if include "common.storeType" . }}
{{- $causes = append $causes (dict "alert" "StoreUnavailable" "for" "1m" "severity" "critical"
    "expr" (printf `min(service_check_passes{%s,check="store"}) == 0` $series)
    "summary" (printf "A pod of %s cannot use its store" $name)) }}
{{- $causes = append $causes (dict "alert" "DatabasePoolExhausted" "for" "5m" "severity" "warning"
    "expr" (printf `sum(db_pool_connections{%s,state="waiting"}) > 0` $series)
    "summary" (printf "Requests to %s wait for a connection to the database" $name)) }}
{{- end }}
{{- include "common.alertRules" (list . $causes) }}
{{- end }}

{{- /*
Alerts on requests through the entry, one every 5 s. EntryFailing fires at 4 failures of 24. If one of two pods refuses
connections, half of the requests fail. A rollout, or a node that is busy for a moment, causes fewer than 4 failures.
*/}}
{{- define "common.entryRules" -}}
{{- $series := printf `namespace="%s",service="%s"` .Release.Namespace (include "common.name" .) }}
{{- $name := include "common.name" . }}
{{- include "common.alertRules" (list . (list
  (dict "alert" "EntryFailing" "for" "0s" "severity" "critical"
    "expr" (printf "count_over_time(probe_success{%s}[2m]) - sum_over_time(probe_success{%s}[2m]) >= 4" $series $series)
    "summary" (printf "%s: {{ $value }} of 24 requests through {{ $labels.instance }} failed in 2 minutes" $name))
  (dict "alert" "EntryCertificateExpires" "for" "5m" "severity" "warning"
    "expr" (printf "probe_ssl_earliest_cert_expiry{%s} - time() < 7 * 86400" $series)
    "summary" (printf "The certificate of {{ $labels.instance }} expires in {{ $value | humanizeDuration }}"))
  (dict "alert" "EntryNotProbed" "for" "5m" "severity" "warning"
    "expr" (printf "absent(probe_success{%s})" $series)
    "summary" (printf "Nothing tests whether requests reach %s" $name))
)) }}
{{- end }}

{{- /* Alerts from a list of name, expression, duration, severity and summary: (list $ alerts). */}}
{{- define "common.alertRules" -}}
{{- $root := index . 0 }}
{{- range index . 1 }}
- alert: {{ .alert }}
  expr: {{ .expr | quote }}
  for: {{ .for }}
  labels:
    severity: {{ .severity }}
    namespace: {{ $root.Release.Namespace | quote }}
    service: {{ include "common.name" $root | quote }}
  annotations:
    {{- include "common.annotations" (dict "root" $root "alert" .alert "summary" .summary) | nindent 4 }}
{{- end }}
{{- end }}

{{- define "common.annotations" -}}
summary: {{ .summary | quote }}
{{- with .root.Values.metrics.prometheusRule.runbookUrl }}
runbook_url: {{ . }}#{{ lower $.alert }}
{{- end }}
{{- end }}
