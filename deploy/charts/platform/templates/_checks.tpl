{{- /* Values that are good each on its own and impossible together: each a sentence, all told at once. */}}
{{- define "platform.checks" -}}
{{- $complaints := list }}
{{- range list "release" "services" "edge" "postgres" "valkey" "tokens" "ingress" }}
{{- range include (printf "platform.%sComplaints" .) $ | trim | splitList "\n" }}
{{- with trim . }}{{ $complaints = append $complaints (printf "platform: %s" .) }}{{ end }}
{{- end }}
{{- end }}
{{- with $complaints }}{{ fail (printf "\n%s" (join "\n" .)) }}{{ end }}
{{- end }}

{{- define "platform.releaseComplaints" -}}
{{- if gt (len .Release.Name) 43 }}
the release is named "{{ .Release.Name }}", of which names are made that would be too long: expected 43 characters or fewer
{{- end }}
{{- /* What a release is named for is named like the release. */}}
{{- $alike := list }}
{{- range list "users" "catalog" "reports" "edge" "postgres" "valkey" "tokens" "platform" }}
{{- if contains . $.Release.Name }}{{ $alike = append $alike . }}{{ end }}
{{- end }}
{{- if gt (len $alike) 1 }}
the release is named "{{ .Release.Name }}", as what is made for {{ join ", " $alike }} would be too: expected a name that holds one of these words at most
{{- end }}
{{- end }}

{{- define "platform.servicesComplaints" -}}
{{- if not (include "platform.services" . | fromYamlArray) }}
users.enabled, catalog.enabled and reports.enabled are all false: expected one of them to be true
{{- end }}
{{- if .Values.reports.enabled }}
{{- range list "users" "catalog" }}
{{- if and (not (get (get $.Values .) "enabled")) (not (dig "upstreams" . "" $.Values.reports)) }}
{{ . }}.enabled is false, and reports has its figures from there: expected reports.upstreams.{{ . }} to say where it is
{{- else if and (dig "fullnameOverride" "" (get $.Values .)) (not (dig "upstreams" . "" $.Values.reports)) }}
{{ . }}.fullnameOverride is set, and reports would not find it: expected reports.upstreams.{{ . }} to say where it is
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "platform.edgeComplaints" -}}
{{- with .Values.edge }}
{{- if .enabled }}
{{- if not ($.Files.Get "files/edge/nginx.conf") }}
edge.enabled is true, and the chart has no configuration for it: run "make charts", which copies that of the local system
{{- end }}
{{- if and .service.nodePort (eq .service.type "ClusterIP") }}
edge.service.nodePort is {{ .service.nodePort }}, but a Service of the type ClusterIP has none: expected edge.service.type to be NodePort or LoadBalancer
{{- end }}
{{- if and .service.externalTrafficPolicy (eq .service.type "ClusterIP") }}
edge.service.externalTrafficPolicy is {{ .service.externalTrafficPolicy }}, but a Service of the type ClusterIP has none: expected edge.service.type to be NodePort or LoadBalancer
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Services that are to keep data in the bundled PostgreSQL. */}}
{{- define "platform.postgresUsers" -}}
{{- range $name := without (include "platform.services" $ | fromYamlArray) "reports" }}
{{- $store := (get $.Subcharts $name).Values.store }}
{{- if and (eq $store.type "postgres") (not $store.postgres.url) (eq (tpl $store.postgres.existingSecret.name $) (include "platform.postgresName" $)) }}
- {{ $name }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Services that the NetworkPolicy lets out to the bundled PostgreSQL alone. */}}
{{- define "platform.boundToPostgres" -}}
{{- $labels := dict "app.kubernetes.io/name" "postgres" "app.kubernetes.io/instance" .Release.Name }}
{{- $bundled := list (dict "podSelector" (dict "matchLabels" $labels)) }}
{{- range $name := without (include "platform.services" $ | fromYamlArray) "reports" }}
{{- $service := get $.Subcharts $name }}
{{- $policy := $service.Values.networkPolicy }}
{{- if and (eq $service.Values.store.type "postgres") $policy.enabled (deepEqual (tpl (toYaml $policy.databaseTo) $service | fromYamlArray) $bundled) }}
- {{ $name }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Whether the database of a service is another than the bundled PostgreSQL: (list $ "users"). */}}
{{- define "platform.hasOwnDatabase" -}}
{{- $root := index . 0 }}
{{- $database := (get $root.Subcharts (index . 1)).Values.store.postgres }}
{{- if $database.url }}
{{- if not (regexMatch (printf `^%s([.:]|$)` (include "platform.postgresName" $root)) (include "service.urlHost" $database.url)) }}yes{{ end }}
{{- else if not (has (tpl $database.existingSecret.name $root) (list (include "platform.postgresName" $root) (include "platform.postgresSecret" $root))) }}yes
{{- end }}
{{- end }}

{{- define "platform.postgresComplaints" -}}
{{- with .Values.postgres }}
{{- if .enabled }}
{{- if and .storage.ephemeral .storage.existingClaim }}
postgres.storage.ephemeral and postgres.storage.existingClaim are both set: expected one of them
{{- end }}
{{- $users := include "platform.postgresUsers" $ | fromYamlArray }}
{{- $most := 0 }}
{{- range $users }}
{{- $service := get $.Subcharts . }}
{{- $most = add $most (mul 2 (include "service.mostReplicas" $service | int) (int $service.Values.config.DATABASE_POOL_SIZE)) }}
{{- end }}
{{- $allowed := get .settings "max_connections" | default 100 | int }}
{{- if gt (add $most 3 | int) $allowed }}
postgres.settings.max_connections is {{ $allowed }}, and {{ join " and " $users }} may open {{ $most }} while their pods are replaced (twice the replicas, config.DATABASE_POOL_SIZE each): expected {{ add $most 3 }} or more
{{- end }}
{{- if .existingSecret }}
{{- range $users }}
postgres.existingSecret is set, and {{ . }} would read another: expected {{ . }}.store.postgres.existingSecret.name to be the same
{{- end }}
{{- end }}
{{- range include "platform.boundToPostgres" $ | fromYamlArray }}
{{- if include "platform.hasOwnDatabase" (list $ .) }}
{{ . }}.store.postgres names a database of yours, and the NetworkPolicy lets {{ . }} out to the bundled PostgreSQL alone: expected {{ . }}.networkPolicy.databaseTo to name your server, or to be [] for any
{{- end }}
{{- end }}
{{- else }}
{{- range include "platform.postgresUsers" $ | fromYamlArray }}
postgres.enabled is false, and {{ . }} is to keep its data there: expected {{ . }}.store.postgres.existingSecret.name to be a Secret of yours, or {{ . }}.store.type to be sqlite
{{- end }}
{{- range include "platform.boundToPostgres" $ | fromYamlArray }}
postgres.enabled is false, and the NetworkPolicy lets {{ . }} out to it alone: expected {{ . }}.networkPolicy.databaseTo to name your server, or to be [] for any
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "platform.countsInValkey" -}}
{{- if include "platform.hasService" (list $ "reports") }}
{{- $limit := .Subcharts.reports.Values.rateLimit }}
{{- if and (eq $limit.store "redis") (not $limit.redis.url) (eq (tpl $limit.redis.existingSecret.name $) (include "platform.valkeyName" $)) }}yes{{ end }}
{{- end }}
{{- end }}

{{- define "platform.valkeyComplaints" -}}
{{- if .Values.valkey.enabled }}
{{- $kept := .Values.valkey.maxMemory | replace "mb" "Mi" | replace "gb" "Gi" }}
{{- with dig "limits" "memory" "" (.Values.valkey.resources | default dict) }}
{{- if ge (include "service.mebibytes" $kept | int64) (include "service.mebibytes" . | int64) }}
valkey.maxMemory is {{ $.Values.valkey.maxMemory }}, and valkey.resources.limits.memory {{ include "service.text" . }}, at which the server is killed: expected a limit above what it keeps
{{- end }}
{{- end }}
{{- if and .Values.valkey.existingSecret (include "platform.countsInValkey" .) }}
valkey.existingSecret is set, and reports would read another: expected reports.rateLimit.redis.existingSecret.name to be the same
{{- end }}
{{- else }}
{{- if include "platform.countsInValkey" . }}
valkey.enabled is false, and reports is to count there: expected reports.rateLimit.redis.existingSecret.name to be a Secret of yours, or reports.rateLimit.store to be memory, with one replica
{{- end }}
{{- if and .Values.reports.enabled (eq (dig "rateLimit" "store" "" .Values.reports) "redis") (contains "app.kubernetes.io/name: valkey" (toYaml (dig "networkPolicy" "redisTo" list .Values.reports))) }}
valkey.enabled is false, and the NetworkPolicy lets reports out to it alone: expected reports.networkPolicy.redisTo to name your server, or to be [] for any
{{- end }}
{{- end }}
{{- end }}

{{- define "platform.checksTokens" -}}
{{- if include "platform.hasService" (list $ "reports") }}
{{- $jwt := .Subcharts.reports.Values.jwt }}
{{- if and (not $jwt.jwksUrl) (not $jwt.secret) (eq (tpl $jwt.existingSecret.name $) (include "platform.tokensName" $)) }}yes{{ end }}
{{- end }}
{{- end }}

{{- define "platform.tokensComplaints" -}}
{{- if and (not .Values.tokens.enabled) (include "platform.checksTokens" .) }}
tokens.enabled is false, and reports is to check tokens with that secret: expected reports.jwt.existingSecret.name to be a Secret of yours, or reports.jwt.jwksUrl
{{- end }}
{{- end }}

{{- define "platform.ingressComplaints" -}}
{{- with .Values.global.ingress }}
{{- if and .enabled (not .host) }}
global.ingress.enabled is true and global.ingress.host is not set: expected a host name such as api.example.org
{{- end }}
{{- if and .enabled (ne .controller "f5-nginx") $.Values.ingress.tlsSecret }}
ingress.tlsSecret is for the master that f5-nginx needs, and global.ingress.controller is {{ .controller }}: expected global.ingress.tlsSecret instead
{{- end }}
{{- end }}
{{- range $name := list "users" "catalog" "reports" }}
{{- with $.Values.global.ingress }}
{{- if and .enabled (eq .controller "f5-nginx") (not (dig "ingress" "mergeable" true (get $.Values $name))) }}
{{ $name }}.ingress.mergeable is false, and f5-nginx would refuse one of several Ingresses for {{ .host }}: expected true
{{- end }}
{{- end }}
{{- range $kind := list "ingress" "httpRoute" }}
{{- if and (dig $kind "enabled" false (get $.Values $name)) (not (dig $kind "enabled" false $.Values.global)) }}
{{ $name }}.{{ $kind }}.enabled is true, but global.{{ $kind }} holds for all services and is off: expected global.{{ $kind }}.enabled
{{- end }}
{{- end }}
{{- end }}
{{- end }}
