{{- /*
What the objectives of a service measure (files/slo.json of its chart, overridden by the value slo), as a list for alerts
and for the analysis of releases: (dict "root" $ "series" selector). "bad" and "total" are the numbers of events in a
window. Fewer bad events than "least" raise no alert and stop no release: at night, one failure may be a third of the
requests.
*/}}
{{- define "common.indicators" -}}
{{- $series := .series }}
{{- $slo := mustMergeOverwrite (.root.Files.Get "files/slo.json" | default "{}" | fromJson) .root.Values.slo }}
{{- $availability := required (printf "%s: expected the objectives of the service in the value slo" .root.Chart.Name) $slo.availability }}
{{- /* Clients cause 501, with an unknown method or transfer coding. */}}
- alert: ErrorBudgetBurn
  record: service:http_requests_failed
  labels: {}
  budget: {{ subf 1 $availability }}
  description: requests fail (5xx)
  bad: sum(increase(http_server_request_duration_seconds_count{ {{- $series }},http_request_method!="_OTHER",http_response_status_code=~"5..",http_response_status_code!="501"}[WINDOW]))
  total: sum(increase(http_server_request_duration_seconds_count{ {{- $series }},http_request_method!="_OTHER"}[WINDOW]))
{{- range $kind, $latency := $slo.latency }}
{{- $methods := list }}
{{- $routes := list }}
{{- range $latency.requests }}
{{- $methods = append $methods (splitList " " . | first) | uniq }}
{{- $routes = append $routes (splitList " " . | last) | uniq }}
{{- end }}
{{- $selector := printf `%s,http_request_method=~"%s",http_route=~"%s",http_response_status_code=~"2..|3.."` $series (join "|" $methods) (join "|" $routes) }}
{{- range $quantile, $limitMs := dict "0.95" $latency.p95Ms "0.99" $latency.p99Ms }}
{{- if $limitMs }}
{{- /* Prometheus 3 writes whole numbers as 1.0, earlier versions as 1. */}}
{{- $seconds := divf $limitMs 1000 | toString }}
{{- $bound := contains "." $seconds | ternary (printf `le="%s"` $seconds) (printf `le=~"%s([.]0)?"` $seconds) }}
- alert: LatencyBudgetBurn
  record: service:http_requests_slow
  labels: { kind: {{ $kind }}, quantile: {{ $quantile | quote }} }
  budget: {{ subf 1 (float64 $quantile) }}
  description: successful {{ $kind }} requests take longer than {{ $limitMs }} ms
  bad: (sum(increase(http_server_request_duration_seconds_count{ {{- $selector }}}[WINDOW])) - sum(increase(http_server_request_duration_seconds_bucket{ {{- $selector }},{{ $bound }}}[WINDOW])))
  total: sum(increase(http_server_request_duration_seconds_count{ {{- $selector }}}[WINDOW]))
{{- end }}
{{- end }}
{{- end }}
{{- with $slo.correctDecisions }}
- alert: RateLimitBudgetBurn
  record: service:rate_limit_decisions_failed
  labels: {}
  budget: {{ subf 1 . }}
  description: decisions of the rate limiter are made without its store
  bad: sum(increase(rate_limit_decisions_total{ {{- $series }},outcome=~"failed|local"}[WINDOW]))
  total: sum(increase(rate_limit_decisions_total{ {{- $series }}}[WINDOW]))
{{- end }}
{{- end }}

{{- define "common.leastBadEvents" -}}5{{- end }}
