{{- /* Fails with one line for each combination of valid values that would lose data or requests. */}}
{{- define "platform.checks" -}}
{{- $errors := list }}
{{- range list "release" "services" "edge" "tls" "postgres" "valkey" "tokens" }}
{{- range include (printf "platform.%sErrors" .) $ | trim | splitList "\n" }}
{{- with trim . }}{{ $errors = append $errors (printf "platform: %s" .) }}{{ end }}
{{- end }}
{{- end }}
{{- with $errors }}{{ fail (printf "\n%s" (join "\n" .)) }}{{ end }}
{{- end }}

{{- define "platform.releaseErrors" -}}
{{- if gt (len .Release.Name) 43 }}
the release name "{{ .Release.Name }}" is too long for the names of its objects: expected 43 characters or fewer
{{- end }}
{{- /* If the release name contains the name of a part, the objects of the part have the release name. */}}
{{- $same := list }}
{{- range concat (include "platform.services" . | fromYamlArray) (list "edge" "postgres" "valkey" "tokens" "platform") }}
{{- if contains . $.Release.Name }}{{ $same = append $same . }}{{ end }}
{{- end }}
{{- if gt (len $same) 1 }}
the release name "{{ .Release.Name }}" would be the name of {{ join " and " $same }}: expected a name that contains one of these words at most
{{- end }}
{{- end }}

{{- define "platform.servicesErrors" -}}
{{- with .Subcharts.reports }}
{{- range $name, $address := .Values.upstreams }}
{{- $upstream := get $.Subcharts $name }}
{{- if and (not $address) (not $upstream) }}
{{ $name }}.enabled is false, but reports reads its figures from there: expected the address in reports.upstreams.{{ $name }}
{{- else if and (not $address) (ne (printf "http://%s" (include "common.name" $upstream)) (include "common.upstream" (list $.Subcharts.reports $name))) }}
the name of {{ $name }} is changed, so that reports would not find it: expected the address in reports.upstreams.{{ $name }}
{{- else if and (not $address) (ne (int $upstream.Values.service.port) 80) }}
{{ $name }}.service.port is {{ $upstream.Values.service.port }}, but reports calls port 80: expected the address in reports.upstreams.{{ $name }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "platform.edgeErrors" -}}
{{- with .Values.edge }}
{{- if .enabled }}
{{- range $name := include "platform.services" $ | fromYamlArray }}
{{- $limit := include "common.bodyLimit" (get $.Subcharts $name) | int64 }}
{{- if gt $limit (include "platform.edgeBodyBytes" $ | int64) }}
{{ $name }}.config.BODY_LIMIT is {{ $limit }}, but the edge accepts bodies of {{ include "platform.edgeBodySize" $ }}: expected edge.maxBodySize {{ divf $limit 1048576 | ceil | int64 }}m
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Services that keep their data in the bundled PostgreSQL. */}}
{{- define "platform.postgresUsers" -}}
{{- range $name := include "platform.services" $ | fromYamlArray }}
{{- $store := (get $.Subcharts $name).Values.store }}
{{- if and $store (eq (dig "type" "" ($store | default dict)) "postgres") (not $store.postgres.url) (eq (tpl $store.postgres.existingSecret.name $) (include "platform.postgresName" $)) }}
- {{ $name | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Services whose NetworkPolicy allows no database except the bundled PostgreSQL. */}}
{{- define "platform.restrictedToPostgres" -}}
{{- $labels := dict "app.kubernetes.io/name" "postgres" "app.kubernetes.io/instance" .Release.Name }}
{{- $bundled := list (dict "podSelector" (dict "matchLabels" $labels)) }}
{{- range $name := include "platform.services" $ | fromYamlArray }}
{{- $service := get $.Subcharts $name }}
{{- $policy := $service.Values.networkPolicy }}
{{- if and (eq (include "common.storeType" $service) "postgres") $policy.enabled (deepEqual (tpl (toYaml $policy.databaseTo) $service | fromYamlArray) $bundled) }}
- {{ $name | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Whether a service uses another database than the bundled PostgreSQL: (list $ "users"). */}}
{{- define "platform.hasOwnDatabase" -}}
{{- $root := index . 0 }}
{{- $database := (get $root.Subcharts (index . 1)).Values.store.postgres }}
{{- if $database.url }}
{{- if not (regexMatch (printf `^%s([.:]|$)` (include "platform.postgresName" $root)) (include "common.urlHost" $database.url)) }}yes{{ end }}
{{- else if not (has (tpl $database.existingSecret.name $root) (list (include "platform.postgresName" $root) (include "platform.postgresSecret" $root))) }}yes
{{- end }}
{{- end }}

{{- define "platform.postgresErrors" -}}
{{- with .Values.postgres }}
{{- if .enabled }}
{{- if and .storage.ephemeral .storage.existingClaim }}
postgres.storage.ephemeral and postgres.storage.existingClaim are both set: expected one of them
{{- end }}
{{- $users := include "platform.postgresUsers" $ | fromYamlArray }}
{{- $connections := 0 }}
{{- range $users }}
{{- $service := get $.Subcharts . }}
{{- $connections = add $connections (mul 2 (include "common.maxReplicas" $service | int) (int $service.Values.config.DATABASE_POOL_SIZE)) }}
{{- end }}
{{- $others := 0 }}
{{- range .clients }}{{ $others = add $others (int .connections) }}{{ end }}
{{- $allowed := get .settings "max_connections" | default 100 | int }}
{{- if gt (add $connections $others 3 | int) $allowed }}
postgres.settings.max_connections is {{ $allowed }}, but {{ join " and " $users }} may open {{ $connections }} connections during a rollout (twice the number of pods, config.DATABASE_POOL_SIZE each){{ if $others }}, and postgres.clients {{ $others }}{{ end }}: expected {{ add $connections $others 3 }} or more
{{- end }}
{{- range include "platform.restrictedToPostgres" $ | fromYamlArray }}
{{- if include "platform.hasOwnDatabase" (list $ .) }}
{{ . }}.store.postgres is your own database, but the NetworkPolicy of {{ . }} allows only the bundled PostgreSQL: expected your server in {{ . }}.networkPolicy.databaseTo, or [] for any
{{- end }}
{{- end }}
{{- else }}
{{- range include "platform.postgresUsers" $ | fromYamlArray }}
postgres.enabled is false, but {{ . }} keeps its data there: expected your own Secret in {{ . }}.store.postgres.existingSecret.name, or {{ . }}.store.type sqlite
{{- end }}
{{- range include "platform.restrictedToPostgres" $ | fromYamlArray }}
postgres.enabled is false, but the NetworkPolicy of {{ . }} allows no other database: expected your server in {{ . }}.networkPolicy.databaseTo, or [] for any
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Whether reports counts in the bundled Valkey. */}}
{{- define "platform.countsInValkey" -}}
{{- if include "platform.hasService" (list $ "reports") }}
{{- $limit := .Subcharts.reports.Values.rateLimit }}
{{- if and (eq $limit.store "redis") (not $limit.redis.url) (eq (tpl $limit.redis.existingSecret.name $) (include "platform.valkeyName" $)) }}yes{{ end }}
{{- end }}
{{- end }}

{{- define "platform.valkeyErrors" -}}
{{- if .Values.valkey.enabled }}
{{- $maximum := .Values.valkey.maxMemory | replace "mb" "Mi" | replace "gb" "Gi" }}
{{- with dig "limits" "memory" "" (.Values.valkey.resources | default dict) }}
{{- if ge (include "common.mebibytes" $maximum | int64) (include "common.mebibytes" . | int64) }}
valkey.maxMemory is {{ $.Values.valkey.maxMemory }}, but valkey.resources.limits.memory is {{ include "common.text" . }}, at which Kubernetes kills the server: expected a limit above valkey.maxMemory
{{- end }}
{{- end }}
{{- else }}
{{- if include "platform.countsInValkey" . }}
valkey.enabled is false, but reports counts requests there: expected your own Secret in reports.rateLimit.redis.existingSecret.name, or reports.rateLimit.store memory with one pod
{{- end }}
{{- if and .Values.reports.enabled (eq (dig "rateLimit" "store" "" .Values.reports) "redis") (contains "app.kubernetes.io/name: valkey" (toYaml (dig "networkPolicy" "redisTo" list .Values.reports))) }}
valkey.enabled is false, but the NetworkPolicy of reports allows no other server: expected your server in reports.networkPolicy.redisTo, or [] for any
{{- end }}
{{- end }}
{{- end }}

{{- /* Whether reports verifies tokens with the generated secret. */}}
{{- define "platform.usesGeneratedTokens" -}}
{{- if include "platform.hasService" (list $ "reports") }}
{{- $jwt := .Subcharts.reports.Values.jwt }}
{{- if and (not $jwt.jwksUrl) (not $jwt.secret) (eq (tpl $jwt.existingSecret.name $) (include "platform.tokensName" $)) }}yes{{ end }}
{{- end }}
{{- end }}

{{- define "platform.tokensErrors" -}}
{{- if and (not .Values.tokens.enabled) (include "platform.usesGeneratedTokens" .) }}
tokens.enabled is false, but reports verifies tokens with that secret: expected your own Secret in reports.jwt.existingSecret.name, or reports.jwt.jwksUrl
{{- end }}
{{- end }}
