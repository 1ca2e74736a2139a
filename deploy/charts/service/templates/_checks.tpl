{{- /* Values that are good each on its own and impossible together: each a sentence, all told at once. */}}
{{- define "service.checks" -}}
{{- $complaints := list }}
{{- range list "replicas" "labels" "termination" "memory" "store" "limits" "tokens" "upstreams" "ingress" "route" }}
{{- range include (printf "service.%sComplaints" .) $ | trim | splitList "\n" }}
{{- with trim . }}{{ $complaints = append $complaints (printf "%s: %s" $.Chart.Name .) }}{{ end }}
{{- end }}
{{- end }}
{{- with $complaints }}{{ fail (printf "\n%s" (join "\n" .)) }}{{ end }}
{{- end }}

{{- define "service.replicasComplaints" -}}
{{- with .Values.autoscaling }}
{{- if and .enabled (gt (int .minReplicas) (int .maxReplicas)) }}
autoscaling.minReplicas is {{ .minReplicas }} and autoscaling.maxReplicas {{ .maxReplicas }}: expected a minimum that is not above the maximum
{{- end }}
{{- if and .enabled (not (dig "requests" "cpu" "" ($.Values.resources | default dict))) }}
autoscaling.cpuPercent is a share of resources.requests.cpu, which is not set: expected a request such as 100m
{{- end }}
{{- end }}
{{- end }}

{{- define "service.labelsComplaints" -}}
{{- $own := merge (include "service.podLabels" . | fromYaml) (include "service.callerLabels" (keys (.Values.upstreams | default dict)) | fromYaml) }}
{{- range $name := keys .Values.podLabels | sortAlpha }}
{{- if hasKey $own $name }}
podLabels holds {{ $name }}, which the chart sets itself: expected labels of other names
{{- end }}
{{- end }}
{{- end }}

{{- define "service.terminationComplaints" -}}
{{- $given := int64 .Values.termination.gracePeriodSeconds }}
{{- $least := int64 (include "service.leastGracePeriodSeconds" .) }}
{{- if and $given (lt $given $least) }}
termination.gracePeriodSeconds is {{ $given }}, which cuts requests off: preStop ({{ .Values.termination.preStopSeconds }} s), drain delay ({{ include "service.text" .Values.config.DRAIN_DELAY_MS }} ms), idle connections (5000 ms), the longest request ({{ include "service.longestRequestMs" . }} ms), closing (2000 ms) and a margin (2 s) need {{ $least }} s; expected that or more, or 0 to have it computed
{{- end }}
{{- end }}

{{- /* Whole mebibytes of a quantity such as 256Mi. */}}
{{- define "service.mebibytes" -}}
{{- $units := dict "" 1 "k" 1000 "M" 1000000 "G" 1000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 }}
{{- $text := include "service.text" . }}
{{- $unit := regexFind "[A-Za-z]*$" $text }}
{{- divf (mulf (trimSuffix $unit $text | float64) (get $units $unit | default 0)) 1048576 | floor | int64 }}
{{- end }}

{{- define "service.memoryComplaints" -}}
{{- $memory := dig "limits" "memory" "" (.Values.resources | default dict) }}
{{- if not $memory }}
resources.limits.memory is not set: the heap is a share of it; expected 128Mi or more
{{- else if lt (include "service.mebibytes" $memory | int64) 128 }}
resources.limits.memory is {{ include "service.text" $memory }}, too little to start in: expected 128Mi or more
{{- end }}
{{- $request := dig "requests" "memory" "" (.Values.resources | default dict) }}
{{- if and $memory $request (gt (include "service.mebibytes" $request | int64) (include "service.mebibytes" $memory | int64)) }}
resources.requests.memory is {{ include "service.text" $request }}, above resources.limits.memory, {{ include "service.text" $memory }}: expected that or less
{{- end }}
{{- end }}

{{- /* One address of a server, given itself or in a Secret: (dict "path" "store.postgres" "server" …). */}}
{{- define "service.addressComplaints" -}}
{{- $given := list }}
{{- with .server.url }}{{ $given = append $given . }}{{ end }}
{{- with .server.existingSecret.name }}{{ $given = append $given . }}{{ end }}
{{- if not $given }}
{{ .reason }}, and neither {{ .path }}.url nor {{ .path }}.existingSecret.name is set: expected one of them
{{- else if eq (len $given) 2 }}
{{ .path }}.url and {{ .path }}.existingSecret.name are both set: expected one of them
{{- else if and .server.url (not (regexMatch .form .server.url)) }}
{{ .path }}.url is no address of such a server: expected {{ .expected }}
{{- end }}
{{- end }}

{{- /* Whom a URL names, as RFC 3986 has it (§3.2): a user and a password, a host, a port. */}}
{{- define "service.authorityForm" -}}
{{- `(([\w.~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*@)?([\w.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?` }}
{{- end }}

{{- define "service.storeComplaints" -}}
{{- with .Values.store }}
{{- if eq .type "postgres" }}
{{- include "service.addressComplaints" (dict "path" "store.postgres" "server" .postgres "reason" "store.type is postgres" "form" (printf `^postgres(ql)?://%s/\S+$` (include "service.authorityForm" .)) "expected" "the form postgres://user:password@host:5432/name, in which a password has %23 for # and so on") }}
{{- if and (.postgres.caSecret | default dict).name .postgres.url (not (contains "sslrootcert=" .postgres.url)) }}
store.postgres.caSecret.name is set, and store.postgres.url does not use it: expected a url that ends in ?sslmode=verify-full&sslrootcert={{ include "service.secretsFolder" $ }}/postgres-ca.crt
{{- end }}
{{- else if and .sqlite.ephemeral .sqlite.existingClaim }}
store.sqlite.ephemeral and store.sqlite.existingClaim are both set: expected one of them
{{- end }}
{{- end }}
{{- end }}

{{- define "service.limitsComplaints" -}}
{{- with .Values.rateLimit }}
{{- if eq .store "redis" }}
{{- include "service.addressComplaints" (dict "path" "rateLimit.redis" "server" .redis "reason" "rateLimit.store is redis" "form" (printf `^rediss?://%s(/\S*)?$` (include "service.authorityForm" .)) "expected" "the form redis://:password@host:6379, in which a password has %23 for # and so on") }}
{{- end }}
{{- end }}
{{- end }}

{{- define "service.tokensComplaints" -}}
{{- with .Values.jwt }}
{{- $given := list }}
{{- if .secret }}{{ $given = append $given "jwt.secret" }}{{ end }}
{{- if .existingSecret.name }}{{ $given = append $given "jwt.existingSecret.name" }}{{ end }}
{{- if .jwksUrl }}{{ $given = append $given "jwt.jwksUrl" }}{{ end }}
{{- if not $given }}
without keys nobody could come in: expected jwt.secret, jwt.existingSecret.name or jwt.jwksUrl
{{- else if gt (len $given) 1 }}
{{ join " and " $given }} are set: expected one of them
{{- else if and .secret (lt (len .secret) 32) }}
jwt.secret is too short to be safe: expected 32 characters or more, got {{ len .secret }}
{{- end }}
{{- end }}
{{- end }}

{{- define "service.upstreamsComplaints" -}}
{{- range $name := keys (.Values.upstreams | default dict) | sortAlpha }}
{{- if not (regexMatch (printf `^https?://%s(/\S*)?$` (include "service.authorityForm" $)) (include "service.upstream" (list $ $name))) }}
upstreams.{{ $name }} is no address of a service: expected the form http://{{ $name }}.its-namespace
{{- end }}
{{- end }}
{{- end }}

{{- define "service.ingressComplaints" -}}
{{- $ingress := include "service.shared" (list . "ingress") | fromYaml }}
{{- if $ingress.enabled }}
{{- if not $ingress.host }}
ingress.enabled is true and ingress.host is not set: expected a host name such as api.example.org
{{- end }}
{{- if and (eq $ingress.controller "f5-nginx") $ingress.mergeable $ingress.tlsSecret }}
{{- if dig "ingress" "tlsSecret" "" (.Values.global | default dict) }}
global.ingress.tlsSecret is set, but with f5-nginx the platform's own Ingress has the certificate of the host: expected ingress.tlsSecret of the platform instead
{{- else }}
ingress.tlsSecret is set, but an Ingress of f5-nginx that shares its host has no certificate: expected it in the master Ingress of the host, or ingress.mergeable to be false
{{- end }}
{{- end }}
{{- if and .Values.networkPolicy.enabled (not (include "service.controllerNamespace" .)) (not (include "service.callers" . | trim)) }}
ingress.enabled is true, and the NetworkPolicy would shut the controller out: expected ingress.controllerNamespace, or peers in networkPolicy.from
{{- end }}
{{- end }}
{{- end }}

{{- define "service.routeComplaints" -}}
{{- $route := include "service.shared" (list . "httpRoute") | fromYaml }}
{{- if $route.enabled }}
{{- if not $route.parentRefs }}
httpRoute.enabled is true and httpRoute.parentRefs is empty: expected a gateway such as [{name: public}]
{{- end }}
{{- $shares := int64 $route.weight }}
{{- range $route.others }}{{ $shares = add $shares (int64 .weight) }}{{ end }}
{{- if not $shares }}
httpRoute.weight is 0, and no other has a share, so that every request would be answered 500: expected one weight above 0
{{- end }}
{{- if and .Values.networkPolicy.enabled (not (include "service.callers" . | trim)) }}
httpRoute.enabled is true, and the NetworkPolicy would shut the gateway out: expected its pods or namespace in networkPolicy.from
{{- end }}
{{- end }}
{{- end }}
