{{- /* Fails with one line for each combination of valid values that cannot work. */}}
{{- define "common.checks" -}}
{{- $errors := list }}
{{- range list "replicas" "progressiveDelivery" "labels" "termination" "memory" "store" "rateLimit" "jwt" "upstreams" "ingress" "httpRoute" "metrics" }}
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
{{- else if eq (dig "store" "" (.Values.rateLimit | default dict)) "memory" }}
{{- $reason = "rateLimit.store memory counts in each pod separately: expected rateLimit.store redis" }}
{{- end }}
{{- if and $reason (gt (int .Values.replicaCount) 1) }}
replicaCount is {{ .Values.replicaCount }}, but {{ $reason }}, or replicaCount 1
{{- end }}
{{- if and $reason .Values.progressiveDelivery.enabled }}
progressiveDelivery.enabled is true, but {{ $reason }}, or no progressive delivery
{{- end }}
{{- with .Values.autoscaling }}
{{- if and .enabled $reason }}
autoscaling.enabled is true, but {{ $reason }}, or no autoscaling
{{- end }}
{{- if and .enabled (gt (int .minReplicas) (int .maxReplicas)) }}
autoscaling.minReplicas is {{ .minReplicas }} and autoscaling.maxReplicas is {{ .maxReplicas }}: expected a minimum that is not above the maximum
{{- end }}
{{- if and .enabled (not (dig "requests" "cpu" "" ($.Values.resources | default dict))) }}
autoscaling.targetCPUUtilizationPercentage is relative to resources.requests.cpu, which is not set: expected a request such as 100m
{{- end }}
{{- end }}
{{- end }}

{{- define "common.labelsErrors" -}}
{{- $own := merge (include "common.podLabels" . | fromYaml) (include "common.callerLabels" (keys (.Values.upstreams | default dict)) | fromYaml) }}
{{- range $name := keys .Values.podLabels | sortAlpha }}
{{- if hasKey $own $name }}
podLabels contains {{ $name }}, which the chart sets: expected labels with other names
{{- end }}
{{- end }}
{{- end }}

{{- define "common.terminationErrors" -}}
{{- $given := int64 .Values.terminationGracePeriodSeconds }}
{{- $minimum := int64 (include "common.minGracePeriodSeconds" .) }}
{{- if and $given (lt $given $minimum) }}
terminationGracePeriodSeconds is {{ $given }}, which would interrupt requests: preStop ({{ .Values.preStopSleepSeconds }} s), drain delay ({{ include "common.text" .Values.config.DRAIN_DELAY_MS }} ms), idle connections (5000 ms), the longest request ({{ include "common.longestRequestMs" . }} ms), closing (2000 ms) and a margin (2 s) need {{ $minimum }} s; expected that or more, or 0 to have it computed
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
{{- if not $memory }}
resources.limits.memory is not set, and the heap size depends on it: expected 128Mi or more
{{- else if lt (include "common.mebibytes" $memory | int64) 128 }}
resources.limits.memory is {{ include "common.text" $memory }}, too little to start: expected 128Mi or more
{{- end }}
{{- $request := dig "requests" "memory" "" (.Values.resources | default dict) }}
{{- if and $memory $request (gt (include "common.mebibytes" $request | int64) (include "common.mebibytes" $memory | int64)) }}
resources.requests.memory is {{ include "common.text" $request }}, above resources.limits.memory ({{ include "common.text" $memory }}): expected that or less
{{- end }}
{{- end }}

{{- /* The address of a server, as a value or in a Secret: (dict "path" "store.postgres" "server" …). */}}
{{- define "common.addressErrors" -}}
{{- $given := list }}
{{- with .server.url }}{{ $given = append $given . }}{{ end }}
{{- with .server.existingSecret.name }}{{ $given = append $given . }}{{ end }}
{{- if not $given }}
{{ .reason }}, but neither {{ .path }}.url nor {{ .path }}.existingSecret.name is set: expected one of them
{{- else if eq (len $given) 2 }}
{{ .path }}.url and {{ .path }}.existingSecret.name are both set: expected one of them
{{- else if and .server.url (not (regexMatch .form .server.url)) }}
{{ .path }}.url is not a valid address: expected {{ .expected }}
{{- end }}
{{- end }}

{{- /* The authority of a URL (RFC 3986, section 3.2): user and password, host, port. */}}
{{- define "common.authorityForm" -}}
{{- `(([\w.~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*@)?([\w.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?` }}
{{- end }}

{{- define "common.storeErrors" -}}
{{- with .Values.store }}
{{- if eq .type "postgres" }}
{{- include "common.addressErrors" (dict "path" "store.postgres" "server" .postgres "reason" "store.type is postgres" "form" (printf `^postgres(ql)?://%s/\S+$` (include "common.authorityForm" .)) "expected" "postgres://user:password@host:5432/name, with special characters of the password encoded, such as %23 for #") }}
{{- if and (.postgres.caSecret | default dict).name .postgres.url (not (contains "sslrootcert=" .postgres.url)) }}
store.postgres.caSecret.name is set, but store.postgres.url does not use it: expected a url that ends in ?sslmode=verify-full&sslrootcert={{ include "common.secretsFolder" $ }}/postgres-ca.crt
{{- end }}
{{- else if and .sqlite.ephemeral .sqlite.existingClaim }}
store.sqlite.ephemeral and store.sqlite.existingClaim are both set: expected one of them
{{- end }}
{{- end }}
{{- end }}

{{- define "common.rateLimitErrors" -}}
{{- with .Values.rateLimit }}
{{- if eq .store "redis" }}
{{- include "common.addressErrors" (dict "path" "rateLimit.redis" "server" .redis "reason" "rateLimit.store is redis" "form" (printf `^rediss?://%s(/\S*)?$` (include "common.authorityForm" .)) "expected" "redis://:password@host:6379, with special characters of the password encoded, such as %23 for #") }}
{{- end }}
{{- end }}
{{- end }}

{{- define "common.jwtErrors" -}}
{{- with .Values.jwt }}
{{- $given := list }}
{{- if .secret }}{{ $given = append $given "jwt.secret" }}{{ end }}
{{- if .existingSecret.name }}{{ $given = append $given "jwt.existingSecret.name" }}{{ end }}
{{- if .jwksUrl }}{{ $given = append $given "jwt.jwksUrl" }}{{ end }}
{{- if not $given }}
no key is set, so that every token would be rejected: expected jwt.secret, jwt.existingSecret.name or jwt.jwksUrl
{{- else if gt (len $given) 1 }}
{{ join " and " $given }} are set: expected one of them
{{- else if and .secret (lt (len .secret) 32) }}
jwt.secret is too short to be safe: expected 32 characters or more, got {{ len .secret }}
{{- end }}
{{- end }}
{{- end }}

{{- define "common.upstreamsErrors" -}}
{{- range $name := keys (.Values.upstreams | default dict) | sortAlpha }}
{{- if not (regexMatch (printf `^https?://%s(/\S*)?$` (include "common.authorityForm" $)) (include "common.upstream" (list $ $name))) }}
upstreams.{{ $name }} is not a valid address: expected a form such as http://{{ $name }}.namespace
{{- end }}
{{- end }}
{{- end }}

{{- define "common.ingressErrors" -}}
{{- $ingress := include "common.shared" (list . "ingress") | fromYaml }}
{{- if $ingress.enabled }}
{{- if not $ingress.hosts }}
ingress.enabled is true, but ingress.hosts is empty: expected a host such as [{host: api.example.org}]
{{- end }}
{{- if include "common.isMinion" $ingress }}
{{- /* The platform has the master Ingress of the host, so that all its Ingresses are minions. */}}
{{- $otherwise := dig "ingress" "enabled" false (.Values.global | default dict) | ternary "" ", or ingress.mergeable false" }}
{{- if gt (len $ingress.hosts) 1 }}
ingress.hosts has {{ len $ingress.hosts }} hosts, but an Ingress of f5-nginx that shares its host can have only one: expected one host{{ $otherwise }}
{{- end }}
{{- if .Values.ingress.tls }}
ingress.tls is set, but an Ingress of f5-nginx that shares its host cannot have a certificate: expected it in the master Ingress of the host{{ $otherwise }}
{{- end }}
{{- end }}
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
{{- $shares := int64 $route.weight }}
{{- range $route.others }}{{ $shares = add $shares (int64 .weight) }}{{ end }}
{{- /* Each namespace has this ConfigMap: without it, there is no cluster to look for Services. */}}
{{- $names := list }}
{{- $rules := list }}
{{- range $route.others }}
{{- if has .name $names }}
httpRoute.others contains {{ .name }} twice: expected one entry for each Service
{{- end }}
{{- $names = append $names .name }}
{{- /* Names of headers are case-insensitive, and of two rules with the same headers only the first one matches. */}}
{{- $headers := dict }}
{{- range $name, $value := .headers }}{{ $_ := set $headers (lower $name) $value }}{{ end }}
{{- if ne (len $headers) (len (.headers | default dict)) }}
httpRoute.others contains {{ .name }} with headers whose names differ only in case: expected each name once
{{- end }}
{{- if and $headers (has $headers $rules) }}
httpRoute.others contains {{ .name }} with the same headers as another entry, so that it would get no such request: expected different headers
{{- end }}
{{- $rules = append $rules $headers }}
{{- if eq .name (include "common.name" $) }}
httpRoute.others contains {{ .name }}, which is the Service of this release: expected its share in httpRoute.weight
{{- else if and (lookup "v1" "ConfigMap" $.Release.Namespace "kube-root-ca.crt") (not (lookup "v1" "Service" $.Release.Namespace .name)) }}
httpRoute.others contains {{ .name }}, but {{ $.Release.Namespace }} has no such Service, so that its share of the requests would get 500: expected the release installed first
{{- end }}
{{- end }}
{{- if not $shares }}
httpRoute.weight and all weights in httpRoute.others are 0, so that every request would get 500: expected one weight above 0
{{- end }}
{{- if and .Values.networkPolicy.enabled (not (include "common.callers" . | trim)) }}
httpRoute.enabled is true, but the NetworkPolicy would block the gateway: expected its pods or namespace in networkPolicy.from
{{- end }}
{{- else if $route.others }}
httpRoute.others is set, but there is no route, so that these Services would get no requests: expected {{ hasKey (.Values.global | default dict) "httpRoute" | ternary "global." "" }}httpRoute.enabled true
{{- end }}
{{- end }}
