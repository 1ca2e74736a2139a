{{- /*
Fails with one line for each combination of values that would lose data or requests. The schema checks the shape of the
values, and the service checks its own variables.
*/}}
{{- define "common.checks" -}}
{{- $errors := list }}
{{- range list "replicas" "termination" "memory" "store" "secrets" "ingress" "httpRoute" "metrics" "entryProbe" "progressiveDelivery" }}
{{- range include (printf "common.%sErrors" .) $ | trim | splitList "\n" }}
{{- with trim . }}{{ $errors = append $errors (printf "%s: %s" $.Chart.Name .) }}{{ end }}
{{- end }}
{{- end }}
{{- with $errors }}{{ fail (printf "\n%s" (join "\n" .)) }}{{ end }}
{{- end }}

{{- define "common.replicasErrors" -}}
{{- $reason := "" }}
{{- if eq (include "common.storeType" .) "sqlite" }}
{{- $reason = "store.type sqlite keeps the data in one pod: expected store.type postgres" }}
{{- else if eq .Values.rateLimit.store "memory" }}
{{- $reason = "rateLimit.store memory counts in each pod separately: expected rateLimit.store redis" }}
{{- end }}
{{- if $reason }}
{{- if gt (int .Values.replicaCount) 1 }}
replicaCount is {{ .Values.replicaCount }}, but {{ $reason }}, or replicaCount 1
{{- end }}
{{- if .Values.progressiveDelivery.enabled }}
progressiveDelivery.enabled is true, but {{ $reason }}, or no progressive delivery
{{- end }}
{{- if .Values.autoscaling.enabled }}
autoscaling.enabled is true, but {{ $reason }}, or no autoscaling
{{- end }}
{{- end }}
{{- end }}

{{- define "common.terminationErrors" -}}
{{- $given := int64 .Values.terminationGracePeriodSeconds }}
{{- $minimum := int64 (include "common.minGracePeriodSeconds" .) }}
{{- if and $given (lt $given $minimum) }}
terminationGracePeriodSeconds is {{ $given }}, which would interrupt requests: preStop ({{ .Values.preStopSleepSeconds }} s), drain delay ({{ include "common.text" .Values.config.DRAIN_DELAY_MS }} ms), idle connections ({{ include "common.text" .Values.config.DRAIN_IDLE_MS }} ms), the longest request ({{ include "common.longestRequestMs" . }} ms), closing ({{ include "common.closeMs" . }} ms) and a margin (2 s) need {{ $minimum }} s; expected that or more, or 0 to have it computed
{{- end }}
{{- end }}

{{- /* A quantity such as 256Mi in mebibytes, rounded down. */}}
{{- define "common.mebibytes" -}}
{{- $units := dict "" 1 "k" 1000 "M" 1000000 "G" 1000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 }}
{{- $text := include "common.text" . }}
{{- $unit := regexFind "[A-Za-z]*$" $text }}
{{- divf (mulf (trimSuffix $unit $text | float64) (get $units $unit | default 0)) 1048576 | floor | int64 }}
{{- end }}

{{- define "common.memoryErrors" -}}
{{- $memory := dig "limits" "memory" "" (.Values.resources | default dict) }}
{{- if lt (include "common.mebibytes" $memory | int64) 128 }}
resources.limits.memory is {{ include "common.text" $memory | default "not set" }}, and the heap size depends on it: expected 128Mi or more
{{- end }}
{{- end }}

{{- define "common.storeErrors" -}}
{{- with .Values.store.sqlite }}
{{- if and .ephemeral .existingClaim }}
store.sqlite.ephemeral and store.sqlite.existingClaim are both set, so that data would not be in the claim: expected one of them
{{- end }}
{{- end }}
{{- with .Values.store.postgres }}
{{- if and .caSecret.name .url (not (contains "sslrootcert=" .url)) }}
store.postgres.caSecret.name is set, but store.postgres.url does not use it, so that the certificate of the database would not be verified: expected a url that ends in ?sslmode=verify-full&sslrootcert={{ include "common.secretsFolder" $ }}/postgres-ca.crt
{{- end }}
{{- end }}
{{- end }}

{{- /* Each secret is either a value or in an existing Secret. */}}
{{- define "common.secretsErrors" -}}
{{- $expected := dict "DATABASE_URL" "store.postgres: expected url or existingSecret.name" "REDIS_URL" "rateLimit.redis: expected url or existingSecret.name" "JWT_SECRET" "jwt: expected secret, existingSecret.name or jwksUrl" }}
{{- range $name, $secret := include "common.secrets" . | fromYaml }}
{{- if eq (empty $secret.value) (empty $secret.existing.name) }}
{{ get $expected $name }}, but {{ $secret.value | empty | ternary "none is set" "both are set" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "common.ingressErrors" -}}
{{- $ingress := include "common.shared" (list . "ingress") | fromYaml }}
{{- if $ingress.enabled }}
{{- if and .Values.networkPolicy.enabled (not (include "common.controllerNamespace" .)) (not (include "common.callers" . | trim)) }}
ingress.enabled is true, but the NetworkPolicy would block the controller: expected ingress.controllerNamespace, or peers in networkPolicy.from
{{- end }}
{{- end }}
{{- end }}

{{- define "common.httpRouteErrors" -}}
{{- $route := include "common.shared" (list . "httpRoute") | fromYaml }}
{{- if $route.enabled }}
{{- if not $route.parentRefs }}
httpRoute.enabled is true, but httpRoute.parentRefs is empty: expected a gateway such as [{name: public}]
{{- end }}
{{- if and .Values.networkPolicy.enabled (not (include "common.callers" . | trim)) }}
httpRoute.enabled is true, but the NetworkPolicy would block the gateway: expected its pods or namespace in networkPolicy.from
{{- end }}
{{- end }}
{{- end }}

{{- define "common.metricsErrors" -}}
{{- with .Values.metrics }}
{{- if and .prometheusRule.enabled (not .serviceMonitor.enabled) }}
metrics.prometheusRule.enabled is true, but metrics.serviceMonitor.enabled is false, so that Prometheus would have no metrics and the alert ServiceUnavailable would fire permanently: expected metrics.serviceMonitor.enabled true
{{- end }}
{{- end }}
{{- end }}

{{- define "common.entryProbeErrors" -}}
{{- $probe := include "common.shared" (list . "entryProbe") | fromYaml }}
{{- if and $probe.enabled (not $probe.url) }}
entryProbe.enabled is true, but entryProbe.url is empty: expected the address that clients use, such as https://api.example.org
{{- end }}
{{- end }}
