{{- /* The objectives of a service: files/slo.json of its chart, overridden by the value slo. */}}
{{- define "common.slo" -}}
{{- $file := .Files.Get "files/slo.json" | required (printf "Cannot read files/slo.json: the chart %s needs it" .Chart.Name) }}
{{- mustMergeOverwrite (fromJson $file) .Values.slo | toYaml }}
{{- end }}

{{- /*
What the objectives measure, as a list for alerts and for the analysis of releases: (dict "root" $ "series" selector).
"total" is the counter of all events. The bad ones are counted by "bad", or are those that "good" does not count.
*/}}
{{- define "common.indicators" -}}
{{- $series := .series }}
{{- $slo := include "common.slo" .root | fromYaml }}
{{- /* An unknown method gets 501, which is an error of the client. */}}
{{- $requests := printf `http_requests_total{%s,method!="other"` $series }}
{{- $indicators := list (dict
  "alert" "ErrorBudgetBurn"
  "record" "service:http_requests_failed"
  "labels" dict
  "budget" (subf 1 $slo.availability)
  "description" "requests fail (5xx)"
  "total" (printf "%s}" $requests)
  "bad" (printf `%s,status="5xx"}` $requests)
) }}
{{- range $kind, $latency := $slo.latency }}
{{- $methods := list }}
{{- $routes := list }}
{{- range $latency.requests }}
{{- $parts := splitList " " . }}
{{- $methods = append $methods (first $parts) | uniq }}
{{- $routes = append $routes (last $parts) | uniq }}
{{- end }}
{{- $selector := printf `%s,method=~"%s",route=~"%s",status=~"2xx|3xx"` $series (join "|" $methods) (join "|" $routes) }}
{{- range $quantile, $limitMs := dict "0.95" $latency.p95Ms "0.99" $latency.p99Ms }}
{{- /* Prometheus 3 writes whole numbers as 1.0, earlier versions as 1. */}}
{{- $seconds := divf $limitMs 1000 | toString }}
{{- $bound := contains "." $seconds | ternary (printf `le="%s"` $seconds) (printf `le=~"%s([.]0)?"` $seconds) }}
{{- $indicators = append $indicators (dict
  "alert" "LatencyBudgetBurn"
  "record" "service:http_requests_slow"
  "labels" (dict "kind" $kind "quantile" $quantile)
  "budget" (subf 1 (float64 $quantile))
  "description" (printf "successful %s requests take longer than %v ms" $kind $limitMs)
  "total" (printf "http_request_duration_seconds_count{%s}" $selector)
  "good" (printf "http_request_duration_seconds_bucket{%s,%s}" $selector $bound)
) }}
{{- end }}
{{- end }}
{{- with $slo.correctDecisions }}
{{- $indicators = append $indicators (dict
  "alert" "RateLimitBudgetBurn"
  "record" "service:rate_limit_decisions_failed"
  "labels" dict
  "budget" (subf 1 .)
  "description" "decisions of the rate limiter are made without its store"
  "total" (printf "rate_limit_decisions_total{%s}" $series)
  "bad" (printf `rate_limit_decisions_total{%s,outcome=~"failed|local"}` $series)
) }}
{{- end }}
{{- toYaml $indicators }}
{{- end }}

{{- /* How much a counter grew in a window: (list counter "5m"). With the window "": since the start of the pods. */}}
{{- define "common.increase" -}}
{{- $window := index . 1 }}
{{- if $window }}sum(increase({{ first . }}[{{ $window }}])){{ else }}sum({{ first . }}){{ end }}
{{- end }}

{{- /* The share of bad events in a window: (list indicator "5m"). */}}
{{- define "common.badShare" -}}
{{- $window := index . 1 }}
{{- with first . }}
{{- if .good }}1 - {{ end }}{{ include "common.increase" (list (.good | default .bad) $window) }}
  / {{ include "common.increase" (list .total $window) }}
{{- end }}
{{- end }}

{{- /* The number of bad events in a window: (list indicator "5m"). */}}
{{- define "common.badEvents" -}}
{{- $window := index . 1 }}
{{- with first . }}
{{- if .good -}}
({{ include "common.increase" (list .total $window) }} - {{ include "common.increase" (list .good $window) }})
{{- else -}}
{{ include "common.increase" (list .bad $window) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Fewer bad events raise no alert and stop no release: at night, one failure may be a third of the requests. */}}
{{- define "common.minBadEvents" -}}5{{- end }}
